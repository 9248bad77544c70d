// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// What was recorded, and what is missing: losses in red with their places, and all that the page
// itself merged or left out.
import { byId, make } from './element.js';
import { rangeText } from './axis.js';
import * as format from './format.js';
import { lossText } from './timeline.js';

const LOSSES_SHOWN = 200;

function fact(name, value, title) {
	return value ? [make('div', { title }, make('dt', {}, name), make('dd', {}, value))] : [];
}

const distinct = (values) => [...new Set(values.filter((v) => v))].join(', ');

function lossRows(model) {
	const { losses, head } = model.data;
	const shown = Math.min(losses.rows, LOSSES_SHOWN);
	const items = Array.from({ length: shown }, (_, i) => {
		const from = losses.begin[i], to = losses.end[i] + 1;
		return make('li', {}, make('button', { type: 'button', title: 'select this time',
			onclick: () => model.selection.set({ from, to: Math.min(to, head.bins) }) },
		rangeText(head, from, to)), ` ${lossText(model, i)}`);
	});
	if (losses.rows > shown)
		items.push(make('li', {}, `and ${format.count(losses.rows - shown)} more`));
	return items;
}

function lost(model) {
	const { head, losses } = model.data;
	const types = head.types.filter((t) => t.lost);
	let number = 0, skipped = 0, rows = 0;
	losses.count.forEach((n, i) => {
		if (model.isSkipped(i)) {
			skipped += n;
		} else {
			number += n;
			rows++;
		}
	});
	number = Math.max(number, head.lost_total);
	if (!number && !losses.rows)
		return make('span', {}, '0 lost');
	const words = number || !rows ? `${format.count(number)} lost` : 'events may be lost';
	return make('details', { class: number || rows ? 'popup lost' : 'popup' },
		make('summary', {}, skipped ? `${words}, ${format.plural(skipped, 'sample')} skipped` : words),
		make('div', { class: 'box' },
			make('ul', {}, ...types.map((t) =>
				make('li', {}, `${format.count(t.lost)} of ${t.name}`))),
			make('ul', {}, ...lossRows(model))));
}

const sentence = (s) => `${s[0].toUpperCase()}${s.slice(1)}${s.endsWith('.') ? '' : '.'}`;

function thinned({ thinned: sentences }) {
	sentences = sentences.filter((s) => s);
	return sentences.length ? [make('details', { class: 'popup' },
		make('summary', {}, `${format.plural(sentences.length, 'note')} on this page`),
		make('div', { class: 'box' }, make('ul', {}, ...sentences.map((s) => make('li', {}, sentence(s))))))]
		: [];
}

export function showHeader(model) {
	const { head } = model.data, { recordings } = head;
	const names = recordings.map((r) => format.fileName(r.file));
	const commands = distinct(recordings.map((r) => r.command));
	const first = recordings[0], begin = first && format.wallClock(first.begin, 0);
	byId('title').textContent = names.length > 3 ? format.plural(names.length, 'recording')
		: names.join(', ');
	byId('title').title = recordings.map((r) => r.file).join('\n');
	byId('facts').replaceChildren(
		...fact('recorded', begin),
		...fact('for', format.duration(recordings.length === 1 ? first.duration_ns
			: head.bins * head.bin_ns)),
		...fact('host', distinct(recordings.map((r) => r.host))),
		...fact('kernel', distinct(recordings.map((r) => r.kernel))),
		...fact('command', commands, commands),
		...fact('selected', head.selection),
		make('div', {}, make('dt', {}, 'events'),
			make('dd', {}, format.count(head.events_total), ', ', lost(model))),
		...thinned(head).map((e) => make('div', {}, make('dd', {}, e))));
}

// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// The slowest pairs of what is selected, and the stacks of the start and the end of one of them.
import { byId, make } from './element.js';
import { clockMicros } from './axis.js';
import * as format from './format.js';
import { KIND_NAMES } from './flame.js';
import { bucketOf } from './latency.js';
import { exactly } from './search.js';
import { Table } from './table.js';
import { framesOf } from './tree.js';

export class Slowest {
	constructor(model, latency) {
		this.model = model;
		this.latency = latency;
		this.table = new Table(byId('slowest'), {
			label: 'Slowest pairs', sort: 'Duration', columns: this.#columns(),
			choose: (row) => this.#choose(row),
			empty: () => 'None of the pairs that the page keeps is selected.',
		});
		model.listen((changed) => {
			if (['from', 'to', 'cpus', 'tasks', 'pair', 'low', 'high', 'search'].some((m) =>
				changed.has(m)))
				this.show();
		});
		this.show();
	}

	#columns() {
		const { model } = this, { slow, head } = model.data;
		return [
			{ name: 'Duration', number: true, value: (i) => slow.duration[i],
				text: (i) => format.duration(slow.duration[i]) },
			{ name: 'Start', number: true, value: (i) => slow.start[i],
				title: 'of the recording\u2019s clock, in seconds',
				text: (i) => clockMicros(head, slow.start[i]) },
			{ name: 'Task', value: (i) => model.taskName(slow.task[i]),
				text: (i) => model.taskName(slow.task[i]) },
			{ name: 'CPU', number: true, value: (i) => head.cpus[slow.cpu[i]],
				title: 'where it started', text: (i) => String(head.cpus[slow.cpu[i]]) },
			{ name: 'Group', value: (i) => model.string(slow.value[i]),
				text: (i) => model.string(slow.value[i]) },
		];
	}

	// Pairs belong to the time of their end, as in the heat map.
	#rows() {
		const { data: { slow, head }, selection, stackHits: hits } = this.model;
		const [from, to] = selection.range, rows = [];
		for (let i = 0; i < slow.rows; i++) {
			if (slow.pair[i] !== selection.pair)
				continue;
			const bin = Math.min(head.bins - 1,
				Math.floor((slow.start[i] + slow.duration[i]) / head.bin_ns));
			const bucket = bucketOf(slow.duration[i]);
			if (bin < from || bin >= to ||
				selection.low !== null && (bucket < selection.low || bucket > selection.high) ||
				selection.tasks && !selection.tasks.has(slow.task[i]) ||
				selection.cpus && !selection.cpus.has(slow.cpu[i]) ||
				hits && !hits[slow.start_stack[i]] && !hits[slow.end_stack[i]])
				continue;
			rows.push(i);
		}
		return rows;
	}

	show() {
		if (!this.model.data.head.pairs.length)
			return;
		const rows = this.#rows();
		if (!rows.includes(this.chosen))
			this.chosen = undefined;
		this.table.show(rows, this.chosen);
		const { selected } = this.latency;
		byId('slowest-count').textContent = rows.length === selected ? format.plural(selected, 'pair')
			: `${format.count(rows.length)} of ${format.plural(selected, 'pair')}: the page keeps ` +
				'the slowest';
		this.#showStacks();
	}

	#choose(row) {
		this.chosen = row;
		this.table.chosen = row;
		this.table.mark();
		this.#showStacks();
	}

	#showStacks() {
		const { slow } = this.model.data, row = this.chosen, box = byId('stacks');
		box.hidden = row === undefined;
		this.model.setMark(row === undefined ? null
			: { from: slow.start[row], to: slow.start[row] + slow.duration[row] });
		if (row === undefined)
			return;
		box.replaceChildren(
			this.#stack('Start', slow.start_stack[row]),
			this.#stack('End', slow.end_stack[row]));
	}

	#stack(title, stack) {
		const { model } = this;
		const lines = framesOf(model.data, stack).map((frame) => {
			const name = model.frameName(frame), kind = model.data.frames.kind[frame];
			return make('li', {}, make('i', { class: `kind kind${kind}`, title: KIND_NAMES[kind] }),
				make('button', { type: 'button', title: 'search for it', onclick: () =>
					model.selection.set({ search: exactly(name) }) }, name),
				model.frameText(frame).slice(name.length));
		});
		return make('div', { class: 'stack' }, make('h3', {}, title),
			lines.length ? make('ol', {}, ...lines) : make('p', {}, 'no stack'));
	}
}

// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// What is selected, and how it is shown: search, weight, event types, kinds of frames; and a button
// for each part of the selection that clears it.
import { byId, make } from './element.js';
import { rangeText } from './axis.js';
import * as format from './format.js';
import { KINDS } from './selection.js';
import { matcher } from './search.js';

const TYPES_WITHOUT_FILTER = 8;

export class Toolbar {
	constructor(model, latency) {
		this.model = model;
		this.latency = latency;
		this.#makeSearch();
		this.#makeWeights();
		this.#makeTypes();
		const { selection } = model;
		KINDS.forEach((kind, i) => byId(`kind-${kind}`).addEventListener('click', () =>
			selection.set({ kinds: selection.kinds ^ 1 << i })));
		byId('layout').addEventListener('click', () => selection.set({ flame: !selection.flame }));
		byId('invert').addEventListener('click', () =>
			selection.set({ inverted: !selection.inverted, zoom: 0, deep: 0 }));
		byId('reset').addEventListener('click', () => selection.reset());
		model.listen(() => this.show());
		this.show();
	}

	#makeSearch() {
		const { selection } = this.model, input = byId('search');
		input.addEventListener('input', () =>
			selection.set({ search: input.value }, { dragging: true }));
		input.addEventListener('change', () => selection.set({ search: input.value }));
		input.addEventListener('keydown', (e) => {
			if (e.key !== 'Escape' || !input.value)
				return;
			e.stopPropagation();
			e.preventDefault();
			selection.set({ search: '' });
		});
	}

	#makeWeights() {
		const { selection, data: { head } } = this.model, select = byId('weight');
		select.replaceChildren(...head.weights.map((w, i) => make('option', { value: i },
			this.model.weightName(w))));
		select.addEventListener('change', () => selection.set({ weight: +select.value }));
		byId('weight-label').hidden = head.weights.length < 2;
	}

	// ---- event types ----

	#makeTypes() {
		const { types } = this.model.data.head;
		const order = types.map((_, i) => i).sort((a, b) => types[b].events - types[a].events);
		this.types = order.map((i) => {
			const box = make('input', { type: 'checkbox', onchange: () => this.#chooseTypes() });
			const only = make('button', { type: 'button', title: `only ${types[i].name}`,
				onclick: () => this.model.selection.toggle('types', i, true) }, 'only');
			const line = make('li', {}, make('label', {}, box, make('span', {}, types[i].name)),
				make('span', { class: 'number' }, format.count(types[i].events)), only);
			return { i, box, line, name: types[i].name };
		});
		const filter = make('input', { type: 'search', placeholder: 'filter', 'aria-label':
			'filter the event types', oninput: () => {
			const found = matcher(filter.value);
			for (const t of this.types)
				t.line.hidden = found !== null && !found.test(t.name);
		} });
		byId('types-box').replaceChildren(
			...(types.length > TYPES_WITHOUT_FILTER ? [filter] : []),
			make('button', { type: 'button', onclick: () =>
				this.model.selection.set({ types: null }) }, 'all types'),
			make('ul', {}, ...this.types.map((t) => t.line)));
	}

	#chooseTypes() {
		const on = this.types.filter((t) => t.box.checked).map((t) => t.i);
		this.model.selection.set({ types: on.length === this.types.length || !on.length ? null
			: new Set(on) });
		this.show();
	}

	// ---- what is selected ----

	show() {
		const { selection, data: { head } } = this.model, { types } = selection;
		if (byId('search').value !== selection.search)
			byId('search').value = selection.search;
		const found = matcher(selection.search);
		byId('search').classList.toggle('plain', found !== null && !found.regex);
		byId('search').title = found !== null && !found.regex
			? 'This is no regular expression: it is searched for as text.' : '';
		byId('weight').value = String(selection.weight);
		byId('types-summary').textContent = !types ? `all ${format.plural(head.types.length, 'type')}`
			: types.size === 1 ? head.types[[...types][0]].name
				: `${types.size} of ${format.plural(head.types.length, 'type')}`;
		for (const t of this.types)
			t.box.checked = types === null || types.has(t.i);
		KINDS.forEach((kind, i) =>
			byId(`kind-${kind}`).setAttribute('aria-pressed', String(!!(selection.kinds >> i & 1))));
		byId('invert').setAttribute('aria-pressed', String(selection.inverted));
		byId('layout').textContent = selection.flame ? 'Icicle' : 'Flame graph';
		this.#showParts();
	}

	#showParts() {
		const { model } = this, { selection, data: { head } } = model;
		const some = (set, name, many) => set.size > 2 ? format.plural(set.size, many)
			: [...set].map(name).join(', ');
		const parts = [];
		if (!selection.all)
			parts.push([rangeText(head, selection.from, selection.to), { from: null, to: null }]);
		if (selection.cpus)
			parts.push([some(selection.cpus, (i) => model.cpuName(i), 'CPU'), { cpus: null }]);
		if (selection.tasks)
			parts.push([some(selection.tasks, (i) => model.taskName(i), 'task'), { tasks: null }]);
		if (selection.types)
			parts.push([byId('types-summary').textContent, { types: null }]);
		if (selection.low !== null)
			parts.push([this.latency.durations(), { low: null, high: null }]);
		if (selection.search)
			parts.push([`search ${selection.search}`, { search: '' }]);
		byId('parts').replaceChildren(...parts.map(([text, cleared]) => make('button', {
			type: 'button', class: 'part', title: `no longer select ${text}`,
			onclick: () => selection.set(cleared),
		}, text, make('span', { 'aria-hidden': 'true' }, ' \u00d7'))));
		if (!parts.length)
			byId('parts').textContent = 'everything';
		byId('reset').hidden = selection.address() === '';
	}
}

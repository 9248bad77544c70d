// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// The table of the functions of what is selected: how much each has itself and with its callees.
import { byId, make } from './element.js';
import * as format from './format.js';
import { KIND_NAMES } from './flame.js';
import { exactly } from './search.js';
import { Table } from './table.js';

export class Functions {
	constructor(model) {
		this.model = model;
		this.table = new Table(byId('functions'), {
			label: 'Functions', sort: 'Self', columns: this.#columns(),
			choose: (frame) => this.#choose(frame),
			empty: () => model.selection.search ? 'No function of what is selected matches the search.'
				: 'What is selected has no frames.',
		});
		model.listen(() => {
			if (model.functions !== this.functions || model.hits !== this.hits)
				this.show();
		});
		this.show();
	}

	#columns() {
		const { model } = this, whole = () => model.weights.total[0];
		const sums = (name, title) => {
			const of = (frame) => model.functions[name.toLowerCase()][frame];
			return [
				{ name, title, number: true, value: of,
					text: (f) => format.amount(of(f), model.weight.unit) },
				{ name: `${name} %`, title, number: true, value: of,
					text: (f) => format.percent(of(f), whole()) },
			];
		};
		return [
			...sums('Self', 'in the function itself'),
			...sums('Total', 'in the function and in what it calls'),
			{ name: 'Function', value: (f) => model.frameText(f), text: (f) => model.frameText(f),
				title: 'with its file',
				mark: (f) => make('i', { class: `kind kind${model.data.frames.kind[f]}`,
					title: KIND_NAMES[model.data.frames.kind[f]] }) },
		];
	}

	// Searches for the function, or for nothing if it is what was searched for.
	#choose(frame) {
		const { selection } = this.model, text = exactly(this.model.frameName(frame));
		selection.set({ search: selection.search === text ? '' : text });
	}

	show() {
		const { model } = this, { functions: { total }, hits } = model;
		const rows = [];
		Object.assign(this, { functions: model.functions, hits });
		for (let frame = 0; frame < total.length; frame++)
			if (total[frame] > 0 && (!hits || hits[frame]))
				rows.push(frame);
		this.table.show(rows);
		byId('functions-count').textContent = format.plural(rows.length, 'function');
	}
}

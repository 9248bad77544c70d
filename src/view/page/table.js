// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// A sortable table: columns are { name, title, value(row), text(row), number }, rows are numbers.
// It shows the first rows and has a button for more, so a new selection costs little.
import { make } from './element.js';
import * as format from './format.js';

const PAGE = 100;

export class Table {
	// choose(row) is called for a row that is clicked, or entered with the keyboard.
	constructor(element, { columns, sort, choose, empty, label }) {
		Object.assign(this, { element, columns, choose, empty, label });
		this.sort = columns.findIndex((c) => c.name === sort);
		this.down = true;
		this.shown = PAGE;
		this.head = make('tr', {}, ...columns.map((c, i) => this.#heading(c, i)));
		this.body = make('tbody');
		this.more = make('button', { type: 'button', class: 'more', onclick: () => {
			this.shown += 10 * PAGE;
			this.#fill();
		} });
		element.replaceChildren(make('table', { 'aria-label': label },
			make('thead', {}, this.head), this.body), this.more);
	}

	#heading(column, i) {
		column.th = make('th', { scope: 'col', class: column.number ? 'number' : 'text',
			'data-name': column.name },
			make('button', { type: 'button', title: column.title, onclick: () => {
				this.down = this.sort === i ? !this.down : !!column.number;
				this.sort = i;
				this.show(this.rows, this.chosen);
			} }, column.name));
		return column.th;
	}

	// chosen: the row that is marked, or undefined
	show(rows, chosen) {
		const { value } = this.columns[this.sort], sign = this.down ? -1 : 1;
		const keys = new Map(rows.map((row) => [row, value(row)]));
		const compare = (a, b) => a < b ? -1 : a > b ? 1 : 0;
		this.rows = [...rows].sort((a, b) => sign * compare(keys.get(a), keys.get(b)) || a - b);
		this.chosen = chosen;
		this.columns.forEach((c, i) => c.th.setAttribute('aria-sort',
			i !== this.sort ? 'none' : this.down ? 'descending' : 'ascending'));
		this.shown = PAGE;
		this.#fill();
	}

	// Marks the row that is chosen.
	mark() {
		[...this.body.children].forEach((line, i) => line.setAttribute('aria-selected',
			String(this.chosen !== undefined && this.rows[i] === this.chosen)));
	}

	#fill() {
		const rows = this.rows.slice(0, this.shown);
		const focused = this.body.contains(document.activeElement);
		this.body.replaceChildren(...rows.map((row) => this.#line(row)));
		if (rows.length)
			this.body.firstChild.tabIndex = 0;
		else
			this.body.append(make('tr', { class: 'empty' },
				make('td', { colspan: this.columns.length }, this.empty())));
		if (focused)
			this.body.firstChild.focus();
		const rest = this.rows.length - rows.length;
		this.more.hidden = rest <= 0;
		this.more.textContent = `Show more: ${format.count(rest)} left`;
	}

	#line(row) {
		const choose = () => this.choose(row);
		const line = make('tr', { tabindex: -1, 'aria-selected': String(row === this.chosen),
			onclick: choose }, ...this.columns.map((c) => {
			const text = c.text(row);
			return make('td', { class: c.number ? 'number' : 'text',
				title: c.number ? null : text }, ...[c.mark?.(row)].filter((m) => m), text);
		}));
		line.addEventListener('keydown', (e) => this.#key(e, line, choose));
		return line;
	}

	#key(e, line, choose) {
		if (e.key === 'Enter' || e.key === ' ')
			choose();
		else if (e.key === 'ArrowDown')
			this.#focus(line, line.nextElementSibling);
		else if (e.key === 'ArrowUp')
			this.#focus(line, line.previousElementSibling);
		else
			return;
		e.preventDefault();
	}

	// One row is in the tab order: arrows lead to the others.
	#focus(from, to) {
		if (!to)
			return;
		from.tabIndex = -1;
		to.tabIndex = 0;
		to.focus();
	}
}

// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// The timeline: all events as a histogram, with losses and the brush, and a strip for each CPU and
// task.  A drag anywhere on it selects a time; a name selects its CPU or task.
import { byId, context, make, onDrag, placeBox } from './element.js';
import { AXIS, TimeAxis, rangeText, timeText } from './axis.js';
import * as format from './format.js';
import { matcher } from './search.js';
import { colours, onTheme, shadeOf } from './theme.js';
import { hideTooltip, showTooltip } from './tooltip.js';

const BARS = 52; // pixels: the histogram
const LOSSES = 7; // pixels: the losses below it
const TOP = BARS + LOSSES + AXIS;
const ROW = 15;
// what is drawn depends on these; the brush does not
const SHOWN = ['cpus', 'tasks', 'types', 'weight', 'search', 'view0', 'view1'];

export class Timeline {
	constructor(model) {
		this.model = model;
		this.top = byId('timeline-top');
		this.rows = byId('timeline-rows');
		this.strips = byId('timeline-strips');
		this.list = byId('timeline-labels');
		this.filter = byId('timeline-filter');
		this.#makeRows();
		this.filter.addEventListener('input', () => {
			this.#filterRows();
			this.#markRows();
			this.draw();
		});
		for (const canvas of [this.top, this.strips])
			this.#listen(canvas);
		this.top.addEventListener('keydown', (e) => this.#keyOnTime(e));
		this.top.addEventListener('wheel', (e) => this.#wheel(e), { passive: false });
		this.strips.addEventListener('wheel', (e) => this.#wheel(e), { passive: false });
		this.list.addEventListener('keydown', (e) => this.#keyOnRows(e));
		this.rows.addEventListener('scroll', () => this.#drawStrips());
		new ResizeObserver(() => this.draw()).observe(byId('timeline'));
		onTheme(() => this.draw());
		model.listen((changed) => {
			if (SHOWN.some((m) => changed.has(m))) {
				this.#markRows();
				this.draw();
			} else if (changed.has('from') || changed.has('to')) {
				this.#showBrush();
			}
		});
		model.onMark(() => this.#showMark());
		this.#markRows();
		this.draw();
		const first = this.order.findIndex(({ set, i }) => model.selection[set]?.has(i));
		this.rows.scrollTop = first * ROW - this.rows.clientHeight / 2;
	}

	get axis() {
		return new TimeAxis(this.model);
	}

	// ---- rows: CPUs, then tasks, those with the most events first ----

	#makeRows() {
		const { head, tasks, cells, places } = this.model.data;
		const events = new Float64Array(tasks.rows);
		for (let i = 0; i < cells.rows; i++)
			events[cells.task[i]] += cells.n[i];
		const all = Array.from(events, (_, i) => i).filter((i) => places.of[i] >= 0).sort((a, b) =>
			this.model.isMerged(a) - this.model.isMerged(b) || events[b] - events[a] || a - b);
		this.every = [
			...head.cpus.map((_, i) => ({ set: 'cpus', i, base: i * head.bins,
				name: this.model.cpuName(i) })),
			...all.map((i) => ({ set: 'tasks', i, base: places.of[i] * head.bins,
				name: this.model.taskName(i) })),
		];
		this.every.forEach((row, at) => {
			row.label = make('div', { class: `row ${row.set}`, role: 'option', id: `row-${at}`,
				title: row.name, onclick: (e) => {
				this.cursor = this.order.indexOf(row);
				this.#choose(row, !(e.ctrlKey || e.metaKey || e.shiftKey));
			} }, row.name);
		});
		byId('timeline-count').textContent = `${format.plural(head.cpus.length, 'CPU')}, ` +
			format.plural(all.length, 'task');
		this.#filterRows();
	}

	// Only rows whose name has the text are shown; that selects nothing.
	#filterRows() {
		const found = matcher(this.filter.value);
		this.order = this.every.filter((row) => found === null || found.test(row.name));
		this.list.replaceChildren(...this.order.map((row) => row.label));
		this.list.style.height = `${this.order.length * ROW}px`;
		this.rows.style.height = `${Math.max(2, this.every.length) * ROW}px`;
		this.cursor = 0;
	}

	#choose(row, alone) {
		if (row)
			this.model.selection.toggle(row.set, row.i, alone);
	}

	#markRows() {
		const { selection } = this.model;
		this.order.forEach((row, at) => {
			const set = selection[row.set], on = set !== null && set.has(row.i);
			row.label.setAttribute('aria-selected', String(on));
			row.label.classList.toggle('off', set !== null && !on);
			row.label.classList.toggle('cursor', at === this.cursor);
		});
		this.list.setAttribute('aria-activedescendant', this.order[this.cursor]?.label.id ?? '');
	}

	#keyOnRows(e) {
		const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10,
			Home: -this.order.length, End: this.order.length }[e.key];
		if (step) {
			this.cursor = Math.max(Math.min(this.cursor + step, this.order.length - 1), 0);
			this.#markRows();
			this.order[this.cursor]?.label.scrollIntoView({ block: 'nearest' });
		} else if (e.key === 'Enter' || e.key === ' ') {
			this.#choose(this.order[this.cursor],
				!(e.key === ' ' || e.ctrlKey || e.metaKey || e.shiftKey));
		} else {
			return;
		}
		e.preventDefault();
		e.stopPropagation();
	}

	// ---- the brush ----

	#listen(canvas) {
		const brush = (a, b, dragging) => {
			const { axis } = this, [x0, x1] = [Math.min(a.x, b.x), Math.max(a.x, b.x)];
			this.model.selection.set({ from: axis.bin(x0), to: axis.bin(x1) + 1 }, { dragging });
		};
		onDrag(canvas, {
			moved: (first, now) => {
				hideTooltip();
				brush(first, now, true);
			},
			done: (first, now) => brush(first, now, false),
		});
		canvas.addEventListener('dblclick', () =>
			this.model.selection.set({ from: null, to: null }));
		canvas.addEventListener('pointermove', (e) => {
			if (!e.buttons)
				this.#explain(canvas, e);
		});
		canvas.addEventListener('pointerleave', hideTooltip);
	}

	// Arrows move the brush, with Shift its end; plus and minus change what is in view.
	#keyOnTime(e) {
		const { selection, data: { head } } = this.model, { axis } = this;
		const step = Math.max(1, Math.round((axis.to - axis.from) / 100));
		const by = { ArrowLeft: -step, ArrowRight: step, PageUp: -10 * step, PageDown: 10 * step }[e.key];
		if (by) {
			let [from, to] = selection.all
				? [axis.from, Math.min(axis.from + 10 * step, head.bins)]
				: [selection.from, selection.to];
			if (!selection.all && e.shiftKey)
				to = Math.min(Math.max(to + by, from + 1), head.bins);
			else if (!selection.all)
				[from, to] = moved(from, to, by, head.bins);
			selection.set({ from, to }, { stepping: true });
		} else if (e.key === 'Home' || e.key === 'End') {
			const wide = selection.all ? 10 * step : selection.to - selection.from;
			const [from, to] = moved(0, wide, e.key === 'End' ? head.bins : 0, head.bins);
			selection.set({ from, to }, { stepping: true });
		} else if (e.key === '+' || e.key === '=') {
			this.zoom(0.5);
		} else if (e.key === '-') {
			this.zoom(2);
		} else {
			return;
		}
		e.preventDefault();
		e.stopPropagation();
	}

	#wheel(e) {
		if (!e.ctrlKey && !e.metaKey)
			return;
		e.preventDefault();
		this.zoom(e.deltaY < 0 ? 0.8 : 1.25, e.offsetX);
	}

	// Makes the view wider or narrower around a place, or the middle of the brush.
	zoom(factor, x) {
		const { selection, data: { head } } = this.model, { axis } = this;
		const wide = Math.max(10, Math.round((axis.to - axis.from) * factor));
		if (wide >= head.bins) {
			selection.set({ view0: null, view1: null });
			return;
		}
		const middle = x !== undefined ? axis.bin(x)
			: selection.all ? (axis.from + axis.to) / 2 : (selection.from + selection.to) / 2;
		const share = x !== undefined ? x / axis.width : 0.5;
		const [view0, view1] = moved(0, wide, Math.round(middle - share * wide), head.bins);
		selection.set({ view0, view1 }, { stepping: true });
	}

	// What is selected fills the view; without a selection, everything does.
	zoomToBrush() {
		const { selection } = this.model;
		selection.set({ view0: selection.from, view1: selection.to });
	}

	// ---- drawing ----

	draw() {
		this.#drawTop();
		this.#drawStrips();
		this.#showBrush();
		this.#showMark();
	}

	// The pair that was chosen.
	#showMark() {
		const { axis, model: { mark } } = this;
		for (const canvas of [this.top, this.strips])
			placeBox(canvas, 'mark', mark && { x0: axis.scale(mark.from) - 2,
				x1: axis.scale(mark.to) + 2, y0: 0, y1: 10000 });
	}

	#showBrush() {
		const { axis, model: { selection, data: { head }, bins } } = this;
		for (const [canvas, height] of [[this.top, BARS + LOSSES], [this.strips, 10000]])
			placeBox(canvas, 'brush', selection.all ? null : { x0: axis.x(selection.from),
				x1: axis.x(selection.to), y0: -1, y1: height });
		const [from, to] = selection.range;
		let sum = 0;
		for (let i = from; i < to; i++)
			sum += bins.all[i];
		this.top.setAttribute('aria-valuetext', selection.all ? 'all of the recording is selected'
			: `${rangeText(head, from, to)}: ${this.model.weighed(sum)}`);
		this.top.setAttribute('aria-valuenow', String(from));
		this.top.setAttribute('aria-valuemax', String(head.bins));
	}

	// The highest bar of a pixel is drawn, so that no burst is hidden.
	#bars(c, axis, values, scale, colour) {
		const { edges } = axis;
		c.fillStyle = colour;
		for (let x = 0; x < axis.width; x++) {
			const most = strongest(values, edges[x], Math.max(edges[x] + 1, edges[x + 1]));
			if (most > 0) {
				const height = Math.max(1, most * scale);
				c.fillRect(x, BARS - height, 1, height);
			}
		}
	}

	#drawTop() {
		const { axis, model: { bins } } = this;
		const c = context(this.top, axis.width, TOP);
		const most = strongest(bins.all, axis.from, axis.to);
		const scale = most > 0 ? (BARS - 4) / most : 0;
		this.#bars(c, axis, bins.all, scale, bins.hits ? colours.dim : colours.accent);
		if (bins.hits)
			this.#bars(c, axis, bins.hits, scale, colours.hit);
		c.fillStyle = colours.line;
		c.fillRect(0, BARS, axis.width, 1);
		this.#drawLosses(c, axis);
		axis.draw(c, BARS + LOSSES);
	}

	#drawLosses(c, axis) {
		const { losses } = this.model.data;
		for (let i = 0; i < losses.rows; i++) {
			c.fillStyle = this.model.isSkipped(i) ? colours.dim : colours.lost;
			const x = axis.x(losses.begin[i]);
			c.fillRect(x, BARS + 2, Math.max(2, axis.x(losses.end[i] + 1) - x), LOSSES - 3);
		}
	}

	#drawStrips() {
		const { axis, model: { bins, data: { head, losses }, selection } } = this;
		const height = this.rows.clientHeight, top = this.rows.scrollTop;
		const c = context(this.strips, axis.width, height);
		const first = Math.floor(top / ROW);
		const last = Math.min(this.order.length, Math.ceil((top + height) / ROW));
		const most = this.#most();
		const heat = bins.hits ? colours.hits : colours.heat, { edges } = axis;
		for (let at = first; at < last; at++) {
			const { set, i, base } = this.order[at], y = at * ROW - top;
			c.fillStyle = colours.strip;
			c.fillRect(0, y + 1, axis.width, ROW - 2);
			c.globalAlpha = selection[set] === null || selection[set].has(i) ? 1 : 0.35;
			strip(c, edges, bins[set], base, most[set], heat, y + 1);
			c.globalAlpha = 1;
			if (set === 'cpus')
				lossesOf(c, axis, losses, i, y + 1);
			if (at && set === 'tasks' && this.order[at - 1].set === 'cpus') {
				c.fillStyle = colours.soft;
				c.fillRect(0, y, axis.width, 1);
			}
		}
	}

	// The strongest bins; those of merged tasks would make all others pale.
	#most() {
		const { model, model: { bins, data: { head } } } = this;
		let most = 0;
		for (const { set, i, base } of this.every)
			if (set === 'tasks' && !model.isMerged(i))
				most = Math.max(most, strongest(bins.tasks, base, base + head.bins));
		return { cpus: strongest(bins.cpus), tasks: most || strongest(bins.tasks) };
	}

	// ---- the tooltip ----

	#explain(canvas, e) {
		const { axis, model, model: { bins, data: { head, losses } } } = this;
		const bin = axis.bin(e.offsetX), to = Math.max(bin + 1, axis.bin(e.offsetX + 1));
		const row = canvas === this.strips
			? this.order[Math.floor((e.offsetY + this.rows.scrollTop) / ROW)] : null;
		if (canvas === this.strips && !row) {
			hideTooltip();
			return;
		}
		const values = row ? bins[row.set] : bins.all, base = row ? row.base : 0;
		let sum = 0;
		for (let i = bin; i < to; i++)
			sum += values[base + i];
		const lost = [];
		for (let i = 0; i < losses.rows; i++)
			if (losses.begin[i] < to && losses.end[i] >= bin)
				lost.push(lossText(model, i));
		const step = 10 ** Math.floor(Math.log10(Math.max(head.bin_ns, 1)));
		showTooltip(e, row ? row.name : format.seconds(bin * head.bin_ns, step), [
			row && format.seconds(bin * head.bin_ns, step),
			`${model.weighed(sum)} in ` +
				format.duration((to - bin) * head.bin_ns),
			...timeText(head, bin * head.bin_ns),
			...lost.slice(0, 4), lost.length > 4 && `and ${lost.length - 4} more losses`,
		]);
	}
}

// A range of that width, moved, and still inside.
function moved(from, to, by, bins) {
	const wide = Math.min(to - from, bins);
	const at = Math.min(Math.max(from + by, 0), bins - wide);
	return [at, at + wide];
}

function strongest(values, from = 0, to = values.length) {
	let most = 0;
	for (let i = from; i < to; i++)
		if (values[i] > most)
			most = values[i];
	return most;
}

// One row of colours: of each pixel the strongest bin; equal neighbours are one rectangle.
function strip(c, edges, values, base, most, heat, y) {
	const width = edges.length - 1;
	let begin = 0, colour = null;
	for (let x = 0; x <= width; x++) {
		let now = null;
		if (x < width && most > 0) {
			const from = base + edges[x], to = Math.max(from + 1, base + edges[x + 1]);
			now = shadeOf(heat, strongest(values, from, to) / most);
		}
		if (now === colour)
			continue;
		if (colour !== null) {
			c.fillStyle = colour;
			c.fillRect(begin, y, x - begin, ROW - 2);
		}
		begin = x;
		colour = now;
	}
}

function lossesOf(c, axis, losses, cpu, y) {
	c.fillStyle = colours.lost;
	for (let i = 0; i < losses.rows; i++) {
		if (losses.cpu[i] !== cpu + 1)
			continue;
		const x = axis.x(losses.begin[i]);
		c.fillRect(x, y + ROW - 5, Math.max(2, axis.x(losses.end[i] + 1) - x), 3);
	}
}

// One loss as a sentence.
export function lossText(model, i) {
	const { head, losses } = model.data, number = losses.count[i];
	const where = [losses.cpu[i] ? `on ${model.cpuName(losses.cpu[i] - 1)}` : '',
		losses.type[i] ? `of ${head.types[losses.type[i] - 1].name}` : ''].filter((w) => w);
	const [noun, verb] = model.isSkipped(i) ? ['sample', 'skipped'] : ['event', 'lost'];
	return `${number ? `${format.plural(number, noun)} ${verb}` : `${noun}s may be ${verb}`} ` +
		where.join(' ');
}

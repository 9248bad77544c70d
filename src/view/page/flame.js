// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// The flame graph of what is selected, or upside down the icicle: callers and callees as boxes as
// wide as their weight.  Only boxes that can be seen are looked at, so its time depends on the
// screen and not on the number of stacks.
import { byId, context, make } from './element.js';
import * as format from './format.js';
import { pathTo } from './graph.js';
import { colours, onTheme, shadeOfName } from './theme.js';
import { hideTooltip, showTooltip } from './tooltip.js';

const ROW = 18;
const LEAST = 0.5; // pixels: narrower boxes are not drawn
const FONT = '12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace';
export const KIND_NAMES = ['kernel', 'user', 'JIT', 'no frame'];
const JIT = 2;

export class Flame {
	constructor(model) {
		this.model = model;
		this.canvas = byId('flame-canvas');
		this.scroller = byId('flame-scroller');
		this.cursor = 0;
		this.#listen();
		new ResizeObserver(() => this.draw()).observe(this.scroller);
		onTheme(() => this.draw());
		model.listen((changed) => {
			if (['kinds', 'flame', 'inverted'].some((m) => changed.has(m)))
				this.scrolled = false;
			if (model.graph !== this.drawn)
				this.cursor = this.focus;
			this.draw();
		});
		this.draw();
	}

	// The node that fills the width.
	get focus() {
		return this.model.graph.find(this.model.selection);
	}

	zoom(node) {
		this.model.selection.set(this.model.graph.place(node));
	}

	// ---- layout ----

	#layout(width) {
		const { model: { graph, graph: { total } }, focus } = this;
		const boxes = [], callers = pathTo(graph, focus).slice(0, -1);
		if (focus)
			boxes.push({ node: 0, depth: 0, x: 0, w: width, caller: true });
		callers.forEach((node, i) =>
			boxes.push({ node, depth: i + 1, x: 0, w: width, caller: true }));
		const scale = total[focus] > 0 ? width / total[focus] : 0;
		const stack = [{ node: focus, depth: graph.depth[focus], x: 0, w: width }];
		while (stack.length) {
			const box = stack.pop();
			boxes.push(box);
			let x = box.x;
			const below = (scale ? graph.children(box.node, LEAST / scale) : []).map((node) => {
				const w = total[node] * scale;
				x += w;
				return { node, depth: box.depth + 1, x: x - w, w };
			});
			stack.push(...below.reverse()); // the heaviest comes next
		}
		return boxes;
	}

	// ---- drawing ----

	draw() {
		const { selection, graph, graph: { total } } = this.model;
		const width = this.scroller.clientWidth;
		if (!width)
			return;
		this.boxes = total[0] > 0 ? this.#layout(width) : [];
		const depth = this.boxes.reduce((most, box) => Math.max(most, box.depth), 0);
		const room = this.scroller.clientHeight;
		this.height = Math.max((depth + 1) * ROW + 1, room - 1);
		this.up = selection.flame;
		this.drawn = graph;
		const c = context(this.canvas, width, this.height);
		c.font = FONT;
		c.textBaseline = 'middle';
		this.char = c.measureText('0').width;
		this.pattern = hatch(c);
		for (const box of this.boxes)
			this.#drawBox(c, box);
		this.#drawCursor(c);
		if (!this.scrolled) {
			this.scroller.scrollTop = this.up ? this.height : 0;
			this.scrolled = true;
		}
		this.#describe();
	}

	y(depth) {
		return this.up ? this.height - (depth + 1) * ROW : depth * ROW + 1;
	}

	#drawBox(c, { node, depth, x, w, caller }) {
		const { graph, hits, data: { frames } } = this.model, frame = graph.frame[node];
		const y = this.y(depth), wide = w > 2 ? w - 0.75 : w * 0.75;
		const hit = hits && node && hits[frame];
		const kind = node ? frames.kind[frame] : 3;
		const dim = caller || hits && !hit;
		c.globalAlpha = dim ? 0.45 : 1;
		c.fillStyle = hit ? colours.hit : colours.kinds[kind][node ? this.#shade(frame) : 2];
		c.fillRect(x, y, wide, ROW - 1);
		if (kind === JIT && w > 3) {
			c.fillStyle = this.pattern;
			c.fillRect(x, y, wide, ROW - 1);
		}
		c.globalAlpha = 1;
		if (w < 3 * this.char + 6)
			return;
		c.fillStyle = dim ? colours.text : colours.box_text;
		c.fillText(this.#label(node, w), x + 3, y + ROW / 2, w - 5);
	}

	#shade(frame) {
		this.shades ??= new Int8Array(this.model.data.frames.rows).fill(-1);
		if (this.shades[frame] < 0)
			this.shades[frame] = shadeOfName(this.model.frameName(frame));
		return this.shades[frame];
	}

	#label(node, w) {
		const text = this.name(node), room = Math.floor((w - 6) / this.char);
		return text.length <= room ? text : `${text.slice(0, room - 1)}\u2026`;
	}

	name(node) {
		return node ? this.model.frameName(this.model.graph.frame[node]) : 'all';
	}

	#drawCursor(c) {
		const box = this.#boxOf(this.cursor);
		if (!box || document.activeElement !== this.canvas)
			return;
		c.strokeStyle = colours.text;
		c.lineWidth = 2;
		c.strokeRect(box.x + 1, this.y(box.depth) + 1, Math.max(box.w - 2, 2), ROW - 3);
	}

	// ---- words ----

	#lines(node) {
		const { model, focus } = this, { graph: { frame: frames, self, total }, data, weight } = model;
		const frame = frames[node], value = (v) => format.amount(v, weight.unit);
		return [
			node && [model.frameFile(frame), KIND_NAMES[data.frames.kind[frame]]]
				.filter((t) => t).join(', '),
			`total ${value(total[node])}, ${format.percent(total[node], total[0])} of all` +
				(focus ? `, ${format.percent(total[node], total[focus])} of ${this.name(focus)}`
					: ''),
			self && `self ${value(self[node])}, ${format.percent(self[node], total[0])}`,
		];
	}

	#describe() {
		const { model } = this, { weights: { total, self }, hits, graph, weight, stacks } = model;
		const value = (v) => format.amount(v, weight.unit);
		const words = [total[0] > 0 ? model.weighed(total[0]) : 'nothing is selected'];
		if (self[0] > 0)
			words.push(`${value(self[0])} without ${model.selection.kinds === 7 ? 'a stack'
				: 'such frames'}`);
		if (weight.unit)
			words.push(format.plural(stacks.events, 'event'));
		byId('flame-sum').textContent = words.join(', ');
		byId('search-matched').textContent = hits
			? `${format.percent(graph.matched(hits, this.focus), graph.total[this.focus])} matched` : '';
		byId('flame-out').hidden = !this.focus;
		this.canvas.setAttribute('aria-label', `${this.up ? 'Flame graph' : 'Icicle graph'}` +
			`${model.selection.inverted ? ' of callers' : ''}, ` +
			`${byId('flame-sum').textContent}. Arrows move between frames, Enter zooms in.`);
	}

	#say(node) {
		byId('flame-said').textContent = [this.name(node), ...this.#lines(node)]
			.filter((t) => t).join(', ');
	}

	// ---- mouse and keys ----

	#boxOf(node) {
		return this.boxes.find((box) => box.node === node);
	}

	#at(e) {
		return this.boxes.find((box) => {
			const y = this.y(box.depth);
			return e.offsetY >= y && e.offsetY < y + ROW &&
				e.offsetX >= box.x && e.offsetX < box.x + Math.max(box.w, 1);
		});
	}

	#listen() {
		this.canvas.addEventListener('click', (e) => {
			const box = this.#at(e);
			if (!box)
				return;
			this.cursor = box.node;
			this.zoom(box.node);
		});
		this.canvas.addEventListener('pointermove', (e) => {
			const box = this.#at(e);
			this.canvas.style.cursor = box ? 'pointer' : 'default';
			if (box)
				showTooltip(e, this.name(box.node), this.#lines(box.node));
			else
				hideTooltip();
		});
		this.canvas.addEventListener('pointerleave', hideTooltip);
		this.canvas.addEventListener('keydown', (e) => this.#key(e));
		for (const name of ['focus', 'blur'])
			this.canvas.addEventListener(name, () => this.draw());
		byId('flame-out').addEventListener('click', () => this.zoom(0));
	}

	#key(e) {
		const { parent } = this.model.graph;
		if (!this.#boxOf(this.cursor))
			this.cursor = this.focus;
		const down = this.up ? 'ArrowUp' : 'ArrowDown', up = this.up ? 'ArrowDown' : 'ArrowUp';
		let to = this.cursor;
		if (e.key === down)
			to = this.boxes.find((b) => parent[b.node] === this.cursor && b.node)?.node ?? to;
		else if (e.key === up)
			to = parent[this.cursor];
		else if (e.key === 'ArrowLeft' || e.key === 'ArrowRight')
			to = this.#neighbour(e.key === 'ArrowRight' ? 1 : -1);
		else if (e.key === 'Home')
			to = this.focus;
		else if (e.key === 'Enter')
			this.zoom(this.cursor);
		else if (e.key === 'Backspace')
			this.zoom(parent[this.focus]);
		else if (e.key === 'Escape' && this.focus)
			this.zoom(0);
		else
			return;
		e.preventDefault();
		e.stopPropagation();
		this.#move(to);
	}

	// The next box of the same row.
	#neighbour(by) {
		const here = this.#boxOf(this.cursor);
		const row = this.boxes.filter((b) => b.depth === here.depth).sort((a, b) => a.x - b.x);
		return (row[row.indexOf(here) + by] ?? here).node;
	}

	#move(to) {
		this.cursor = to;
		this.draw();
		const box = this.#boxOf(to);
		if (!box)
			return;
		const y = this.y(box.depth), { scrollTop, clientHeight } = this.scroller;
		if (y < scrollTop)
			this.scroller.scrollTop = y;
		else if (y + ROW > scrollTop + clientHeight)
			this.scroller.scrollTop = y + ROW - clientHeight;
		this.#say(to);
	}
}

// Generated code is hatched: it differs from user code without its colour, too.
function hatch(c) {
	const tile = make('canvas', { width: 6, height: 6 }), t = tile.getContext('2d');
	t.strokeStyle = 'rgb(0 0 0 / 28%)';
	t.lineWidth = 1;
	for (const at of [-6, 0, 6]) {
		t.beginPath();
		t.moveTo(at - 1, 7);
		t.lineTo(at + 7, -1);
		t.stroke();
	}
	return c.createPattern(tile, 'repeat');
}

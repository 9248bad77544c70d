// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// The latency of a pair of events: how many took how long, and when; below it the slowest, with the
// stacks of start and end.
import { scaleLog } from 'd3-scale';
import { byId, context, make, onDrag, placeBox } from './element.js';
import { AXIS, FONT, LABELS, TimeAxis, clockText, rangeText } from './axis.js';
import * as format from './format.js';
import { colours, onTheme, shadeOf } from './theme.js';
import { hideTooltip, showTooltip } from './tooltip.js';

const HEIGHT = 104; // of the map without its axis
const PER_OCTAVE = 4;

// The first ns of a bucket.
export const bucketStart = (bucket) => bucket ? 2 ** (bucket / PER_OCTAVE) : 0;
export const bucketOf = (ns) => ns > 0 ? Math.floor(PER_OCTAVE * Math.log2(ns)) : 0;

export class Latency {
	constructor(model) {
		this.model = model;
		this.canvas = byId('latency-canvas');
		this.select = byId('latency-pair');
		const { pairs } = model.data.head;
		byId('latency').hidden = pairs.length === 0;
		if (!pairs.length)
			return;
		this.select.replaceChildren(...pairs.map((p, i) => make('option', { value: i },
			`${p.name} (${format.count(p.count)})`)));
		this.select.addEventListener('change', () =>
			model.selection.set({ pair: +this.select.value, low: null, high: null }));
		this.#listen();
		new ResizeObserver(() => this.draw()).observe(byId('latency'));
		onTheme(() => this.draw());
		model.listen((changed) => {
			if (['pair', 'view0', 'view1'].some((m) => changed.has(m)))
				this.draw();
			else
				this.#showBrush();
		});
		model.onMark(() => this.#showMark());
		this.draw();
	}

	// The buckets in use, and the counts by bucket and bin.
	get counts() {
		const { data: { pair_cells: cells, head }, selection: { pair } } = this.model;
		if (this.kept?.pair === pair)
			return this.kept;
		let low = 255, high = 0;
		for (let i = 0; i < cells.rows; i++)
			if (cells.pair[i] === pair) {
				low = Math.min(low, cells.bucket[i]);
				high = Math.max(high, cells.bucket[i]);
			}
		if (low > high)
			[low, high] = [40, 80];
		[low, high] = [Math.max(0, low - 1), high + 2];
		const counts = new Float64Array((high - low) * head.bins);
		let most = 0;
		for (let i = 0; i < cells.rows; i++)
			if (cells.pair[i] === pair) {
				const at = (cells.bucket[i] - low) * head.bins + cells.bin[i];
				counts[at] += cells.n[i];
				most = Math.max(most, counts[at]);
			}
		return (this.kept = { pair, low, high, counts, most });
	}

	get axis() {
		return new TimeAxis(this.model);
	}

	y(bucket) {
		const { low, high } = this.counts;
		return HEIGHT - (bucket - low) / (high - low) * HEIGHT;
	}

	bucketAt(y) {
		const { low, high } = this.counts;
		const bucket = Math.floor(low + (HEIGHT - y) / HEIGHT * (high - low));
		return Math.min(Math.max(bucket, low), high - 1);
	}

	// ---- the brush: durations from top to bottom, times from left to right ----

	#listen() {
		const brush = (a, b, dragging) => {
			const { axis } = this, wide = Math.abs(a.x - b.x) > 5;
			const [x0, x1] = [Math.min(a.x, b.x) , Math.max(a.x, b.x)];
			this.model.selection.set({
				low: this.bucketAt(Math.max(a.y, b.y)), high: this.bucketAt(Math.min(a.y, b.y)),
				...(wide ? { from: axis.bin(x0), to: axis.bin(x1) + 1 } : {}),
			}, { dragging });
		};
		onDrag(this.canvas, {
			moved: (first, now) => {
				hideTooltip();
				brush(first, now, true);
			},
			done: (first, now) => brush(first, now, false),
		});
		this.canvas.addEventListener('dblclick', () =>
			this.model.selection.set({ low: null, high: null, from: null, to: null }));
		this.canvas.addEventListener('pointermove', (e) => {
			if (!e.buttons)
				this.#explain(e);
		});
		this.canvas.addEventListener('pointerleave', hideTooltip);
		this.canvas.addEventListener('keydown', (e) => this.#key(e));
	}

	// Up and down move the selected durations, with Shift their upper end.
	#key(e) {
		const { selection } = this.model, { low: least, high: most } = this.counts;
		const by = { ArrowUp: 1, ArrowDown: -1, PageUp: PER_OCTAVE, PageDown: -PER_OCTAVE }[e.key];
		const clear = e.key === 'Escape' && selection.low !== null;
		if (!by && !clear)
			return;
		e.preventDefault();
		e.stopPropagation();
		if (clear) {
			selection.set({ low: null, high: null });
			return;
		}
		let { low, high } = selection;
		const inside = (b) => Math.min(Math.max(b, least), most - 1);
		if (low === null)
			[low, high] = [inside(most - 1 - 2 * PER_OCTAVE), most - 1];
		else if (e.shiftKey)
			high = Math.max(low, inside(high + by));
		else
			[low, high] = [inside(low + by), Math.max(inside(low + by), inside(high + by))];
		selection.set({ low, high }, { stepping: true });
	}

	// ---- drawing ----

	draw() {
		const { axis, counts: { low, high, counts, most }, model: { data: { head }, selection } } = this;
		this.select.value = String(selection.pair);
		const { description, group } = head.pairs[selection.pair];
		byId('latency-description').textContent = [description, group && `by ${group}`]
			.filter((t) => t).join(', ');
		this.#drawScale(context(byId('latency-scale'), LABELS, HEIGHT + AXIS));
		const c = context(this.canvas, axis.width, HEIGHT + AXIS);
		c.fillStyle = colours.strip;
		c.fillRect(0, 0, axis.width, HEIGHT);
		const { edges } = axis, tall = HEIGHT / (high - low);
		for (let bucket = low; bucket < high; bucket++) {
			const base = (bucket - low) * head.bins, y = this.y(bucket + 1);
			for (let x = 0; x < axis.width; x++) {
				let n = 0;
				const to = Math.max(edges[x] + 1, edges[x + 1]);
				for (let i = edges[x]; i < to; i++)
					n = Math.max(n, counts[base + i]);
				if (n > 0) {
					c.fillStyle = shadeOf(colours.heat, Math.log1p(n) / Math.log1p(most));
					c.fillRect(x, y, 1, Math.max(tall - 0.5, 1));
				}
			}
		}
		axis.draw(c, HEIGHT);
		this.#showBrush();
		this.#showMark();
	}

	// The pair that was chosen is where it ended.
	#showMark() {
		const { axis, model: { mark } } = this, bucket = mark && bucketOf(mark.to - mark.from);
		placeBox(this.canvas, 'mark', mark && { x0: axis.scale(mark.to) - 5, x1: axis.scale(mark.to) + 5,
			y0: this.y(bucket + 1) - 3, y1: this.y(bucket) + 3 });
	}

	#drawScale(c) {
		const { low, high } = this.counts;
		const scale = scaleLog([Math.max(1, bucketStart(low)), bucketStart(high)], [HEIGHT, 0]);
		c.font = FONT;
		c.textAlign = 'right';
		c.textBaseline = 'middle';
		for (const ns of scale.ticks()) {
			if (!Number.isInteger(+Math.log10(ns).toFixed(9)))
				continue;
			c.fillStyle = colours.line;
			c.fillRect(LABELS - 4, scale(ns), 4, 1);
			c.fillStyle = colours.soft;
			c.fillText(format.duration(ns).replace(/\.0+ /, ' '), LABELS - 8,
				Math.min(Math.max(scale(ns), 6), HEIGHT - 6));
		}
	}

	#showBrush() {
		const { axis, counts: { low, high }, model: { selection } } = this;
		placeBox(this.canvas, 'brush', selection.all && selection.low === null ? null : {
			x0: selection.all ? 0 : axis.x(selection.from),
			x1: selection.all ? axis.width : axis.x(selection.to),
			y0: selection.low === null ? 0 : this.y(Math.min(selection.high + 1, high)),
			y1: selection.low === null ? HEIGHT : this.y(Math.max(selection.low, low)),
		});
		this.#describe();
	}

	// How many pairs the brush selects.
	get selected() {
		const { counts: { low, counts, high }, model: { data: { head }, selection } } = this;
		const [from, to] = selection.range;
		let sum = 0;
		for (let bucket = Math.max(low, selection.low ?? low);
			bucket <= Math.min(high - 1, selection.high ?? high); bucket++)
			for (let bin = from; bin < to; bin++)
				sum += counts[(bucket - low) * head.bins + bin];
		return sum;
	}

	#describe() {
		const { model: { selection, data: { head } } } = this;
		const words = [format.plural(this.selected, 'pair')];
		if (selection.low !== null)
			words.push(this.durations());
		if (selection.tasks || selection.cpus)
			words.push('of all CPUs and tasks');
		byId('latency-sum').textContent = words.join(', ');
		this.canvas.setAttribute('aria-label',
			`durations of ${head.pairs[selection.pair].name}: Up and Down select`);
		this.canvas.setAttribute('aria-valuetext', words.join(', '));
		this.canvas.setAttribute('aria-valuenow', String(selection.low ?? 0));
	}

	durations() {
		const { low, high } = this.model.selection;
		return `${format.duration(bucketStart(low))} to ${format.duration(bucketStart(high + 1))}`;
	}

	#explain(e) {
		const { axis, counts: { low, counts }, model: { data: { head } } } = this;
		const x = e.offsetX;
		if (e.offsetY >= HEIGHT) {
			hideTooltip();
			return;
		}
		const from = axis.bin(x), to = Math.max(from + 1, axis.bin(x + 1));
		const bucket = this.bucketAt(e.offsetY);
		let n = 0;
		for (let i = from; i < to; i++)
			n += counts[(bucket - low) * head.bins + i];
		showTooltip(e, `${format.duration(bucketStart(bucket))} to ` +
			format.duration(bucketStart(bucket + 1)), [format.plural(n, 'pair'),
			rangeText(head, from, to), `${clockText(head, from * head.bin_ns)} s`]);
	}
}

// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// The time axis that the timeline and the heat map share: which bins are in view, and where.
import { tickStep } from 'd3-array';
import { scaleLinear } from 'd3-scale';
import { byId } from './element.js';
import * as format from './format.js';
import { colours } from './theme.js';

export const LABELS = 168; // pixels: the names of rows, left of everything that has a time axis
export const AXIS = 20; // pixels: its height
export const FONT = '11px system-ui, sans-serif';

export class TimeAxis {
	constructor(model) {
		const { selection, data: { head } } = model;
		this.head = head;
		this.width = Math.max(byId('timeline-rows').clientWidth - LABELS, 50);
		this.from = selection.view0 ?? 0;
		this.to = selection.view1 ?? head.bins;
		this.scale = scaleLinear([this.from * head.bin_ns, this.to * head.bin_ns],
			[0, this.width]);
	}

	x(bin) {
		return this.scale(bin * this.head.bin_ns);
	}

	// The bin at a place, which may be outside of the view.
	bin(x) {
		const bin = Math.floor(this.scale.invert(x) / this.head.bin_ns);
		return Math.min(Math.max(bin, 0), this.head.bins - 1);
	}

	// Of each pixel its first bin, and one more; a pixel has at least one bin.
	get edges() {
		const edges = new Uint32Array(this.width + 1);
		for (let x = 0; x <= this.width; x++)
			edges[x] = Math.floor(this.from + x / this.width * (this.to - this.from));
		return edges;
	}

	get step() {
		const [from, to] = this.scale.domain();
		return tickStep(from, to, Math.max(2, this.width / 110));
	}

	draw(c, y) {
		c.font = FONT;
		c.fillStyle = colours.soft;
		c.textBaseline = 'middle';
		c.textAlign = 'center';
		const [, end] = this.scale.domain();
		for (const at of this.scale.ticks(Math.max(2, this.width / 110))) {
			const x = this.scale(at), text = format.seconds(at, this.step, end);
			const half = c.measureText(text).width / 2;
			c.fillRect(Math.round(x), y, 1, 4);
			c.fillText(text, Math.min(Math.max(x, half), this.width - half), y + 12);
		}
	}
}

// "1.20 s to 1.35 s (150 ms)"
export function rangeText(head, from, to) {
	const [a, b] = [from * head.bin_ns, to * head.bin_ns];
	const step = 10 ** Math.floor(Math.log10(Math.max(head.bin_ns, 1)));
	return `${format.seconds(a, step, b)} to ${format.seconds(b, step)} (${format.duration(b - a)})`;
}

// A time after the beginning as the recording's clock has it, in seconds.
export function clockText(head, ns) {
	const at = BigInt(head.begin_ns) + BigInt(Math.round(ns)), second = 1000000000n;
	return `${at / second}.${String(at % second).padStart(9, '0')}`;
}

// The same, rounded to microseconds.
export function clockMicros(head, ns) {
	const at = BigInt(head.begin_ns) + BigInt(Math.round(ns)) + 500n;
	return clockText({ begin_ns: at }, 0).slice(0, -3);
}

// Lines of a tooltip for a time.
export function timeText(head, ns) {
	return [`${clockMicros(head, ns)} s on the recording's clock`,
		format.wallClock(head.begin_wall, ns)];
}

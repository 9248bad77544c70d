// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// Numbers, times and names as text.
import { format as d3format } from 'd3-format';

const grouped = d3format(',d');
const UNITS = {
	ns: [[1e9, 's'], [1e6, 'ms'], [1e3, 'us'], [1, 'ns']],
	B: [[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB'], [1, 'B']],
};

// Three significant digits, as the commands print them: 5.16 ms.
function scaled(value, units) {
	const [scale, unit] = units.find(([s]) => Math.abs(value) >= s) ?? units.at(-1);
	const number = value / scale, size = Math.abs(number);
	const digits = scale === 1 || size >= 100 ? 0 : size >= 10 ? 1 : 2;
	return `${number.toFixed(digits)} ${unit}`;
}

export const count = (value) => Number.isInteger(value) ? grouped(value) : d3format(',.2f')(value);
const HOUR = 3600e9;

export function duration(ns) {
	if (ns < HOUR)
		return ns === 0 ? '0 ns' : scaled(ns, UNITS.ns);
	const minutes = Math.round(ns / 60e9), hours = Math.floor(minutes / 60);
	return hours < 48 ? `${hours} h ${minutes % 60} min`
		: `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

export function amount(value, unit) {
	if (UNITS[unit])
		return unit === 'ns' ? duration(value) : value === 0 ? `0 ${unit}` : scaled(value, UNITS[unit]);
	return unit ? `${count(value)} ${unit}` : count(value);
}

export function plural(value, one, many = `${one}s`) {
	return `${count(value)} ${value === 1 ? one : many}`;
}

export function percent(part, whole) {
	return whole > 0 ? `${(part / whole * 100).toFixed(2)}%` : '0.00%';
}

// A time since the beginning, as exact as a step of the axis needs it, in the unit of the largest.
export function seconds(ns, step, largest = ns) {
	const [scale, unit] = largest >= 1e9 ? [1e9, 's'] : largest >= 1e6 ? [1e6, 'ms'] : [1e3, 'us'];
	const digits = Math.max(0, Math.ceil(Math.log10(scale / step) - 1e-9));
	return `${(ns / scale).toFixed(Math.min(digits, 9))} ${unit}`;
}

// The seconds that `script` prints.
export const absolute = (ns) => (ns / 1e9).toFixed(6);

// The wall clock ns after it was `begin`, to the ms.
export function wallClock(begin, ns) {
	const at = Date.parse(begin);
	if (!Number.isFinite(at))
		return '';
	const date = new Date(at + ns / 1e6), two = (n) => String(n).padStart(2, '0');
	return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ` +
		`${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.` +
		String(date.getMilliseconds()).padStart(3, '0');
}

export const fileName = (path) => path.slice(path.lastIndexOf('/') + 1);

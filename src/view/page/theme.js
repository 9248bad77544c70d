// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// Light and dark, and the colours of canvases, which are those of the style sheet.  Paper is light,
// and canvases are drawn once more with its width.
import { lab } from 'd3-color';
import { piecewise, interpolateLab } from 'd3-interpolate';

const SHADES = 6;
const listeners = [];
const media = matchMedia('(prefers-color-scheme: dark)');
let chosen = null; // 'light', 'dark' or as the system has it
let printing = false;

export const colours = {};

function ramp(names, style, nr) {
	const between = piecewise(interpolateLab, names.map((n) => style.getPropertyValue(n).trim()));
	return Array.from({ length: nr }, (_, i) => between(i / (nr - 1)));
}

// Shades of a colour: neighbours of one kind differ, and black text is readable on all of them.
function shades(colour) {
	return Array.from({ length: SHADES }, (_, i) => {
		const c = lab(colour);
		c.l += (i - (SHADES - 1) / 2) * 1.6;
		c.b += (i % 3 - 1) * 4;
		return c.formatHex();
	});
}

function read() {
	const style = getComputedStyle(document.documentElement);
	const one = (name) => style.getPropertyValue(name).trim();
	for (const name of ['text', 'soft', 'line', 'panel', 'accent', 'hit', 'lost', 'dim', 'brush',
		'box-text', 'strip'])
		colours[name.replace('-', '_')] = one(`--${name}`);
	colours.kinds = ['kernel', 'user', 'jit', 'marker'].map((k) => shades(one(`--${k}`)));
	colours.heat = ramp(['--heat0', '--heat1', '--heat2', '--heat3'], style, 256);
	colours.hits = ramp(['--heat0', '--hit', '--hit2'], style, 256);
}

function apply() {
	const dark = !printing && (chosen ?? (media.matches ? 'dark' : 'light')) === 'dark';
	document.documentElement.dataset.theme = dark ? 'dark' : 'light';
	read();
	for (const f of listeners)
		f();
}

export function onTheme(f) {
	listeners.push(f);
}

export function toggleTheme() {
	chosen = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
	try {
		localStorage.setItem('stackonce.theme', chosen);
	} catch {
		// pages that may store nothing forget it
	}
	apply();
}

export function startTheme() {
	try {
		const stored = localStorage.getItem('stackonce.theme');
		chosen = stored === 'dark' || stored === 'light' ? stored : null;
	} catch {
		chosen = null;
	}
	media.addEventListener('change', apply);
	for (const name of ['beforeprint', 'afterprint'])
		window.addEventListener(name, () => {
			printing = name === 'beforeprint';
			document.body.classList.toggle('printing', printing);
			apply();
		});
	apply();
}

// A number from 0 to 1 as a colour of a ramp; anything above 0 differs from nothing.
export function shadeOf(heat, share) {
	return share > 0 ? heat[Math.min(255, 40 + Math.floor(Math.sqrt(share) * 215))] : null;
}

export const shadeOfName = (name) => {
	let hash = 0;
	for (let i = 0; i < name.length; i++)
		hash = Math.imul(hash, 31) + name.charCodeAt(i) | 0;
	return (hash >>> 8) % SHADES;
};

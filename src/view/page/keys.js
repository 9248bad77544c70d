// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// Keys that work everywhere, and the dialog that lists all keys.
import { byId, make } from './element.js';
import { KINDS } from './selection.js';
import { toggleTheme } from './theme.js';

const HELP = [
	['Everywhere', [
		['/ or Ctrl-F', 'search; the second Ctrl-F is the browser\u2019s'],
		['Escape', 'close what is open, clear the search, the selected time, the zoom'],
		['f, i', 'flame graph or icicle; inverted: from functions to their callers'],
		['k, u, j', 'show or hide kernel, user and JIT frames'],
		['z, Shift-Z', 'zoom in on the selected time; see all of it'],
		['r', 'select everything again'],
		['t', 'light or dark'],
		['?', 'this list'],
	]],
	['Timeline', [
		['drag', 'select a time'],
		['double click', 'select all of it'],
		['Left, Right', 'move the selected time; with Shift, its end'],
		['+, -, Ctrl-wheel', 'zoom'],
		['click on a name', 'only this CPU or task; with Ctrl or Shift, this one, too'],
		['Up, Down, Enter, Space', 'the same with the keyboard; Space adds'],
	]],
	['Flame graph', [
		['click, Enter', 'zoom in'],
		['arrows', 'to callers, callees and neighbours'],
		['Backspace', 'zoom out by one caller'],
		['Escape, Home', 'zoom out; to the widest frame'],
	]],
	['Table', [
		['Up, Down', 'to another row'],
		['click, Enter', 'search for the function; show the stacks of the pair'],
	]],
	['Latency', [
		['drag', 'select durations, and a time if it is wide'],
		['Up, Down', 'move the selected durations; with Shift, their upper end'],
	]],
];

export class Keys {
	constructor(model, timeline, views) {
		Object.assign(this, { model, timeline, views });
		byId('keys').replaceChildren(...HELP.map(([title, rows]) => make('section', {},
			make('h3', {}, title), make('dl', {}, ...rows.map(([keys, what]) =>
				make('div', {}, make('dt', {}, keys), make('dd', {}, what)))))));
		byId('help').addEventListener('click', () => byId('help-dialog').showModal());
		byId('theme').addEventListener('click', toggleTheme);
		byId('licences').textContent = byId('licence-texts').textContent.trim();
		for (const dialog of document.querySelectorAll('dialog'))
			dialog.querySelector('.close').addEventListener('click', () => dialog.close());
		document.addEventListener('keydown', (e) => this.#key(e));
		document.addEventListener('click', (e) => closeOthers(e.target));
	}

	#key(e) {
		if (e.defaultPrevented || document.querySelector('dialog[open]'))
			return;
		const search = byId('search');
		const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName);
		if (e.key === 'f' && (e.ctrlKey || e.metaKey) && document.activeElement !== search) {
			search.focus();
			search.select();
		} else if (e.key === 'Escape') {
			if (e.target.type === 'search' && e.target.value)
				return; // it clears the field
			this.#escape();
		} else if (typing && e.target.type !== 'checkbox' || e.ctrlKey || e.metaKey || e.altKey) {
			return;
		} else if (!this.#letter(e.key)) {
			return;
		}
		e.preventDefault();
	}

	// One thing at a time: what is open, the search, the brush, the zoom.
	#escape() {
		const { selection } = this.model, open = document.querySelector('details.popup[open]');
		if (open) {
			open.open = false;
			open.querySelector('summary').focus();
		} else if (selection.search) {
			selection.set({ search: '' });
		} else if (!selection.all || selection.low !== null) {
			selection.set({ from: null, to: null, low: null, high: null });
		} else {
			selection.set({ zoom: 0, deep: 0 });
		}
	}

	#letter(key) {
		const { selection } = this.model, kind = KINDS.findIndex((k) => k[0] === key);
		if (kind >= 0)
			selection.set({ kinds: selection.kinds ^ 1 << kind });
		else if (key === '/')
			byId('search').focus();
		else if (key === '?')
			byId('help-dialog').showModal();
		else if (key === 'f')
			selection.set({ flame: !selection.flame });
		else if (key === 'i')
			selection.set({ inverted: !selection.inverted, zoom: 0, deep: 0 });
		else if (key === 'z')
			this.timeline.zoomToBrush();
		else if (key === 'Z')
			selection.set({ view0: null, view1: null });
		else if (key === 'r')
			selection.reset();
		else if (key === 't')
			toggleTheme();
		else
			return false;
		return true;
	}
}

// A click elsewhere closes what pops up.
function closeOthers(target) {
	for (const open of document.querySelectorAll('details.popup[open]'))
		if (!open.contains(target))
			open.open = false;
}

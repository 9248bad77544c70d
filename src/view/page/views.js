// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// The tabs of the table: functions, or the slowest pairs.
import { byId } from './element.js';

const TABS = ['functions', 'slowest'];

export class Views {
	constructor(model) {
		byId('tab-slowest').hidden = !model.data.head.pairs.length;
		TABS.forEach((name, i) => {
			byId(`tab-${name}`).addEventListener('click', () => this.show(name));
			byId(`tab-${name}`).addEventListener('keydown', (e) => {
				const other = TABS[(i + 1) % TABS.length];
				if (!/^Arrow(Left|Right)$/.test(e.key) || byId(`tab-${other}`).hidden)
					return;
				e.preventDefault();
				this.show(other);
				byId(`tab-${other}`).focus();
			});
		});
		// who selects durations wants to see which pairs these are
		model.selection.listen((changed) => {
			if (changed.has('low') && model.selection.low !== null)
				this.show('slowest');
		});
		this.show(model.selection.low === null ? 'functions' : 'slowest');
	}

	show(shown) {
		for (const name of TABS) {
			byId(`tab-${name}`).setAttribute('aria-selected', String(name === shown));
			byId(`tab-${name}`).tabIndex = name === shown ? 0 : -1;
			byId(`panel-${name}`).hidden = name !== shown;
		}
	}
}

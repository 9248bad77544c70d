// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// The box beside the mouse: a title and lines.
import { byId, make } from './element.js';

const GAP = 14;

export function hideTooltip() {
	byId('tooltip').hidden = true;
}

export function showTooltip(event, title, lines) {
	const box = byId('tooltip');
	box.replaceChildren(make('strong', {}, title),
		...lines.filter((line) => line).map((line) => make('div', {}, line)));
	box.hidden = false;
	const { width, height } = box.getBoundingClientRect();
	const right = event.clientX + GAP + width < innerWidth;
	const below = event.clientY + GAP + height < innerHeight;
	box.style.left = `${Math.max(4, right ? event.clientX + GAP : event.clientX - GAP - width)}px`;
	box.style.top = `${Math.max(4, below ? event.clientY + GAP : event.clientY - GAP - height)}px`;
}

// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// Elements of the page.  Text from the data is only ever set as text.

export const byId = (id) => document.getElementById(id);

// make('td', { class: 'number', onclick: f }, text or elements...)
export function make(tag, attributes = {}, ...children) {
	const e = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes)) {
		if (name.startsWith('on'))
			e.addEventListener(name.slice(2), value);
		else if (value === true)
			e.setAttribute(name, '');
		else if (value !== false && value !== undefined && value !== null)
			e.setAttribute(name, value);
	}
	e.append(...children);
	return e;
}

// Gives a canvas the size of its box, sharp on any screen, and returns a context in CSS pixels.
export function context(canvas, width, height) {
	const ratio = Math.min(window.devicePixelRatio || 1, 3);
	const w = Math.round(width * ratio), h = Math.round(height * ratio);
	if (canvas.width !== w || canvas.height !== h) {
		canvas.width = w;
		canvas.height = h;
		canvas.style.width = `${width}px`;
		canvas.style.height = `${height}px`;
	}
	const c = canvas.getContext('2d');
	c.setTransform(ratio, 0, 0, ratio, 0, 0);
	c.clearRect(0, 0, width, height);
	return c;
}

// Calls f once in the next frame, however often it is asked to.
export function oncePerFrame(f) {
	let waiting = false;
	return () => {
		if (waiting)
			return;
		waiting = true;
		requestAnimationFrame(() => {
			waiting = false;
			f();
		});
	};
}

// Places a box above a plot, or hides it.  What is selected is the brush, whose shadow dims the rest;
// so a plot need not be drawn again when only the selection moves.
export function placeBox(canvas, name, box) {
	const element = canvas.parentElement.querySelector(`.${name}`), { style } = element;
	element.hidden = !box;
	if (box) {
		style.left = `${box.x0}px`;
		style.top = `${box.y0}px`;
		style.width = `${Math.max(box.x1 - box.x0, 1)}px`;
		style.height = `${Math.max(box.y1 - box.y0, 1)}px`;
	}
}

// A drag of the mouse or a finger on an element: moved and done get the first and the current place.
export function onDrag(element, { began, moved, done }) {
	element.addEventListener('pointerdown', (down) => {
		if (down.button !== 0)
			return;
		const box = element.getBoundingClientRect();
		const place = (e) => ({ x: e.clientX - box.left, y: e.clientY - box.top });
		const first = place(down);
		let dragged = false;
		began?.(first);
		element.setPointerCapture(down.pointerId);
		const move = (e) => {
			const now = place(e);
			dragged ||= Math.hypot(now.x - first.x, now.y - first.y) > 3;
			if (dragged)
				moved(first, now);
		};
		const up = (e) => {
			element.removeEventListener('pointermove', move);
			element.removeEventListener('pointerup', up);
			element.removeEventListener('pointercancel', up);
			if (dragged)
				done?.(first, place(e));
		};
		element.addEventListener('pointermove', move);
		element.addEventListener('pointerup', up);
		element.addEventListener('pointercancel', up);
	});
}

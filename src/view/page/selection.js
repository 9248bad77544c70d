// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// The one selection that all panels show and change, and the address that keeps it.
// Times are bins: from is the first one, to the one after the last.  null selects all.

export const KINDS = ['kernel', 'user', 'jit'];

const DEFAULTS = {
	from: null, to: null, cpus: null, tasks: null, types: null, weight: 0, search: '',
	kinds: 7, flame: false, inverted: false, zoom: 0, deep: 0, low: null, high: null,
	view0: null, view1: null,
};

// The kind of pairs of which there are most.
const busiest = (pairs) =>
	pairs.reduce((best, { count }, i) => count > pairs[best].count ? i : best, 0);

// The words of the address: write() returns null for what is as at the beginning.
function words(data) {
	const { head } = data;
	const names = (list) => ({
		write: (set) => set && [...set].map((i) => list[i]),
		read: (all) => {
			const set = new Set(all.map((name) => list.indexOf(name))
				.filter((i) => i >= 0));
			return set.size ? set : null;
		},
	});
	const numbers = (limit) => ({
		write: (set) => set && [...set].join(','),
		read: ([text]) => {
			const set = new Set(text.split(',').map(Number)
				.filter((i) => Number.isInteger(i) && i >= 0 && i < limit));
			return set.size ? set : null;
		},
	});
	const one = (list, start) => ({
		write: (i) => i === start ? null : list[i],
		read: ([name]) => list.includes(name) ? list.indexOf(name) : start,
	});
	return {
		cpus: ['cpu', numbers(head.cpus.length)],
		tasks: ['task', numbers(data.tasks.rows)],
		types: ['type', names(head.types.map((t) => t.name))],
		weight: ['weight', one(head.weights.map((w) => w.name), 0)],
		pair: ['pair', one(head.pairs.map((p) => p.name), busiest(head.pairs))],
		search: ['search', { write: (text) => text || null, read: ([text]) => text }],
		flame: ['flame', { write: (on) => on ? '1' : null, read: ([on]) => on === '1' }],
		inverted: ['inverted', {
			write: (on) => on ? '1' : null, read: ([on]) => on === '1',
		}],
		deep: ['deep', {
			write: (deep) => deep ? String(deep) : null,
			read: ([text]) => /^\d{1,3}$/.test(text) ? +text : 0,
		}],
		zoom: ['zoom', {
			write: (node) => node ? String(node) : null,
			read: ([text]) => {
				const node = Number(text);
				return Number.isInteger(node) && node > 0 && node <= data.nodes.rows ? node : 0;
			},
		}],
		kinds: ['show', {
			write: (bits) => bits === 7 ? null
				: KINDS.filter((k, i) => bits & 1 << i).join(',') || 'none',
			read: ([text]) => {
				const shown = text.split(',');
				return KINDS.reduce((bits, k, i) => bits | (shown.includes(k) ? 1 << i : 0), 0);
			},
		}],
	};
}

// A range of bins, as seconds since the beginning.
function writeRange(from, to, bin) {
	return from === null ? null : [from, to].map((b) => String(+(b * bin / 1e9).toFixed(9))).join('-');
}

function readRange(text, bin, bins) {
	const match = /^([\d.]+)-([\d.]+)$/.exec(text ?? '');
	if (!match)
		return [null, null];
	const from = Math.max(0, Math.round(match[1] * 1e9 / bin));
	const to = Math.min(bins, Math.round(match[2] * 1e9 / bin));
	return from < to ? [from, to] : [null, null];
}

export class Selection {
	#listeners = [];
	#steps = ''; // of what the last entry of the history was made

	constructor(data) {
		this.data = data;
		this.start = { ...DEFAULTS, pair: busiest(data.head.pairs) };
		this.words = words(data);
		this.readAddress();
		window.addEventListener('hashchange', () => {
			if (location.hash.slice(1) !== this.address())
				this.#apply(this.readAddress());
		});
	}

	// f gets the set of the members that changed.
	listen(f) {
		this.#listeners.push(f);
	}

	get all() {
		return this.from === null;
	}

	// The selected bins.
	get range() {
		return this.all ? [0, this.data.head.bins] : [this.from, this.to];
	}

	// Changes some members.  While something is dragged the address stays; the result has a place in
	// the history, so that the back button undoes it.  What a key or the wheel moves step by step has
	// one place until something else is done.
	set(members, { dragging = false, stepping = false } = {}) {
		const changed = new Set(Object.keys(members).filter((k) => this[k] !== members[k]));
		Object.assign(this, members);
		if (changed.size)
			this.#apply(changed);
		if (!dragging)
			this.#writeAddress(stepping ? Object.keys(members).join() : '');
	}

	reset() {
		this.set(this.start);
	}

	// Adds i to a set or removes it; alone makes it the only one, or selects all again.
	toggle(name, i, alone) {
		const old = this[name];
		if (alone) {
			this.set({ [name]: old?.size === 1 && old.has(i) ? null : new Set([i]) });
			return;
		}
		const set = new Set(old);
		if (!set.delete(i))
			set.add(i);
		this.set({ [name]: set.size ? set : null });
	}

	#apply(changed) {
		for (const f of this.#listeners)
			f(changed);
	}

	address() {
		const { bin_ns } = this.data.head, out = new URLSearchParams();
		const time = writeRange(this.from, this.to, bin_ns);
		if (time)
			out.set('time', time);
		const view = writeRange(this.view0, this.view1, bin_ns);
		if (view)
			out.set('view', view);
		if (this.low !== null)
			out.set('duration', `${this.low}-${this.high}`);
		for (const [member, [word, { write }]] of Object.entries(this.words)) {
			const value = write(this[member]);
			for (const text of value === null ? [] : [value].flat())
				out.append(word, text);
		}
		return out.toString();
	}

	#writeAddress(steps) {
		const text = this.address(), again = steps !== '' && steps === this.#steps;
		this.#steps = steps;
		if (text === location.hash.slice(1))
			return;
		try {
			if (again)
				history.replaceState(null, '', `#${text}`);
			else
				history.pushState(null, '', `#${text}`);
		} catch {
			// a frame without an address of its own
		}
	}

	// Returns the set of the members that changed.
	readAddress() {
		const { bin_ns, bins, pairs } = this.data.head, before = { ...this };
		const given = new URLSearchParams(location.hash.slice(1));
		Object.assign(this, this.start);
		[this.from, this.to] = readRange(given.get('time'), bin_ns, bins);
		[this.view0, this.view1] = readRange(given.get('view'), bin_ns, bins);
		const match = /^(\d+)-(\d+)$/.exec(given.get('duration') ?? '');
		if (pairs.length && match && +match[1] <= +match[2])
			[this.low, this.high] = [+match[1], +match[2]];
		for (const [member, [word, { read }]] of Object.entries(this.words))
			if (given.has(word))
				this[member] = read(given.getAll(word));
		return new Set(Object.keys(this.start).filter((k) => before[k] !== this[k]));
	}
}

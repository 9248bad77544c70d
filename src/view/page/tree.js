// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// The tree of callers without the kinds of frames that are hidden.  A node is a frame and its
// caller; node 0 is the root, which is no frame, and parents come before their children.

const SHOWN_ALWAYS = 3; // markers, such as how a stack ends

export class Tree {
	// kinds: a bit for each kind that is shown
	constructor(data, kinds) {
		const { nodes, frames } = data, size = nodes.rows;
		const shown = (frame) => kinds >> frames.kind[frame] & 1 || frames.kind[frame] === SHOWN_ALWAYS;
		const known = new Map();
		const parent = new Int32Array(size + 1), frame = new Int32Array(size + 1).fill(-1);
		this.data = data;
		this.of = new Uint32Array(size + 1); // of a stack: its node here
		this.first = new Uint32Array(size + 1); // of a node here: a stack that it stands for
		this.size = 1;
		for (let i = 0; i < size; i++) {
			const above = this.of[nodes.parent[i]], f = nodes.frame[i];
			if (!shown(f)) {
				this.of[i + 1] = above;
				continue;
			}
			const key = above * frames.rows + f;
			let node = known.get(key);
			if (node === undefined) {
				node = this.size++;
				known.set(key, node);
				parent[node] = above;
				frame[node] = f;
				this.first[node] = i + 1;
			}
			this.of[i + 1] = node;
		}
		this.parent = parent.subarray(0, this.size);
		this.frame = frame.subarray(0, this.size);
		this.#link();
		this.#findOutermost();
	}

	// children of a node: child[start[node]] to child[start[node + 1]]
	#link() {
		const { size, parent } = this, start = new Uint32Array(size + 1);
		for (let i = 1; i < size; i++)
			start[parent[i] + 1]++;
		for (let i = 0; i < size; i++)
			start[i + 1] += start[i];
		const next = start.slice(), child = new Uint32Array(Math.max(size - 1, 0));
		for (let i = 1; i < size; i++)
			child[next[parent[i]]++] = i;
		Object.assign(this, { start, child });
		this.depth = new Uint16Array(size);
		for (let i = 1; i < size; i++)
			this.depth[i] = this.depth[parent[i]] + 1;
	}

	// A function's total counts a stack once, however often the function is on it: only nodes
	// without the same frame above count.
	#findOutermost() {
		const { size, start, child, frame } = this;
		const on = new Uint16Array(this.data.frames.rows);
		const next = start.slice(), path = [0];
		this.outermost = new Uint8Array(size);
		while (path.length) {
			const node = path[path.length - 1];
			if (next[node] < start[node + 1]) {
				const below = child[next[node]++];
				this.outermost[below] = on[frame[below]]++ === 0 ? 1 : 0;
				path.push(below);
				continue;
			}
			path.pop();
			if (node)
				on[frame[node]]--;
		}
	}

	// Of the weights by stack: those of each node alone and with all below it.
	weigh(byStack) {
		const self = new Float64Array(this.size);
		for (let i = 0; i < byStack.length; i++)
			if (byStack[i])
				self[this.of[i]] += byStack[i];
		const total = self.slice();
		for (let i = this.size - 1; i > 0; i--)
			total[this.parent[i]] += total[i];
		return { self, total };
	}

	// The same by frame.
	byFrame({ self, total }) {
		const { rows } = this.data.frames;
		const out = { self: new Float64Array(rows), total: new Float64Array(rows) };
		for (let i = 1; i < this.size; i++) {
			out.self[this.frame[i]] += self[i];
			if (this.outermost[i])
				out.total[this.frame[i]] += total[i];
		}
		return out;
	}

	// The weight of all stacks with one of the frames, each stack once; below `top`.
	matched(hits, total, top = 0) {
		const state = new Uint8Array(this.size); // 1: below top, 2: and on a matching stack
		state[top] = top && hits[this.frame[top]] ? 2 : 1;
		let sum = state[top] === 2 ? total[top] : 0;
		for (let i = top + 1; i < this.size; i++) {
			const above = state[this.parent[i]];
			if (!above)
				continue;
			state[i] = above;
			if (above === 1 && hits[this.frame[i]]) {
				state[i] = 2;
				sum += total[i];
			}
		}
		return sum;
	}
}

// Which stacks have one of the frames.
export function stacksWith(data, hits) {
	const { nodes } = data, out = new Uint8Array(nodes.rows + 1);
	for (let i = 0; i < nodes.rows; i++)
		out[i + 1] = out[nodes.parent[i]] | hits[nodes.frame[i]];
	return out;
}

// The frames of a stack, the innermost first.
export function framesOf(data, stack) {
	const out = [];
	for (; stack; stack = data.nodes.parent[stack - 1])
		out.push(data.nodes.frame[stack - 1]);
	return out;
}

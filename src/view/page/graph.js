// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// What the flame graph draws: nodes below a root 0, either from callers to callees as the tree has
// them, or inverted, from the innermost functions to their callers.
//
// zoom and deep of the selection name a node independently of what else is shown: a stack, and, if
// inverted, how many of its innermost frames the node has.

export class Calls {
	constructor(tree, { self, total }) {
		Object.assign(this, { tree, self, total, frame: tree.frame, parent: tree.parent,
			depth: tree.depth });
	}

	// Those with at least that weight, the heaviest first.
	children(node, least) {
		const { tree: { start, child }, total } = this, out = [];
		for (let i = start[node]; i < start[node + 1]; i++)
			if (total[child[i]] >= least)
				out.push(child[i]);
		return out.sort((a, b) => total[b] - total[a] || a - b);
	}

	find({ zoom }) {
		return zoom ? this.tree.of[zoom] : 0;
	}

	place(node) {
		return { zoom: this.tree.first[node], deep: 0 };
	}

	matched(hits, node) {
		return this.tree.matched(hits, this.total, node);
	}
}

// Callers are looked up when a node is drawn: most are too narrow for that.
export class Callers {
	frame = [-1];
	parent = [0];
	depth = [0];
	total = [0];
	self = null;
	#below = [null]; // of a node: its children
	#stacks = []; // of a node: the nodes of the tree where its stacks end,
	#at = []; // and how far their frames are followed: nodes of the tree

	constructor(tree, { self, total }) {
		this.tree = tree;
		this.weights = self;
		this.total[0] = total[0];
		const stacks = [];
		for (let i = 1; i < tree.size; i++)
			if (self[i] > 0)
				stacks.push(i);
		this.#stacks.push(stacks);
		this.#at.push(null);
	}

	#expand(node) {
		const { tree, weights } = this, stacks = this.#stacks[node], at = this.#at[node];
		const byFrame = new Map(), below = [];
		for (let i = 0; i < stacks.length; i++) {
			const next = at ? tree.parent[at[i]] : stacks[i];
			if (!next)
				continue;
			const frame = tree.frame[next];
			let child = byFrame.get(frame);
			if (child === undefined) {
				child = this.frame.length;
				byFrame.set(frame, child);
				below.push(child);
				this.frame.push(frame);
				this.parent.push(node);
				this.depth.push(this.depth[node] + 1);
				this.total.push(0);
				this.#below.push(null);
				this.#stacks.push([]);
				this.#at.push([]);
			}
			this.total[child] += weights[stacks[i]];
			this.#stacks[child].push(stacks[i]);
			this.#at[child].push(next);
		}
		return below.sort((a, b) => this.total[b] - this.total[a] || a - b);
	}

	children(node, least) {
		this.#below[node] ??= this.#expand(node);
		return this.#below[node].filter((child) => this.total[child] >= least);
	}

	find({ zoom, deep }) {
		let at = zoom ? this.tree.of[zoom] : 0, node = 0;
		for (let i = 0; i < deep && at; i++, at = this.tree.parent[at]) {
			const frame = this.tree.frame[at];
			node = this.children(node, 0).find((child) => this.frame[child] === frame);
			if (node === undefined)
				return 0;
		}
		return node;
	}

	place(node) {
		return node ? { zoom: this.tree.first[this.#stacks[node][0]], deep: this.depth[node] }
			: { zoom: 0, deep: 0 };
	}

	// The weight of the node's stacks that have one of the frames anywhere.
	matched(hits, node) {
		const { tree } = this, has = new Uint8Array(tree.size);
		for (let i = 1; i < tree.size; i++)
			has[i] = has[tree.parent[i]] | hits[tree.frame[i]];
		return this.#stacks[node].reduce((sum, stack) =>
			sum + (has[stack] ? this.weights[stack] : 0), 0);
	}
}

// Nodes from the root, without it, to a node.
export function pathTo(graph, node) {
	const out = [];
	for (; node; node = graph.parent[node])
		out.unshift(node);
	return out;
}

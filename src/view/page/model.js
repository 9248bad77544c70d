// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// What the panels show, computed from the selection when it is first asked for and kept until what
// it depends on changes.
import * as format from './format.js';
import { oncePerFrame } from './element.js';
import { Callers, Calls } from './graph.js';
import { findFrames } from './search.js';
import { sumBins, sumStacks } from './sums.js';
import { Tree, stacksWith } from './tree.js';

const WHERE = ['cpus', 'tasks', 'types', 'weight'];
const DEPENDS = {
	tree: ['kinds'],
	hits: ['search'],
	stackHits: ['search'],
	bins: [...WHERE, 'search'],
	stacks: [...WHERE, 'from', 'to'],
	weights: [...WHERE, 'from', 'to', 'kinds'],
	functions: [...WHERE, 'from', 'to', 'kinds'],
	graph: [...WHERE, 'from', 'to', 'kinds', 'inverted'],
};

export class Model {
	#kept = {};
	#listeners = [];
	#changed = new Set();
	#markListeners = [];
	mark = null;

	constructor(data, selection) {
		this.data = data;
		this.selection = selection;
		const show = oncePerFrame(() => this.#show());
		selection.listen((changed) => {
			for (const [name, members] of Object.entries(DEPENDS))
				if (members.some((member) => changed.has(member)))
					delete this.#kept[name];
			for (const member of changed)
				this.#changed.add(member);
			show();
		});
	}

	#show() {
		const changed = this.#changed;
		this.#changed = new Set();
		for (const f of this.#listeners)
			f(changed);
	}

	// f gets the set of members of the selection that changed since it was called last, at most
	// once per frame.
	listen(f) {
		this.#listeners.push(f);
	}

	// A pair that panels show the place of: { from, to } in ns, or null.
	setMark(mark) {
		this.mark = mark;
		for (const f of this.#markListeners)
			f();
	}

	onMark(f) {
		this.#markListeners.push(f);
	}

	#keep(name, compute) {
		return name in this.#kept ? this.#kept[name] : (this.#kept[name] = compute());
	}

	get tree() {
		return this.#keep('tree', () => new Tree(this.data, this.selection.kinds));
	}

	// which frames the search finds, or null
	get hits() {
		return this.#keep('hits', () => findFrames(this.data, this.selection.search));
	}

	get stackHits() {
		return this.#keep('stackHits', () => this.hits && stacksWith(this.data, this.hits));
	}

	get bins() {
		return this.#keep('bins', () => sumBins(this.data, this.selection, this.stackHits));
	}

	get stacks() {
		return this.#keep('stacks', () => sumStacks(this.data, this.selection));
	}

	// of the nodes of the tree
	get weights() {
		return this.#keep('weights', () => this.tree.weigh(this.stacks.self));
	}

	// of the frames
	get functions() {
		return this.#keep('functions', () => this.tree.byFrame(this.weights));
	}

	// of calls, as the flame graph shows it
	get graph() {
		return this.#keep('graph', () =>
			new (this.selection.inverted ? Callers : Calls)(this.tree, this.weights));
	}

	get weight() {
		return this.data.head.weights[this.selection.weight];
	}

	weightName({ name, pair }) {
		return pair === undefined ? name : `${name} latency`;
	}

	// A sum of the weight, with what it is.
	weighed(sum) {
		const { unit } = this.weight;
		return unit ? `${format.amount(sum, unit)} of ${this.weightName(this.weight)}`
			: format.plural(sum, 'event');
	}

	// ---- names ----

	string(i) {
		return this.data.head.strings[i];
	}

	frameName(frame) {
		return this.string(this.data.frames.name[frame]);
	}

	frameFile(frame) {
		return this.string(this.data.frames.file[frame]);
	}

	// as the commands print it: function [file]
	frameText(frame) {
		const file = format.fileName(this.frameFile(frame));
		return file ? `${this.frameName(frame)} [${file}]` : this.frameName(frame);
	}

	// Whether a loss is of samples of the timer that were not taken: no event was lost.
	isSkipped(i) {
		return this.data.losses.skipped[i] === 1;
	}

	// The row of tasks that the page does not have one by one.
	isMerged(task) {
		const { tasks } = this.data;
		return !tasks.tid[task] && !tasks.pid[task] && this.string(tasks.comm[task]) === '(other tasks)';
	}

	taskName(task) {
		const { tasks, head } = this.data, comm = this.string(tasks.comm[task]);
		const host = head.hosts?.length > 1 && !this.isMerged(task)
			? `${head.hosts[tasks.host[task]]}: ` : '';
		return tasks.tid[task] || comm === '<idle>' ? `${host}${comm} ${tasks.tid[task]}`
			: `${host}${comm}`;
	}

	cpuName(cpu) {
		const { head } = this.data, host = head.cpu_hosts?.[cpu];
		return host === undefined || !(head.hosts?.length > 1) ? `CPU ${head.cpus[cpu]}`
			: `${head.hosts[host]}: CPU ${head.cpus[cpu]}`;
	}
}

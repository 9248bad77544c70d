// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// Sums over the cells that are selected.  Each is one pass over typed arrays, since every move of
// the mouse asks for new ones.

function mask(set, size) {
	const bytes = new Uint8Array(size);
	if (set)
		for (const i of set)
			bytes[i] = 1;
	else
		bytes.fill(1);
	return bytes;
}

// The first row whose bin is at least `bin`: cells are sorted by bin.
function firstRow(bins, bin) {
	let low = 0, high = bins.length;
	while (low < high) {
		const middle = (low + high) >>> 1;
		if (bins[middle] < bin)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

function masks(data, selection) {
	const { head, tasks } = data;
	return [mask(selection.cpus, head.cpus.length), mask(selection.tasks, tasks.rows),
		mask(selection.types, head.types.length)];
}

// The selected weight and number of events by stack, and their sums.
export function sumStacks(data, selection) {
	const { cells } = data, { bin, cpu, task, type, stack, n } = cells;
	const [cpus, tasks, types] = masks(data, selection);
	const weigh = data.weights[selection.weight];
	const self = new Float64Array(data.nodes.rows + 1);
	const [from, to] = selection.range;
	const end = firstRow(bin, to);
	let total = 0, events = 0;
	for (let i = firstRow(bin, from); i < end; i++) {
		if (!(cpus[cpu[i]] & tasks[task[i]] & types[type[i]]))
			continue;
		self[stack[i]] += weigh[i];
		total += weigh[i];
		events += n[i];
	}
	return { self, total, events };
}

// The selected weight by bin: of all, by CPU and by task; and of stacks in `hits`, if it is given.
// What a CPU or task has does not depend on the selected CPUs or tasks of its own kind, so that
// others can be chosen.  Times are not selected here.
export function sumBins(data, selection, hits) {
	const { head, cells } = data, { bin, cpu, task, type, stack } = cells;
	const [cpus, tasks, types] = masks(data, selection);
	const weigh = data.weights[selection.weight], bins = head.bins, { of } = data.places;
	const out = {
		all: new Float64Array(bins), hits: hits ? new Float64Array(bins) : null,
		cpus: new Float32Array(bins * head.cpus.length),
		tasks: new Float32Array(bins * data.places.number), // by place
	};
	for (let i = 0; i < bin.length; i++) {
		const c = cpu[i], t = task[i], w = weigh[i];
		if (!types[type[i]])
			continue;
		if (cpus[c] & tasks[t])
			out.all[bin[i]] += w;
		if (hits) {
			if (!hits[stack[i]])
				continue;
			if (cpus[c] & tasks[t])
				out.hits[bin[i]] += w;
		}
		if (tasks[t])
			out.cpus[c * bins + bin[i]] += w;
		if (cpus[c])
			out.tasks[of[t] * bins + bin[i]] += w;
	}
	return out;
}

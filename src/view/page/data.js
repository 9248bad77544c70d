// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// The data of the page, decoded: HEAD as it is, tables as one typed array per column.  Their layout
// is described in src/view/data.h.

const VERSION = 1;
// Columns whose values may exceed 32 bits: sums, and times in ns.
const WIDE = /^(n|w\d+|count|start|duration)$/;

const TABLES = {
	tasks: ['tid', 'pid', 'comm', 'host'],
	frames: ['name', 'kind', 'file'],
	nodes: ['parent', 'frame'],
	cells: ['bin', 'cpu', 'task', 'type', 'stack', 'n'],
	losses: ['begin', 'end', 'cpu', 'type', 'count', 'skipped'],
	pair_cells: ['pair', 'bin', 'bucket', 'n'],
	slow: ['pair', 'start', 'duration', 'task', 'cpu', 'start_stack', 'end_stack', 'value'],
};

export function fromBase64(text) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const binary = atob(text), bytes = new Uint8Array(binary.length);
	for (let i = 0; i < bytes.length; i++)
		bytes[i] = binary.charCodeAt(i);
	return bytes;
}

async function inflate(bytes) {
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

// LEB128 of values below 2^53; zigzag differences if delta.
function column(bytes, from, to, rows, wide, delta) {
	const out = wide ? new Float64Array(rows) : new Uint32Array(rows);
	let at = from, last = 0;
	for (let row = 0; row < rows; row++) {
		let byte = bytes[at++], value = byte & 127, scale = 128;
		while (byte > 127) {
			byte = bytes[at++];
			value += (byte & 127) * scale;
			scale *= 128;
		}
		if (delta) {
			last += value % 2 ? -(value + 1) / 2 : value / 2;
			value = last;
		}
		out[row] = value;
	}
	if (at !== to)
		throw new Error('a column of the data is not as long as it should be');
	return out;
}

function tables(head, bytes, at) {
	const all = {};
	for (const [name, { rows, columns }] of Object.entries(head.tables)) {
		const table = all[name] = { rows };
		for (const c of columns) {
			const end = at + c.bytes;
			if (end > bytes.length)
				throw new Error('the data are cut off');
			table[c.name] = column(bytes, at, end, rows, WIDE.test(c.name),
				c.coding === 'delta');
			at = end;
		}
	}
	for (const [name, columns] of Object.entries(TABLES))
		for (const c of columns)
			if (!all[name]?.[c])
				throw new Error(`the data have no column '${c}' of '${name}'`);
	return all;
}

// Each value of a column is below a limit, so that nothing has to be checked when it is used.
function below(values, limit, what) {
	for (let i = 0; i < values.length; i++)
		if (!(values[i] < limit))
			throw new Error(`${what} of row ${i} of the data is out of range`);
}

function check({ head, tasks, frames, nodes, cells, losses, pair_cells, slow }) {
	const strings = head.strings.length, stacks = nodes.rows + 1;
	const cpus = head.cpus.length, types = head.types.length, pairs = head.pairs.length;
	below(tasks.comm, strings, 'comm');
	below(frames.name, strings, 'name');
	below(frames.file, strings, 'file');
	below(frames.kind, 4, 'kind');
	below(nodes.frame, frames.rows, 'frame');
	for (let i = 0; i < nodes.rows; i++)
		if (nodes.parent[i] > i)
			throw new Error(`node ${i} of the data comes before its parent`);
	below(cells.bin, head.bins, 'bin');
	below(cells.cpu, cpus, 'cpu');
	below(cells.task, tasks.rows, 'task');
	below(cells.type, types, 'type');
	below(cells.stack, stacks, 'stack');
	below(losses.cpu, cpus + 1, 'cpu');
	below(losses.type, types + 1, 'type');
	below(pair_cells.pair, pairs, 'pair');
	below(pair_cells.bin, head.bins, 'bin');
	below(pair_cells.bucket, 256, 'bucket');
	below(slow.pair, pairs, 'pair');
	below(slow.task, tasks.rows, 'task');
	below(slow.cpu, cpus, 'cpu');
	below(slow.start_stack, stacks, 'stack');
	below(slow.end_stack, stacks, 'stack');
	below(slow.value, strings, 'value');
	for (let i = 1; i < cells.rows; i++)
		if (cells.bin[i] < cells.bin[i - 1])
			throw new Error('the cells of the data are not in the order of their bins');
}

// The place of each task among those that have cells; -1: only slow pairs have the task.
function places({ tasks, cells }) {
	const of = new Int32Array(tasks.rows).fill(-1);
	let number = 0;
	for (let i = 0; i < cells.rows; i++)
		if (of[cells.task[i]] < 0)
			of[cells.task[i]] = number++;
	return { of, number };
}

// Names may hold characters that move or hide others: those are shown by their numbers.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;

function visible(key, value) {
	return typeof value !== 'string' ? value : value.replace(UNSEEN, (c) =>
		`\\u{${c.codePointAt(0).toString(16)}}`);
}

export async function decode(text) {
	const bytes = await inflate(fromBase64(text));
	if (bytes.length < 4)
		throw new Error('the data are cut off');
	const length = new DataView(bytes.buffer).getUint32(0, true);
	const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)),
		visible);
	if (head.version !== VERSION)
		throw new Error(`the data have version ${head.version}, and the page reads ${VERSION}`);
	const data = { head, ...tables(head, bytes, 4 + length) };
	check(data);
	data.weights = head.weights.map((w, i) => i ? data.cells[`w${i}`] : data.cells.n);
	if (data.weights.includes(undefined))
		throw new Error('the data have no column of a weight');
	data.places = places(data);
	return data;
}

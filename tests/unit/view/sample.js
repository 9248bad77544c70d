// SPDX-License-Identifier: GPL-2.0-only
// Pages of `stackonce view` with made data, for what no recording has: sizes at the limit, losses,
// names that try to be markup.
//	node sample.js PAGE OUTPUT [CELLS NODES]
// PAGE is the page as it was built.
'use strict';

const fs = require('fs');
const zlib = require('zlib');

const BINS = 1000, BIN_NS = 4e6;
const HOSTILE = '<script>document.title="owned"</script>"\'><img src=x onerror=alert(1)>\u202e';

function* leb128(value) {
	for (; value > 127; value = Math.floor(value / 128))
		yield value % 128 | 128;
	yield value;
}

// The bytes of a column; delta: its differences, zigzag.
function column(name, coding, values) {
	const bytes = [];
	let last = 0;
	for (const value of values) {
		const step = value - last;
		last = value;
		for (const byte of leb128(coding === 'uint' ? value : step < 0 ? -2 * step - 1 : 2 * step))
			bytes.push(byte);
	}
	return { head: { name, coding, bytes: bytes.length }, bytes: Buffer.from(bytes) };
}

// Numbers that look random and are always the same.
function generator() {
	let state = 12345;
	return (below) => {
		state = (Math.imul(state, 1103515245) + 12345) >>> 0;
		return Math.floor(state / 2 ** 32 * below);
	};
}

function makeFrames(nr, strings) {
	const rows = [];
	for (let i = 0; i < nr; i++) {
		const kind = i < nr / 2 ? 1 : i < nr * 0.9 ? 0 : 2;
		strings.push(i === nr - 1 ? HOSTILE : `${['kernel', 'user', 'jit'][kind]}_function_${i}`);
		rows.push([strings.length - 1, kind, kind === 0 ? 0 : 1]);
	}
	strings.push('stack ends: no table');
	rows.push([strings.length - 1, 3, 0]);
	return rows;
}

function makeNodes(nr, frames, random) {
	const rows = [], depth = [];
	for (let i = 0; i < nr; i++) {
		const parent = i < 8 ? 0 : random(8) ? Math.max(1, i - random(20)) : random(i) + 1;
		const deep = parent ? depth[parent - 1] + 1 : 0;
		depth.push(deep);
		rows.push(deep > 60 ? [0, random(frames)] : [parent, random(frames)]);
	}
	return rows;
}

function makeCells(nr, { cpus, tasks, types, nodes }, random) {
	const rows = [];
	for (let i = 0; i < nr; i++) {
		const n = 1 + random(5), task = Math.floor(tasks * (random(1000) / 1000) ** 3);
		rows.push([Math.floor(i * BINS / nr), random(cpus), task, random(types),
			random(40) ? random(nodes) + 1 : 0, n, n * random(1e6)]);
	}
	return rows;
}

function makePairs(random) {
	const cells = new Map(), slow = [];
	for (let i = 0; i < 20000; i++) {
		const duration = Math.floor(2 ** (10 + random(1000) / 90)) * (random(50) ? 1 : 400);
		const bucket = Math.floor(4 * Math.log2(duration)), bin = random(BINS);
		const key = bin * 1000 + bucket;
		cells.set(key, (cells.get(key) ?? 0) + 1);
		const end = (bin + 0.5) * BIN_NS;
		if (duration > 2e7)
			slow.push([0, Math.floor(end - duration), duration, random(20), random(4),
				1 + random(1000), 1 + random(1000), 1]);
	}
	const rows = [...cells].sort((a, b) => a[0] - b[0])
		.map(([key, n]) => [0, Math.floor(key / 1000), key % 1000, n]);
	return { cells: rows, slow };
}

function makeData(nrCells, nrNodes) {
	const random = generator(), strings = ['', '/usr/lib/libexample.so.1'];
	const cpus = 4, nrTasks = 120, types = 3;
	const frames = makeFrames(Math.min(5000, Math.ceil(nrNodes / 4)), strings);
	const nodes = makeNodes(nrNodes, frames.length, random);
	const tasks = Array.from({ length: nrTasks }, (_, i) => {
		strings.push(i === 1 ? HOSTILE : `task-${i}`);
		return [i ? 1000 + i : 0, 1000 + i, strings.length - 1, 0];
	});
	const cells = makeCells(nrCells, { cpus, tasks: nrTasks, types, nodes: nrNodes }, random);
	const pairs = makePairs(random);
	const tables = {
		tasks: [['tid', 'pid', 'comm', 'host'], tasks],
		frames: [['name', 'kind', 'file'], frames],
		nodes: [['parent', 'frame'], nodes],
		cells: [['bin', 'cpu', 'task', 'type', 'stack', 'n', 'w1'], cells],
		losses: [['begin', 'end', 'cpu', 'type', 'count', 'skipped'], [[300, 320, 2, 1, 1234, 0],
			[700, 702, 0, 0, 0, 0], [900, 910, 0, 4, 56, 1]]],
		pair_cells: [['pair', 'bin', 'bucket', 'n'], pairs.cells],
		slow: [['pair', 'start', 'duration', 'task', 'cpu', 'start_stack', 'end_stack', 'value'],
			pairs.slow],
	};
	const total = cells.reduce((sum, c) => sum + c[5], 0);
	return { tables, head: {
		version: 1, tool: 'stackonce 0', recordings: [{ file: `/tmp/${HOSTILE}.stk`, host: 'a-host',
			kernel: '6.12.0-sample', command: HOSTILE, begin: '2026-01-02T03:04:05Z',
			duration_ns: BINS * BIN_NS }],
		begin_ns: '1234567890123', begin_wall: '2026-01-02T03:04:05Z', bin_ns: BIN_NS, bins: BINS,
		events_total: total, lost_total: 1234, selection: null,
		thinned: ['Tasks beyond the 120 busiest are one row.'],
		weights: [{ name: 'events', unit: '' }, { name: 'sample time', unit: 'ns' }],
		cpus: [0, 1, 2, 3],
		types: [{ name: 'sched:sched_switch', events: total, lost: 1234 },
			{ name: 'sched:sched_wakeup', events: 0, lost: 0 }, { name: HOSTILE, events: 0, lost: 0 },
			{ name: 'sample:cpu-clock', events: 0, lost: 0 }],
		pairs: [{ name: 'sample', description: 'a pair', count: 20000, group: HOSTILE }],
		strings, command: 'stackonce export perfetto sample.stk',
		command_all: 'stackonce export perfetto --time 1,2 sample.stk',
	} };
}

const CELLS = 20000, NODES = 3000;

function write(template, output, nrCells, nrNodes) {
	const { head, tables } = makeData(nrCells, nrNodes), parts = [];
	head.tables = {};
	for (const [name, [columns, rows]] of Object.entries(tables)) {
		const all = columns.map((c, i) => column(c, /^(bin|begin|parent)$/.test(c) ? 'delta' : 'uint',
			rows.map((row) => Math.max(0, row[i]))));
		head.tables[name] = { rows: rows.length, columns: all.map((c) => c.head) };
		parts.push(...all.map((c) => c.bytes));
	}
	const json = Buffer.from(JSON.stringify(head)), size = Buffer.alloc(4);
	size.writeUInt32LE(json.length);
	const data = zlib.deflateSync(Buffer.concat([size, json, ...parts])).toString('base64');
	fs.writeFileSync(output, fs.readFileSync(template, 'utf8')
		.replace('@stackonce:title@', 'sample').replace('@stackonce:data@', () => data)
		.replace('@stackonce:perfetto@', ''));
}

module.exports = { HOSTILE, makeData: () => makeData(CELLS, NODES) };
if (require.main === module) {
	const [template, output, cells = CELLS, nodes = NODES] = process.argv.slice(2);
	write(template, output, +cells, +nodes);
}

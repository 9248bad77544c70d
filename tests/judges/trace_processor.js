// SPDX-License-Identifier: GPL-2.0-only
// trace_processor.js DIR TRACE [SQL...]: loads a trace into Perfetto's trace_processor, whose files
// are in DIR, and prints the rows of each query as JSON, one a line.  Without SQL, each line of
// standard input is a query.
//
// The engine is the one of Perfetto's UI: a web worker that speaks the protocol of
// protos/perfetto/trace_processor/trace_processor.proto (TraceProcessorRpcStream) on a port.
'use strict';

const fs = require('fs');
const path = require('path');
const vm = require('vm');

const APPEND = 1, FINALIZE = 2, QUERY = 3; // TraceProcessorRpc.request
const APPENDED = 201, RESULT = 203; // fields of the response

// ---- protobuf -------------------------------------------------------------------------------

function varint(number) {
	const bytes = [];
	for (let n = BigInt.asUintN(64, BigInt(number)); ; n >>= 7n) {
		if (n < 128n)
			return Buffer.from([...bytes, Number(n)]);
		bytes.push(Number(n & 127n) | 128);
	}
}

const number = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const bytes = (field, data) =>
	Buffer.concat([varint((field << 3) | 2), varint(data.length), data]);

function readVarint(data, at) {
	let value = 0n, shift = 0n;
	for (;;) {
		const byte = data[at.i++];
		value |= BigInt(byte & 127) << shift;
		if (byte < 128)
			return value;
		shift += 7n;
	}
}

// The fields of a message: [number, value], where value is a BigInt or a Buffer.
function* fields(data) {
	const at = { i: 0 };
	while (at.i < data.length) {
		const tag = Number(readVarint(data, at));
		const type = tag & 7;
		if (type === 0) {
			yield [tag >> 3, readVarint(data, at)];
			continue;
		}
		const len = type === 1 ? 8 : type === 5 ? 4 : Number(readVarint(data, at));
		yield [tag >> 3, data.subarray(at.i, at.i + len)];
		at.i += len;
	}
}

function* varints(data) {
	for (const at = { i: 0 }; at.i < data.length;)
		yield readVarint(data, at);
}

// ---- the engine -----------------------------------------------------------------------------

function replaced(text, from, to) {
	if (!text.includes(from))
		throw new Error(`the engine has no '${from}'`);
	return text.replace(from, to);
}

// Only the 32-bit engine is in DIR; its code is handed over instead of being fetched.  It is ready
// some time after it was started.
async function startEngine(dir, port) {
	let text = fs.readFileSync(path.join(dir, 'engine_bundle.node.js'), 'utf8');
	text = replaced(text, 'function hasMemory64Support() {', '$& return false;');
	text = replaced(text, 'locateFile: (s) => s,', '$& wasmBinary: self.wasm,');
	text = replaced(text, 'deferredRuntimeInitialized.resolve(),',
		'{ deferredRuntimeInitialized.resolve(); self.ready(); },');
	globalThis.WorkerGlobalScope = function () {};
	globalThis.self = {
		location: { href: 'file:///engine' },
		wasm: fs.readFileSync(path.join(dir, 'trace_processor.wasm')),
	};
	console.warn = () => {}; // its progress
	const ready = new Promise((resolve) => (self.ready = resolve));
	vm.runInThisContext(text);
	self.onmessage({ data: port });
	await ready;
	await new Promise(setImmediate); // it has asked for its buffer by then
}

class Engine {
	seq = 0;
	replies = [];
	port = { postMessage: (data) => this.replies.push(Buffer.from(data)) };

	static async start(dir) {
		const engine = new Engine();
		await startEngine(dir, engine.port);
		return engine;
	}

	// Replies are there when the call returns: the port is ours.
	request(type, ...args) {
		const message = [number(1, ++this.seq), number(2, type), ...args];
		this.replies = [];
		this.port.onmessage({ data: new Uint8Array(bytes(1, Buffer.concat(message))) });
		return this.replies.flatMap((data) => [...fields(data)].map(([, rpc]) => [...fields(rpc)]))
			.map((rpc) => {
				const error = rpc.find(([field]) => field === 5);
				if (error)
					throw new Error(String(error[1]));
				return rpc;
			});
	}

	append(data) {
		for (const rpc of this.request(APPEND, bytes(101, data)))
			for (const [field, result] of rpc)
				if (field === APPENDED)
					for (const [number, value] of fields(result))
						if (number === 2 && value.length)
							throw new Error(String(value));
	}

	*query(sql) {
		const names = [];
		for (const rpc of this.request(QUERY, bytes(103, bytes(1, Buffer.from(sql)))))
			for (const [field, result] of rpc)
				if (field === RESULT)
					yield* rows(result, names, sql);
	}
}

function* rows(result, names, sql) {
	for (const [field, value] of fields(result)) {
		if (field === 1)
			names.push(String(value));
		else if (field === 2 && value.length)
			throw new Error(`${sql}: ${value}`);
		else if (field === 3)
			yield* batch(value, names);
	}
}

// CellsBatch: the types of all cells, and the values of each type on their own.
function* batch(data, names) {
	const parts = { 1: [], 2: [], 3: [], 4: [], 5: [] };
	for (const [field, value] of fields(data))
		if (parts[field])
			parts[field].push(value);
	const all = (field) => Buffer.concat(parts[field]);
	const numbers = varints(all(2)), floats = all(3), blobs = parts[4].values();
	const strings = parts[5].length ? all(5).toString().split('\0').values() : null;
	let float = 0, row = {}, column = 0;
	const value = {
		1: () => null,
		2: () => BigInt.asIntN(64, numbers.next().value),
		3: () => floats.readDoubleLE(8 * float++),
		4: () => strings.next().value,
		5: () => blobs.next().value.toString('hex'),
	};
	for (const type of varints(all(1))) {
		row[names[column++]] = value[type]();
		if (column === names.length) {
			yield row;
			row = {};
			column = 0;
		}
	}
}

// Numbers of 64 bits stay exact.
function toJson(row) {
	const members = Object.entries(row).map(([name, value]) =>
		`${JSON.stringify(name)}:${typeof value === 'bigint' ? value : JSON.stringify(value)}`);
	return `{${members.join(',')}}`;
}

// ---- the run --------------------------------------------------------------------------------

async function main(dir, trace, queries) {
	const engine = await Engine.start(dir);
	for await (const data of fs.createReadStream(trace, { highWaterMark: 1 << 24 }))
		engine.append(data);
	engine.request(FINALIZE);
	if (!queries.length)
		queries = fs.readFileSync(0, 'utf8').split('\n').filter((line) => line);
	for (const sql of queries)
		for (const row of engine.query(sql))
			fs.writeSync(1, toJson(row) + '\n');
}

const [dir, trace, ...queries] = process.argv.slice(2);
main(dir, trace, queries).catch((error) => {
	console.error(`trace_processor: ${error.message}`);
	process.exit(1);
});

// SPDX-License-Identifier: GPL-2.0-only
// profiler_cli.js DIR PROFILE: loads a profile into the Firefox Profiler's command line, whose files
// are in DIR, and answers each line of standard input, a command in JSON such as
// {"command":"thread","subcommand":"functions","thread":"t-0"}, with a line of JSON: what the
// profiler answers, or {"error":TEXT}.
//
// The process that profiler-cli would leave behind answers on a socket, as
// profiler-cli/src/protocol.ts of the Firefox Profiler says.  Here it is a child, which ends with
// this one.
'use strict';

const { spawn } = require('child_process');
const fs = require('fs');
const net = require('net');
const os = require('os');
const path = require('path');
const readline = require('readline');

// The path of the socket is short: it has at most 107 bytes.
const sessions = fs.mkdtempSync(path.join(os.tmpdir(), 'pq.'));

const TIMEOUT = 120000; // ms, for a hang: the machine may be busy

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function start(dir, profile) {
	const child = spawn(process.execPath,
		[path.join(dir, 'dist', 'profiler-cli.js'), '--daemon', profile, '--session', 'a'],
		{ env: { ...process.env, PROFILER_CLI_SESSION_DIR: sessions }, stdio: 'ignore' });
	child.ended = new Promise((resolve) => child.on('exit', resolve));
	return child;
}

// What the process says of itself; undefined until the file is complete.
function description(file) {
	try {
		return JSON.parse(fs.readFileSync(file, 'utf8'));
	} catch {
		return undefined;
	}
}

// The socket, once the profile is loaded.
async function load(child) {
	const file = path.join(sessions, 'a.json');
	for (const end = Date.now() + TIMEOUT; Date.now() < end; await sleep(50)) {
		if (child.exitCode !== null || child.signalCode !== null)
			throw new Error(`the profile was not loaded: ${read('a.log')}`);
		const socket = description(file)?.socketPath;
		if (!socket)
			continue;
		const reply = await ask(socket, { type: 'status' });
		if (reply.type === 'ready')
			return socket;
		if (reply.type === 'error')
			throw new Error(reply.error);
	}
	throw new Error('the profile was not loaded in time');
}

function read(name) {
	try {
		return fs.readFileSync(path.join(sessions, name), 'utf8').trim();
	} catch {
		return 'without a message';
	}
}

function ask(socket, message) {
	return new Promise((resolve, reject) => {
		const chunks = [];
		net.connect(socket, function () {
			this.write(JSON.stringify(message) + '\n');
		}).on('data', function (data) {
			chunks.push(data);
			if (data.includes(10))
				this.end();
		}).on('error', reject).on('close', () => {
			try {
				resolve(JSON.parse(Buffer.concat(chunks).toString()));
			} catch (error) {
				reject(error);
			}
		});
	});
}

async function answer(socket, line) {
	const reply = await ask(socket, { type: 'command', command: JSON.parse(line) });
	return reply.type === 'success' ? reply.result : { error: reply.error ?? reply.type };
}

async function main(dir, profile) {
	const child = start(dir, path.resolve(profile));
	try {
		const socket = await load(child);
		for await (const line of readline.createInterface({ input: process.stdin }))
			fs.writeSync(1, JSON.stringify(await answer(socket, line)) + '\n');
	} finally {
		child.kill('SIGKILL');
		await child.ended;
		fs.rmSync(sessions, { recursive: true, force: true });
	}
}

const [dir, profile] = process.argv.slice(2);
main(dir, profile).catch((error) => {
	console.error(`profiler_cli: ${error.message}`);
	process.exit(1);
});

// SPDX-License-Identifier: GPL-2.0-only
// A headless Chromium for tests of pages, driven by the DevTools protocol over a pair of pipes: no
// port is opened, and the browser ends with its driver.  It has a fresh profile and reaches
// nothing but files and 127.0.0.1.
//
//	const { Browser } = require('./chromium.js');
//	const browser = await Browser.launch();
//	try {
//		const page = await browser.open('file:///tmp/page.html');
//		await page.waitFor('document.querySelector("table")');
//		const rows = await page.evaluate('document.querySelectorAll("tr").length');
//		await page.click('#next');
//		await page.press('ArrowDown');
//		await page.screenshot('/tmp/page.png');
//		if (page.errors.length)
//			throw new Error(page.errors.join('\n'));
//	} finally {
//		await browser.close();
//	}
//
// Tests are skipped if Browser.find() returns null.
'use strict';

const { spawn } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');

const TIMEOUT = 120000; // ms, for a hang: the machine may be busy
const FLAGS = ['--headless=new', '--remote-debugging-pipe', '--disable-gpu',
	'--disable-dev-shm-usage', '--no-first-run', '--no-default-browser-check',
	'--disable-background-networking', '--disable-component-update', '--disable-default-apps',
	'--disable-extensions', '--disable-sync', '--disable-breakpad', '--disable-crash-reporter',
	'--mute-audio', '--password-store=basic', '--allow-file-access-from-files',
	'--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'];
const MODIFIERS = { Alt: 1, Control: 2, Meta: 4, Shift: 8 };
// Keys that write no character, or another one than their name says: code, virtual key code, text.
const KEYS = {
	ArrowDown: ['ArrowDown', 40], ArrowLeft: ['ArrowLeft', 37], ArrowRight: ['ArrowRight', 39],
	ArrowUp: ['ArrowUp', 38], Backspace: ['Backspace', 8], Delete: ['Delete', 46],
	End: ['End', 35], Enter: ['Enter', 13, '\r'], Escape: ['Escape', 27], Home: ['Home', 36],
	PageDown: ['PageDown', 34], PageUp: ['PageUp', 33], Tab: ['Tab', 9],
	' ': ['Space', 32, ' '],
};

function within(promise, ms, what) {
	let timer;
	const late = new Promise((resolve, reject) => {
		timer = setTimeout(() => reject(new Error(`${what}: no answer in ${ms} ms`)), ms);
	});
	return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// The first value of an asynchronous function that is true.
async function until(f, ms, what) {
	for (const end = Date.now() + ms; ;) {
		const value = await f();
		if (value)
			return value;
		if (Date.now() > end)
			throw new Error(`${what} in ${ms} ms`);
		await new Promise((resolve) => setTimeout(resolve, 20));
	}
}

class Page {
	errors = []; // exceptions, console.error(), failed requests: text

	constructor(browser, session) {
		this.browser = browser;
		this.session = session;
	}

	send(method, params) {
		return this.browser.send(method, params, this.session);
	}

	// Navigates, and returns when the page is loaded.
	goto(url) {
		return this.load('Page.navigate', { url }, url);
	}

	// An expression that reloads the page may be gone before its value is sent.
	async reload() {
		await this.addressKnown();
		return this.load('Page.reload', {}, 'reload');
	}

	async back() {
		await this.addressKnown();
		return this.evaluate('history.back()');
	}

	// The browser keeps the history of the page, and hears of an address that a script has set
	// later than the script goes on.
	async addressKnown() {
		const address = await this.evaluate('location.href');
		await until(async () => {
			const { currentIndex, entries } = await this.send('Page.getNavigationHistory');
			return entries[currentIndex].url === address;
		}, TIMEOUT, `${address}: not known to the browser`);
	}

	async load(method, params, what) {
		const loaded = new Promise((resolve) => (this.loaded = resolve));
		const { errorText } = await this.send(method, params);
		if (errorText)
			throw new Error(`${what}: ${errorText}`);
		await within(loaded, TIMEOUT, what);
	}

	// The value of an expression, or of the promise that it is, as JSON has it.
	async evaluate(expression) {
		const { result, exceptionDetails: e } = await this.send('Runtime.evaluate',
			{ expression, awaitPromise: true, returnByValue: true, userGesture: true });
		if (e)
			throw new Error(`${expression}: ${e.exception?.description ?? e.text}`);
		return result.value;
	}

	// The first value of an expression that is true.
	waitFor(expression, ms = TIMEOUT) {
		return until(() => this.evaluate(expression), ms, `${expression}: not true`);
	}

	// type: 'mouseMoved', 'mousePressed', 'mouseReleased', 'mouseWheel'.
	mouse(type, x, y, more) {
		return this.send('Input.dispatchMouseEvent', { type, x, y, ...more });
	}

	// Clicks at the centre of the first element of a CSS selector, or at { x, y } of the page.
	async click(where, { clickCount = 1, modifiers = [] } = {}) {
		const { x, y } = typeof where === 'string' ? await this.centre(where) : where;
		const more = { button: 'left', clickCount, modifiers: bits(modifiers) };
		await this.mouse('mouseMoved', x, y);
		await this.mouse('mousePressed', x, y, more);
		await this.mouse('mouseReleased', x, y, more);
	}

	async centre(selector) {
		const at = await this.evaluate(`(() => {
			const e = document.querySelector(${JSON.stringify(selector)});
			if (!e)
				return null;
			e.scrollIntoView({ block: 'nearest', inline: 'nearest' });
			const r = e.getBoundingClientRect();
			return { x: r.x + r.width / 2, y: r.y + r.height / 2 };
		})()`);
		if (!at)
			throw new Error(`the page has no ${selector}`);
		return at;
	}

	// Presses a key, named as in KeyboardEvent.key, with some of MODIFIERS.
	async press(key, modifiers = []) {
		const [code, windowsVirtualKeyCode, special] = KEYS[key] ??
			[/[a-z]/i.test(key) ? `Key${key.toUpperCase()}` : '',
				key.toUpperCase().charCodeAt(0), key];
		const text = modifiers.some((name) => name !== 'Shift') ? undefined : special;
		const event = { key, code, windowsVirtualKeyCode, modifiers: bits(modifiers) };
		await this.send('Input.dispatchKeyEvent',
			{ type: text ? 'keyDown' : 'rawKeyDown', text, ...event });
		await this.send('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
	}

	// Writes text as an input method does, into the element that has the focus.
	type(text) {
		return this.send('Input.insertText', { text });
	}

	// Puts files into an <input type="file">.
	async setFiles(selector, files) {
		const { root } = await this.send('DOM.getDocument');
		const { nodeId } = await this.send('DOM.querySelector',
			{ nodeId: root.nodeId, selector });
		await this.send('DOM.setFileInputFiles', { nodeId, files });
	}

	// 'light' or 'dark', as the page's media queries see it.
	setColorScheme(value) {
		return this.send('Emulation.setEmulatedMedia',
			{ features: [{ name: 'prefers-color-scheme', value }] });
	}

	setSize(width, height) {
		return this.send('Emulation.setDeviceMetricsOverride',
			{ width, height, deviceScaleFactor: 1, mobile: false });
	}

	async screenshot(file) {
		const { data } = await this.send('Page.captureScreenshot', { format: 'png' });
		fs.writeFileSync(file, Buffer.from(data, 'base64'));
	}

	take(method, params) {
		if (method === 'Page.loadEventFired')
			this.loaded?.();
		else if (method === 'Runtime.exceptionThrown')
			this.errors.push(params.exceptionDetails.exception?.description ??
				params.exceptionDetails.text);
		else if (method === 'Runtime.consoleAPICalled' && /error|assert/.test(params.type))
			this.errors.push(params.args.map((a) => a.value ?? a.description)
				.join(' '));
		else if (method === 'Log.entryAdded' && params.entry.level === 'error')
			this.errors.push(`${params.entry.text} ${params.entry.url ?? ''}`.trim());
	}
}

const bits = (modifiers) => modifiers.reduce((sum, name) => sum | MODIFIERS[name], 0);

class Browser {
	calls = new Map(); // by id: of those that wait for a reply
	pages = new Map(); // by session
	last = 0;
	rest = '';

	// The program, or null if there is none.
	static find() {
		const names = ['chromium', 'chromium-browser', 'google-chrome'];
		const dirs = (process.env.PATH ?? '').split(':');
		return names.flatMap((name) => dirs.map((dir) => path.join(dir, name)))
			.find((file) => fs.existsSync(file)) ?? null;
	}

	static async launch() {
		const program = Browser.find();
		if (!program)
			throw new Error('there is no chromium');
		const browser = new Browser();
		browser.start(program);
		try {
			await browser.send('Browser.getVersion');
		} catch (error) {
			await browser.close();
			throw error;
		}
		return browser;
	}

	// All it writes goes to a directory of its own.  Chromium's sandbox refuses to run as root.
	start(program) {
		const home = this.home = fs.mkdtempSync(path.join(os.tmpdir(), 'chromium.'));
		const flags = process.getuid() === 0 ? [...FLAGS, '--no-sandbox'] : FLAGS;
		const own = { HOME: home, XDG_CONFIG_HOME: home, XDG_CACHE_HOME: home };
		this.child = spawn(program, [...flags, `--user-data-dir=${home}/profile`], {
			env: { ...process.env, ...own },
			detached: true,
			stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
		});
		this.ended = new Promise((resolve) => {
			this.child.on('exit', (code, signal) => this.fail(resolve, code ?? signal));
			this.child.on('error', (error) => this.fail(resolve, error.message));
		});
		this.child.stdio[3].on('error', () => {}); // the end is reported by exit
		this.child.stdio[4].setEncoding('utf8').on('data', (text) => this.read(text));
	}

	fail(resolve, why) {
		for (const { reject } of this.calls.values())
			reject(new Error(`chromium ended: ${why}`));
		this.calls.clear();
		this.gone = true;
		resolve();
	}

	// Messages end with a NUL.
	read(text) {
		const messages = (this.rest + text).split('\0');
		this.rest = messages.pop();
		for (const message of messages)
			this.take(JSON.parse(message));
	}

	take({ id, result, error, method, params, sessionId }) {
		if (id === undefined) {
			this.pages.get(sessionId)?.take(method, params);
			return;
		}
		const call = this.calls.get(id);
		this.calls.delete(id);
		if (error)
			call?.reject(new Error(`${call.method}: ${error.message}`));
		else
			call?.resolve(result);
	}

	send(method, params = {}, sessionId = undefined) {
		if (this.gone)
			return Promise.reject(new Error(`${method}: chromium has ended`));
		const id = ++this.last;
		const reply = new Promise((resolve, reject) =>
			this.calls.set(id, { method, resolve, reject }));
		this.child.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + '\0');
		return within(reply, TIMEOUT, method);
	}

	// A page of its own, loaded.
	async open(url, { width = 1280, height = 800 } = {}) {
		const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' });
		const { sessionId } = await this.send('Target.attachToTarget',
			{ targetId, flatten: true });
		const page = new Page(this, sessionId);
		this.pages.set(sessionId, page);
		for (const domain of ['Page', 'Runtime', 'Log'])
			await page.send(`${domain}.enable`);
		await page.setSize(width, height);
		await page.goto(url);
		return page;
	}

	// Files that pages download go into dir.
	setDownloads(dir) {
		return this.send('Browser.setDownloadBehavior',
			{ behavior: 'allow', downloadPath: dir });
	}

	async close() {
		await this.send('Browser.close').catch(() => {});
		await within(this.ended, 10000, 'close').catch(() => {});
		try {
			process.kill(-this.child.pid, 'SIGKILL'); // what is left of its own group
		} catch {
			// nothing is left
		}
		fs.rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
	}
}

module.exports = { Browser };

// SPDX-License-Identifier: GPL-2.0-only
// node page.js DRIVER PAGE: what the pages in the current directory do in a browser.
'use strict';

const fs = require('fs');
const path = require('path');
const zlib = require('zlib');
const { Browser } = require(process.argv[2]);
const { HOSTILE, makeData } = require('./sample.js');

let nr = 0, failed = 0, incomplete = false;

function check(what, ok, got, want) {
	nr++;
	if (ok)
		return;
	failed++;
	console.log(`FAILED: ${what}${got === undefined ? '' : `: ${JSON.stringify(got)}`}` +
		(want === undefined ? '' : ` instead of ${JSON.stringify(want)}`));
}

const equal = (what, got, want) =>
	check(what, JSON.stringify(got) === JSON.stringify(want), got, want);
// Two frames: what was asked for in this one is drawn.
const drawn = (page) => page.evaluate(
	'new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(() => f(1))))');
const shown = (page, expression) => drawn(page).then(() => page.evaluate(expression));
const text = (page, selector) => shown(page, `document.querySelector('#${selector}').textContent`);
const hash = (page) => shown(page, 'decodeURIComponent(location.hash.slice(1))');
// The pixels of a canvas, as one text.
const pixels = (page, id) => shown(page, `document.getElementById('${id}').toDataURL()`);

async function open(browser, name, more = '') {
	const page = await browser.open(`file://${path.resolve(name)}${more}`);
	await page.waitFor('document.body?.dataset.ready || document.body?.matches(".failed")');
	await drawn(page);
	return page;
}

async function reload(page) {
	await page.reload();
	await page.waitFor('document.body?.dataset.ready');
	await drawn(page);
}

async function box(page, id) {
	return page.evaluate(`(() => {
		const r = document.getElementById('${id}').getBoundingClientRect();
		return { x: r.x, y: r.y, width: r.width, height: r.height };
	})()`);
}

// Drags from one place in an element to another, which are shares of its size.
async function drag(page, id, from, to) {
	const b = await box(page, id), at = ([x, y]) => [b.x + x * b.width, b.y + y * b.height];
	await page.mouse('mouseMoved', ...at(from));
	await page.mouse('mousePressed', ...at(from), { button: 'left', clickCount: 1 });
	for (const share of [0.3, 0.7, 1])
		await page.mouse('mouseMoved', ...at(from.map((v, i) => v + share * (to[i] - v))),
			{ button: 'left', buttons: 1 });
	await page.mouse('mouseReleased', ...at(to), { button: 'left', clickCount: 1 });
	await drawn(page);
}

async function search(page, words) {
	await page.click('#search');
	await page.evaluate('document.getElementById("search").select()');
	await page.type(words);
	await drawn(page);
}

// What the page should show of made data, computed from one cell at a time: the sum, and the functions
// with their sums alone and with callees, of cells that are selected; hidden kinds belong to callers.
function expected({ head, tables }, selected, kinds, pattern) {
	const [frames, nodes] = [tables.frames[1], tables.nodes[1]], functions = new Map();
	let sum = 0, matched = 0;
	for (const [bin, cpu, , type, stack, n] of tables.cells[1]) {
		if (!selected(bin, cpu, type))
			continue;
		const path = [];
		for (let s = stack; s; s = nodes[s - 1][0])
			if (kinds.includes(frames[nodes[s - 1][1]][1]))
				path.push(head.strings[frames[nodes[s - 1][1]][0]]);
		sum += n;
		matched += path.some((name) => pattern.test(name)) ? n : 0;
		for (const name of new Set(path)) {
			const f = functions.get(name) ?? { self: 0, total: 0 };
			functions.set(name, { self: f.self + (path[0] === name ? n : 0), total: f.total + n });
		}
	}
	return { sum, matched, functions };
}

// The file that the page saves in the directory "saved".
async function saved(page) {
	const files = () => fs.readdirSync('saved').filter((name) => name.endsWith('.pftrace.gz'));
	for (const name of files())
		fs.unlinkSync(path.join('saved', name));
	await page.click('#perfetto-button');
	for (const end = Date.now() + 60000; !files().length && Date.now() < end;)
		await new Promise((f) => setTimeout(f, 50));
	return fs.readFileSync(path.join('saved', files()[0]));
}

// ---- tests, each on a page of its own ----

const tests = {
	async 'a brush selects a time everywhere'(browser) {
		const page = await open(browser, 'sample.html');
		const all = [await text(page, 'flame-sum'), await pixels(page, 'flame-canvas'),
			await text(page, 'functions-count')];
		await drag(page, 'timeline-top', [0.25, 0.5], [0.3, 0.5]);
		const some = [await text(page, 'flame-sum'), await pixels(page, 'flame-canvas'),
			await text(page, 'functions-count')];
		some.forEach((value, i) => check(`a brush changes part ${i}`, value !== all[i], i));
		check('the address has the time', /^time=1-1\.2/.test(await hash(page)), await hash(page));
		await page.press('Escape');
		equal('Escape selects all', await text(page, 'flame-sum'), all[0]);
		equal('and draws it', await pixels(page, 'flame-canvas'), all[1]);
		await drag(page, 'timeline-strips', [0.5, 0.5], [0.7, 0.5]);
		check('strips have the brush, too', /^time=2-2\.8/.test(await hash(page)), await hash(page));
		const at = await box(page, 'timeline-top');
		await page.click({ x: at.x + 50, y: at.y + 20 }, { clickCount: 2 });
		await page.evaluate(`document.getElementById('timeline-top').dispatchEvent(
			new MouseEvent('dblclick', { bubbles: true }))`);
		equal('a double click selects all', await hash(page), '');
		return page;
	},

	async 'sums are right'(browser) {
		const number = (n) => n.toLocaleString('en'), data = makeData();
		for (const [shown, kinds] of [['', [0, 1, 2, 3]], ['&show=user%2Cjit', [1, 2, 3]]]) {
			const words = `#time=1-2&cpu=1,2&type=sched%3Asched_switch${shown}`;
			const page = await open(browser, 'sample.html', words);
			const want = expected(data, (bin, cpu, type) => bin >= 250 && bin < 500 &&
				(cpu === 1 || cpu === 2) && type === 0, kinds, /^user_function_1/);
			check(`${words}: the sum`, (await text(page, 'flame-sum')).startsWith(
				`${number(want.sum)} events`), [await text(page, 'flame-sum'), want.sum]);
			await page.click('#functions th:nth-child(3) button');
			await page.click('#functions .more');
			const got = await page.evaluate(`[...document.querySelectorAll('#functions tbody tr')]
				.map((tr) => [4, 0, 2].map((i) => tr.children[i].textContent))`);
			equal(`${words}: functions`, got.length, want.functions.size);
			const wrong = got.filter(([name, self, total]) => {
				const f = want.functions.get(name.replace(/ \[.*/, ''));
				return !f || number(f.self) !== self || number(f.total) !== total;
			});
			check(`${words}: their sums`, wrong.length <= 1 /* whose name is hostile */, wrong);
			await search(page, '^user_function_1');
			equal(`${words}: what matches`, await text(page, 'search-matched'),
				`${(want.matched / want.sum * 100).toFixed(2)}% matched`);
		}
		return open(browser, 'sample.html');
	},

	async 'the brush by keyboard'(browser) {
		const page = await open(browser, 'sample.html');
		await page.evaluate('document.getElementById("timeline-top").focus()');
		await page.press('ArrowRight');
		equal('the first arrow selects a tenth', await hash(page), 'time=0-0.4');
		await page.press('ArrowRight');
		equal('the next moves it', await hash(page), 'time=0.04-0.44');
		await page.press('ArrowRight', ['Shift']);
		equal('with Shift its end', await hash(page), 'time=0.04-0.48');
		equal('which is one step for the back button', await page.evaluate('history.length'), 3);
		await page.press('z');
		equal('z zooms in on it', await hash(page), 'time=0.04-0.48&view=0.04-0.48');
		await page.press('Escape');
		await page.press('Z', ['Shift']);
		equal('Escape and Shift-Z undo both', await hash(page), '');
		return page;
	},

	async 'a search finds functions'(browser) {
		const page = await open(browser, 'sample.html');
		const all = await pixels(page, 'flame-canvas');
		await search(page, '^user_function_1');
		const matched = parseFloat(await text(page, 'search-matched'));
		check('a share matches', matched > 0 && matched < 100, matched);
		check('hits are drawn', await pixels(page, 'flame-canvas') !== all);
		const names = await shown(page, `[...document.querySelectorAll(
			'#functions tbody tr td:nth-child(5)')].map((e) => e.textContent)`);
		check('the table has matches only', names.length > 0 &&
			names.every((name) => /^user_function_1/.test(name)), names);
		await search(page, 'no such function');
		equal('nothing matches', await text(page, 'search-matched'), '0.00% matched');
		await search(page, 'jit_function_6(');
		check('what is no expression is text', await page.evaluate(
			'document.getElementById("search").matches(".plain")'));
		await page.press('Escape');
		await drawn(page);
		equal('Escape clears it', await page.evaluate(
			'document.getElementById("search").value'), '');
		return page;
	},

	async 'zoom, kinds and layout'(browser) {
		const page = await open(browser, 'sample.html'), seen = new Set();
		const now = async (what) => {
			const picture = await pixels(page, 'flame-canvas');
			check(`${what} draws another picture`, !seen.has(picture));
			seen.add(picture);
		};
		await now('the beginning');
		await page.click('#kind-kernel');
		await now('hiding the kernel');
		equal('the address has the kinds', await hash(page), 'show=user,jit');
		await page.press('f');
		await now('the flame graph');
		await page.press('r');
		await page.evaluate('document.getElementById("flame-canvas").focus()');
		for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowLeft'])
			await page.press(key);
		const said = await text(page, 'flame-said');
		check('the frame under the cursor is read out', /_function_\d+, .*total .*self/.test(said),
			said);
		await page.press('Enter');
		await now('a zoom');
		const zoomed = await pixels(page, 'flame-canvas');
		check('the address has the zoom', /^zoom=\d+$/.test(await hash(page)), await hash(page));
		await page.press('Escape');
		equal('Escape zooms out', await hash(page), '');
		await page.back();
		await page.waitFor('location.hash.startsWith("#zoom=")');
		equal('the back button zooms in again', await pixels(page, 'flame-canvas'), zoomed);
		return page;
	},

	async 'inverted, callers are below functions'(browser) {
		const page = await open(browser, 'sample.html');
		const top = await text(page, 'functions tbody td:nth-child(5)');
		await page.press('i');
		await page.evaluate('document.getElementById("flame-canvas").focus()');
		await page.press('ArrowDown');
		const said = await text(page, 'flame-said');
		check('the first function is that with the most events of its own',
			said.startsWith(top.split(' ')[0]) && !/self/.test(said), [top, said]);
		for (const key of ['Enter', 'ArrowDown', 'Enter'])
			await page.press(key);
		check('the address has the zoom', /inverted=1&deep=2&zoom=\d+/.test(await hash(page)),
			await hash(page));
		await page.evaluate('document.activeElement.blur()');
		const zoomed = await pixels(page, 'flame-canvas');
		await reload(page);
		equal('a reload keeps it', await pixels(page, 'flame-canvas'), zoomed);
		await search(page, said.split(',')[0]);
		equal('all callers of a function match it', await text(page, 'search-matched'),
			'100.00% matched');
		return page;
	},

	async 'losses'(browser) {
		const page = await open(browser, 'sample.html');
		equal('samples are skipped, not lost', await text(page, 'facts .lost summary'),
			'1,234 lost, 56 samples skipped');
		check('and have their place', (await text(page, 'facts .lost ul:nth-child(2)'))
			.includes('56 samples skipped of sample:cpu-clock'));
		return page;
	},

	async 'weights and event types'(browser) {
		const page = await open(browser, 'sample.html');
		await page.evaluate(`(() => {
			const select = document.getElementById('weight');
			select.value = '1';
			select.dispatchEvent(new Event('change'));
		})()`);
		await drawn(page);
		check('sums have the unit of the weight', / s of sample time/.test(
			await text(page, 'flame-sum')), await text(page, 'flame-sum'));
		equal('the address has its name', await hash(page), 'weight=sample+time');
		await page.click('#types summary');
		await page.click('#types-box li:nth-child(2) button');
		equal('one type', await text(page, 'types-summary'), 'sched:sched_wakeup');
		await page.click('#parts .part');
		equal('its button clears it', await text(page, 'types-summary'), 'all 4 types');
		return page;
	},

	async 'rows select CPUs and tasks'(browser) {
		const page = await open(browser, 'sample.html');
		await page.click('#row-1');
		equal('a click selects one', await hash(page), 'cpu=1');
		await page.click('#row-2', { modifiers: ['Control'] });
		equal('with Ctrl another one', await hash(page), 'cpu=1,2');
		await page.evaluate('document.getElementById("timeline-labels").focus()');
		await page.press('Home');
		await page.press('Enter');
		equal('Enter selects one', await hash(page), 'cpu=0');
		await page.press('Enter');
		equal('and all again', await hash(page), '');
		await page.click('#timeline-filter');
		await page.type('task-1[01]');
		equal('a filter shows some', await shown(page, `[...document.querySelectorAll('.row')]
			.map((e) => e.textContent).sort()`), ['task-10 1010', 'task-100 1100', 'task-101 1101',
			'task-102 1102', 'task-103 1103', 'task-104 1104', 'task-105 1105', 'task-106 1106',
			'task-107 1107', 'task-108 1108', 'task-109 1109', 'task-11 1011', 'task-110 1110',
			'task-111 1111', 'task-112 1112', 'task-113 1113', 'task-114 1114', 'task-115 1115',
			'task-116 1116', 'task-117 1117', 'task-118 1118', 'task-119 1119']);
		await page.click('.row');
		check('which can be selected', /^task=1[01]$/.test(await hash(page)), await hash(page));
		return page;
	},

	async 'durations lead to the slowest'(browser) {
		const page = await open(browser, 'sample.html');
		const map = await box(page, 'latency-canvas');
		await drag(page, 'latency-canvas', [0.5, 2 / map.height], [0.8, 40 / map.height]);
		const rows = await shown(page, 'document.querySelectorAll("#slowest tbody tr").length');
		check('the slowest are shown', rows > 1, rows);
		check('the address has both', /^time=.*&duration=\d+-\d+/.test(await hash(page)),
			await hash(page));
		await page.click('#slowest tbody tr:nth-child(1)');
		const stacks = await shown(page, `[...document.querySelectorAll('#stacks .stack')]
			.map((e) => e.querySelectorAll('li').length)`);
		check('both stacks are shown', stacks.length === 2 && stacks.every((n) => n > 0), stacks);
		equal('its time is marked', await shown(page,
			'[...document.querySelectorAll(".mark")].map((e) => e.hidden)'), [false, false, false]);
		const durations = () => shown(page, `[...document.querySelectorAll(
			'#slowest tbody td:first-child')].map((e) => e.textContent)`);
		const down = await durations();
		await page.click('#slowest th:first-child button');
		equal('a heading turns the order over', await durations(), down.reverse());
		return page;
	},

	async 'the address restores everything'(browser) {
		const words = '#time=1-2&duration=60-80&cpu=1,2&task=3,4&type=sched%3Asched_switch' +
			'&weight=sample+time&search=user&flame=1&show=kernel%2Cuser&view=0.4-3.6&zoom=9';
		const page = await open(browser, 'sample.html', words), parts = () => shown(page,
			`[...document.querySelectorAll('#parts .part')].map((e) => e.textContent)`);
		const state = async () => [await parts(), await text(page, 'flame-sum'),
			await pixels(page, 'flame-canvas'), await pixels(page, 'timeline-top'),
			await page.evaluate('document.getElementById("weight").value')];
		const before = await state();
		equal('all parts are there', before[0].length, 6);
		await page.press('f');
		await page.press('f');
		await reload(page);
		equal('a reload changes nothing', await state(), before);
		await page.evaluate('location.hash = ""');
		equal('an empty address selects all', (await parts()).length, 0);
		await page.evaluate('location.hash = "time=9-1&cpu=77&task=x&type=none&zoom=-1&show="');
		equal('a wrong one selects nothing wrong', (await parts()).length, 0);
		return page;
	},

	async 'a recording'(browser) {
		const page = await open(browser, 'demo.html');
		const events = Number(fs.readFileSync('demo.events', 'utf8')).toLocaleString('en');
		check('it has all events', (await text(page, 'flame-sum')).startsWith(`${events} events`),
			await text(page, 'flame-sum'));
		await search(page, '^__schedule$');
		check('a function is found', parseFloat(await text(page, 'search-matched')) > 50);
		await search(page, '');
		const rows = await page.evaluate('document.querySelectorAll("#slowest tbody tr").length');
		check('there are slow pairs', rows > 10, rows);
		const losses = await open(browser, 'losses.html');
		equal('losses are counted', await text(losses, 'facts .lost summary'),
			'44 lost, 3 samples skipped');
		check('and have their place', (await text(losses, 'facts .lost ul:nth-child(2)'))
			.includes('34 events lost on CPU 0 of sched:sched_switch'));
		await losses.click('#facts .lost summary');
		await losses.click('#facts .lost li button');
		check('which a click selects', /^time=/.test(await hash(losses)), await hash(losses));
		return page;
	},

	async 'without pairs'(browser) {
		const page = await open(browser, 'losses.html', '#duration=1-2&pair=x');
		equal('there is no latency', await page.evaluate(`['latency', 'tab-slowest', 'panel-slowest']
			.map((id) => document.getElementById(id).hidden)`), [true, true, true]);
		equal('and no selection of it', await text(page, 'parts'), 'everything');
		return page;
	},

	async 'names stay text'(browser) {
		for (const name of ['sample.html', 'hostile.html']) {
			const page = await open(browser, name);
			await page.click('#types summary');
			const found = await page.evaluate(`[document.querySelectorAll(
				'body script:not([type]), img, iframe, object, link, a').length,
				document.title.includes('owned')]`);
			equal(`${name}: nothing became markup`, found, [1, false]);
			equal(`${name}: no message`, page.errors, []);
		}
		const page = await open(browser, 'sample.html');
		const label = await shown(page, `[...document.querySelectorAll('.row')]
			.map((e) => e.textContent).find((t) => t.includes('<'))`);
		check('markup is shown as it is', label.startsWith(HOSTILE.slice(0, 60)), label);
		check('what turns text around is a number', label.includes('\\u{202e}'), label);
		const ran = await page.evaluate(`new Promise((f) => {
			const s = document.createElement('script');
			s.textContent = 'document.title = "owned"';
			document.body.append(s);
			setTimeout(() => f(document.title), 50);
		})`);
		equal('the policy lets no other script run', ran, 'sample');
		page.errors.length = 0; // the report of it
		return page;
	},

	async 'tab order, names and focus'(browser) {
		const page = await open(browser, 'sample.html'), order = [];
		for (let i = 0; i < 60; i++) {
			await page.press('Tab');
			const at = await page.evaluate(`(() => {
				const e = document.activeElement, s = getComputedStyle(e);
				return [e.id || e.closest('[id]').id, s.outlineStyle,
					e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') ||
					e.labels?.[0]?.textContent || e.textContent || e.title];
			})()`);
			if (order.includes(at[0]) && at[0] !== 'facts')
				break;
			order.push(at[0]);
			check(`${at[0]} shows the focus`, at[1] !== 'none', at);
			check(`${at[0]} has a name`, at[2].trim() !== '', at);
		}
		const want = ['perfetto-button', 'theme', 'help', 'search', 'weight', 'types', 'kind-kernel',
			'kind-user', 'kind-jit', 'timeline-filter', 'timeline-top', 'timeline-labels', 'latency-pair',
			'latency-canvas', 'layout', 'flame-canvas', 'tab-functions', 'functions'];
		await page.evaluate('document.querySelector("#functions tbody tr").focus()');
		await page.press('ArrowDown');
		await page.press('Enter');
		const words = await shown(page, 'document.getElementById("search").value');
		check('a row that is entered is searched for', /^\^.*\$$/.test(words), words);
		equal('and the table keeps the focus', await page.evaluate(
			'document.activeElement.closest("#functions") !== null'), true);
		equal('the order is that of the page', order.filter((id) => want.includes(id)), want);
		return page;
	},

	async 'keys, help and theme'(browser) {
		const page = await open(browser, 'sample.html');
		await page.press('?');
		check('? shows the keys', await page.evaluate('document.getElementById("help-dialog").open'));
		check('and the licences', (await text(page, 'licences')).includes('Mike Bostock'));
		await page.press('Escape');
		await page.press('/');
		equal('/ searches', await page.evaluate('document.activeElement.id'), 'search');
		const colour = () => page.evaluate(`[getComputedStyle(document.body).backgroundColor,
			document.documentElement.dataset.theme]`);
		await page.setColorScheme('light');
		const light = await colour(), picture = await pixels(page, 'timeline-top');
		await page.setColorScheme('dark');
		await drawn(page);
		const dark = await colour();
		equal('the system chooses', [light[1], dark[1]], ['light', 'dark']);
		check('colours differ', light[0] !== dark[0]);
		check('those of canvases, too', await pixels(page, 'timeline-top') !== picture);
		await page.click('#theme');
		equal('until the user does', await colour(), light);
		await page.click('#theme');
		equal('and then again', await colour(), dark);
		await page.evaluate('window.dispatchEvent(new Event("beforeprint"))');
		equal('paper is light', await colour(), light);
		await page.evaluate('window.dispatchEvent(new Event("afterprint"))');
		equal('the screen is as before', await colour(), dark);
		return page;
	},

	async 'no horizontal scroll'(browser) {
		for (const name of ['sample.html', 'demo.html', 'hostile.html'])
			for (const width of [1280, 900]) {
				const page = await open(browser, name);
				await page.setSize(width, 800);
				await drawn(page);
				const [wide, room] = await page.evaluate(
					'[document.documentElement.scrollWidth, document.documentElement.clientWidth]');
				check(`${name} fits ${width} pixels`, wide <= room, [wide, room]);
				equal(`${name}: no message`, page.errors, []);
			}
		return open(browser, 'sample.html');
	},

	async 'a trace for Perfetto'(browser) {
		const page = await open(browser, 'sample.html', '#time=1-2');
		await page.click('#perfetto-button');
		equal('without a trace, a command', await page.evaluate(
			'document.getElementById("perfetto-command").value'),
		'stackonce export perfetto sample.stk --time 1235.567890123,1236.567890123');
		await page.press('Escape');
		await page.press('Escape');
		await page.click('#perfetto-button');
		equal('of everything, the command for that', await page.evaluate(
			'document.getElementById("perfetto-command").value'),
		'stackonce export perfetto --time 1,2 sample.stk');
		fs.writeFileSync('with.html', fs.readFileSync('sample.html', 'utf8').replace(
			/(id="perfetto">)/, (all) => `${all}${Buffer.from('a trace').toString('base64')}`));
		fs.mkdirSync('saved', { recursive: true });
		await browser.setDownloads(path.resolve('saved'));
		const other = await open(browser, 'with.html');
		equal('a trace is saved', String(await saved(other)), 'a trace');
		equal('no message', other.errors, []);
		const demo = await open(browser, 'demo.html');
		if (await demo.evaluate('document.getElementById("perfetto").textContent !== ""')) {
			const trace = zlib.gunzipSync(await saved(demo));
			check('that of a recording has its functions', trace.includes('do_syscall_64'));
		} else {
			incomplete = true;
			console.log('skipped: this build makes no traces for Perfetto');
		}
		return page;
	},

	async 'damaged data are reported'(browser) {
		const page = fs.readFileSync('sample.html', 'utf8'), at = page.indexOf('id="data">') + 10;
		for (const [what, data] of [['cut off', page.slice(at, at + 4000)], ['none', ''],
			['garbage', 'AAAA']]) {
			fs.writeFileSync('damaged.html', page.slice(0, at) + data +
				page.slice(page.indexOf('</script>', at)));
			const damaged = await open(browser, 'damaged.html');
			const said = await text(damaged, 'failure');
			check(`${what}: the page says so`, /^This page cannot be shown: ./.test(said), said);
			equal(`${what}: no message`, damaged.errors, []);
		}
		return open(browser, 'sample.html');
	},
};

async function main() {
	const browser = await Browser.launch();
	try {
		for (const [name, run] of Object.entries(tests)) {
			const page = await run(browser);
			equal(`${name}: no message`, page.errors, []);
		}
	} finally {
		await browser.close();
	}
	console.log(`${nr} checks, ${failed} failed`);
	process.exitCode = failed ? 1 : incomplete ? 77 : 0;
}

main().catch((error) => {
	console.log(error.stack);
	process.exitCode = 1;
});

// SPDX-License-Identifier: GPL-2.0-only
// node view.js DRIVER PAGE REPEATS: how long the page takes in a browser, as medians in ms.
'use strict';

const path = require('path');
const { Browser } = require(process.argv[2]);

const [page, repeats] = [path.resolve(process.argv[3]), Number(process.argv[4])];
const SELECTIONS = {
	'brush of a quarter': (i) => `time=${i / 100}-${0.25 + i / 100}`,
	'brush of most': (i) => `time=${i / 100}-${0.9 + i / 100}`,
	'search': (i) => `search=${'eaiosrtn'[i % 8]}_`,
	'hide the kernel, or show it alone': (i) => i % 2 ? 'show=user' : 'show=kernel',
	'inverted': (i) => `inverted=1&time=${i / 100}-${0.25 + i / 100}`,
	'select a CPU, or all': (i) => i % 2 ? 'cpu=0' : '',
};

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

// In the page: from a change of the address until its frame has been drawn.
async function change(hash) {
	const frame = () => new Promise((done) => requestAnimationFrame(() => {
		const channel = new MessageChannel();
		channel.port1.onmessage = done;
		channel.port2.postMessage(0);
	}));
	await frame();
	const began = performance.now();
	location.hash = hash;
	await new Promise((done) => window.addEventListener('hashchange', done, { once: true }));
	await frame();
	return performance.now() - began;
}

async function main() {
	const browser = await Browser.launch(), loads = [];
	try {
		for (let i = 0; i < repeats; i++) {
			const tab = await browser.open(`file://${page}`, { width: 1280, height: 900 });
			loads.push(+await tab.waitFor('document.body.dataset.ready'));
			await tab.send('Page.close');
		}
		console.log(`${'load'.padEnd(36)} ${String(median(loads)).padStart(6)} ms`);
		const tab = await browser.open(`file://${page}`, { width: 1280, height: 900 });
		await tab.waitFor('document.body.dataset.ready');
		for (const [name, hash] of Object.entries(SELECTIONS)) {
			const times = [];
			for (let i = 0; i < 3 * repeats; i++)
				times.push(await tab.evaluate(`(${change})(${JSON.stringify(hash(i + 1))})`));
			console.log(`${name.padEnd(36)} ${median(times).toFixed().padStart(6)} ms`);
		}
		if (tab.errors.length)
			throw new Error(tab.errors.join('\n'));
	} finally {
		await browser.close();
	}
}

main().catch((error) => {
	console.log(`FAIL  ${error.message}`);
	process.exitCode = 1;
});

// SPDX-License-Identifier: GPL-2.0-only
// speedscope.js DIR FILE...: opens each file in speedscope, whose files are in DIR, as its own
// command line does, in a headless Chromium, and prints a line of JSON: what speedscope made of
// the file, and the rows of the tables on the page.
'use strict';

const fs = require('fs');
const os = require('os');
const path = require('path');
const { Browser } = require('./chromium.js');

const TIMEOUT = 120000; // ms, for a hang

function replaced(text, from, to) {
	if (!text.includes(from))
		throw new Error(`speedscope has no '${from}'`);
	return text.replace(from, to);
}

// A copy in which window.loaded is what was loaded: all else of it is drawn.
function copy(dir, to) {
	const from = path.join(dir, 'dist', 'release');
	for (const name of fs.readdirSync(from)) {
		const data = fs.readFileSync(path.join(from, name));
		fs.writeFileSync(path.join(to, name), /^speedscope-.*\.js$/.test(name) ?
			replaced(data.toString(), 'this.props.setProfileGroup(a),this.props.setLoading(!1)',
				'this.props.setProfileGroup(a),window.loaded=a,this.props.setLoading(!1)') : data);
	}
}

const LOADED = `window.loaded && ({
	title: document.title,
	name: loaded.name,
	profiles: loaded.profiles.map((profile) => {
		const frames = [];
		profile.forEachFrame((f) => frames.push({ name: f.name, file: f.file,
			self: f.getSelfWeight(), total: f.getTotalWeight() }));
		return { name: profile.getName(), unit: profile.getWeightUnit(),
			total: profile.getTotalWeight(), frames };
	}),
})`;
const ROWS = `[...document.querySelectorAll('tr')].map((row) =>
	[...row.querySelectorAll('td')].map((cell) => cell.textContent.trim()))
	.filter((row) => row.length)`;

// An alert says that the file is refused; so that it does not wait for a click, it is an error.
async function open(browser, dir, file) {
	const script = path.join(dir, 'profile.js');
	fs.writeFileSync(script, `window.alert = (text) => console.error(text);
		speedscope.loadFileFromBase64(${JSON.stringify(path.basename(file))},
			'${fs.readFileSync(file).toString('base64')}');`);
	const page = await browser.open(`file://${dir}/index.html#localProfilePath=${script}` +
		'&view=sandwich');
	let loaded = null;
	for (const end = Date.now() + TIMEOUT; !loaded && !page.errors.length && Date.now() < end;)
		loaded = await page.waitFor(LOADED, 1000).catch(() => null);
	const rows = loaded ? await page.waitFor(`(${ROWS}).length && ${ROWS}`) : [];
	return { ...loaded, rows, errors: page.errors };
}

async function main(judge, files) {
	const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'speedscope.'));
	const browser = await Browser.launch();
	try {
		copy(judge, dir);
		for (const file of files)
			fs.writeSync(1, JSON.stringify(await open(browser, dir, file)) + '\n');
	} finally {
		await browser.close();
		fs.rmSync(dir, { recursive: true, force: true });
	}
}

const [dir, ...files] = process.argv.slice(2);
main(dir, files).catch((error) => {
	console.error(`speedscope: ${error.message}`);
	process.exit(1);
});

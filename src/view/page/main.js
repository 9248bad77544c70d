// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// The page: decodes its data, then makes the panels, which share one selection.
import { byId } from './element.js';
import { decode } from './data.js';
import { Flame } from './flame.js';
import { Functions } from './functions.js';
import { showHeader } from './header.js';
import { Keys } from './keys.js';
import { Latency } from './latency.js';
import { Model } from './model.js';
import { showPerfetto } from './perfetto.js';
import { Selection } from './selection.js';
import { Slowest } from './slowest.js';
import { startTheme } from './theme.js';
import { Timeline } from './timeline.js';
import { Toolbar } from './toolbar.js';
import { Views } from './views.js';

async function start() {
	startTheme();
	const data = await decode(byId('data').textContent.trim());
	document.body.classList.remove('loading');
	const selection = new Selection(data), model = new Model(data, selection);
	showHeader(model);
	const timeline = new Timeline(model), latency = new Latency(model);
	new Toolbar(model, latency);
	new Flame(model);
	new Functions(model);
	new Slowest(model, latency);
	showPerfetto(model);
	const views = new Views(model);
	new Keys(model, timeline, views);
	document.body.dataset.ready = performance.now().toFixed(); // ms since the page was opened
}

start().catch((error) => {
	document.body.classList.remove('loading');
	document.body.classList.add('failed');
	byId('failure').textContent = `This page cannot be shown: ${error.message}. ` +
		'Write it again with "stackonce view", and open it with a current browser.';
	byId('failure').hidden = false;
});

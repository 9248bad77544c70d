// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// Open in Perfetto: the page has a trace, which is saved as a file, or a command that makes one.
import { byId } from './element.js';
import { clockText } from './axis.js';
import { fromBase64 } from './data.js';
import * as format from './format.js';

function save(text, name) {
	const url = URL.createObjectURL(new Blob([fromBase64(text)], { type: 'application/gzip' }));
	const link = document.createElement('a');
	link.href = url;
	link.download = name;
	link.click();
	setTimeout(() => URL.revokeObjectURL(url), 60000);
}

export function showPerfetto(model) {
	const { head } = model.data, text = byId('perfetto').textContent.trim();
	const name = `${format.fileName(head.recordings[0]?.file ?? 'trace').replace(/\.stk$/, '')}.pftrace.gz`;
	const dialog = byId('perfetto-dialog'), command = byId('perfetto-command');
	byId('perfetto-button').addEventListener('click', () => {
		const { selection } = model, [from, to] = selection.range;
		if (text)
			save(text, name);
		byId('perfetto-saved').hidden = !text;
		byId('perfetto-name').textContent = name;
		byId('perfetto-unsaved').hidden = !!text;
		command.value = selection.all ? head.command_all : `${head.command} --time ` +
			`${clockText(head, from * head.bin_ns)},${clockText(head, to * head.bin_ns)}`;
		byId('perfetto-what').textContent = selection.all ? 'This command makes the trace:'
			: 'This command makes a trace of the selected time:';
		byId('perfetto-copied').textContent = '';
		dialog.showModal();
	});
	byId('perfetto-copy').addEventListener('click', async () => {
		command.select();
		try {
			await navigator.clipboard.writeText(command.value);
		} catch {
			document.execCommand('copy');
		}
		byId('perfetto-copied').textContent = 'Copied.';
	});
}

// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// What the search finds: frames by name or file.

export function matcher(text) {
	if (!text)
		return null;
	try {
		const pattern = new RegExp(text, 'iu');
		return { regex: true, test: (name) => pattern.test(name) };
	} catch {
		// no regular expression, or not yet one
		const plain = text.toLowerCase();
		return { regex: false, test: (name) => name.toLowerCase().includes(plain) };
	}
}

// A byte for each frame, or null without a search.
export function findFrames(data, text) {
	const { frames, head } = data, found = matcher(text);
	if (!found)
		return null;
	const byString = new Int8Array(head.strings.length).fill(-1);
	const test = (string) => {
		if (byString[string] < 0)
			byString[string] = found.test(head.strings[string]) ? 1 : 0;
		return byString[string];
	};
	const hits = new Uint8Array(frames.rows);
	for (let i = 0; i < frames.rows; i++)
		hits[i] = test(frames.name[i]) | test(frames.file[i]);
	return hits;
}

export const exactly = (name) => `^${name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}$`;

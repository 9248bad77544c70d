// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// Zoom, search and details of a flame graph in a browser.  Without it the picture is static.
// Names come from the recording: they are only ever set as text.
(function () {
	"use strict";

	const NS = "http://www.w3.org/2000/svg";
	const svg = document.currentScript ? document.currentScript.ownerSVGElement : document.documentElement;
	const alone = svg === document.documentElement;
	const PAD = 10, ROW = 18, CHAR = 7.23;
	const frames = [];
	let width = 1200, focus = 0, matcher = null;

	function make(parent, tag, attributes, text) {
		const e = document.createElementNS(NS, tag);

		for (const name in attributes)
			e.setAttribute(name, attributes[name]);
		if (text !== undefined)
			e.textContent = text;
		parent.appendChild(e);
		return e;
	}

	// Rebuilds the tree from the order of the frames: a frame's depth is its row; it begins
	// where its left neighbour ends, or where its caller begins.
	function read_frames() {
		const ends = [], last = [];
		let top;

		for (const g of svg.querySelectorAll(".frames > g")) {
			const rect = g.querySelector("rect"), y = +rect.getAttribute("y");
			const title = g.querySelector("title").textContent, cut = title.indexOf("\n");

			top = top === undefined ? y : top;
			const depth = Math.round((y - top) / ROW), weight = +g.dataset.w;
			const at = depth ? ends[depth] : 0;
			const f = { g, rect, y, depth, weight, at, text: g.querySelector("text"),
				name: title.slice(0, cut), value: title.slice(cut + 1),
				parent: depth ? last[depth - 1] : -1, end: 0 };

			ends[depth] = at + weight;
			ends[depth + 1] = at;
			last[depth] = frames.length;
			g.number = frames.length;
			frames.push(f);
		}
		for (let i = frames.length - 1; i >= 0; i--) {
			frames[i].end = Math.max(frames[i].end, i + 1);
			if (i)
				frames[frames[i].parent].end =
					Math.max(frames[frames[i].parent].end, frames[i].end);
		}
	}

	// The name without its file, as shown in the box.
	function label(f, room) {
		const columns = Math.floor((room - 6) / CHAR);
		const name = Array.from(f.name.replace(/ \[[^\]]*\]$/, ""));

		if (columns < 3)
			return "";
		return name.length <= columns ? name.join("") : name.slice(0, columns - 1).join("") + "\u2026";
	}

	function place(f, x, w) {
		const text = label(f, w);

		f.g.style.display = "";
		f.rect.setAttribute("x", x.toFixed(2));
		f.rect.setAttribute("width", (w > 2 ? w - 0.6 : w * 0.7).toFixed(2));
		if (text && !f.text)
			f.text = make(f.g, "text", { y: f.y + 13 });
		if (!f.text)
			return;
		f.text.textContent = text;
		f.text.setAttribute("x", (x + 3).toFixed(2));
	}

	// The focused frame and its callees use the whole width; its callers above lead back.
	function draw() {
		const z = frames[focus], room = width - 2 * PAD;
		const callers = new Set();

		for (let i = z.parent; i >= 0; i = frames[i].parent)
			callers.add(i);
		frames.forEach(function (f, i) {
			const inside = i >= focus && i < z.end;
			const w = inside ? f.weight / z.weight * room : room;

			if ((!inside && !callers.has(i)) || w < 0.1) {
				f.g.style.display = "none";
				return;
			}
			f.g.classList.toggle("caller", !inside);
			place(f, PAD + (inside ? (f.at - z.at) / z.weight * room : 0), w);
		});
		reset.style.display = focus ? "" : "none";
		mark();
	}

	// A matching frame below another match is not counted again.
	function mark() {
		const z = frames[focus];
		let sum = 0, nr = 0, until = -1;

		frames.forEach(function (f, i) {
			const hit = matcher !== null && matcher(f.name);

			f.g.classList.toggle("hit", hit);
			f.g.classList.toggle("miss", matcher !== null && !hit);
			if (!hit || i < focus || i >= z.end)
				return;
			nr++;
			if (i >= until) {
				sum += f.weight;
				until = f.end;
			}
		});
		matched.textContent = matcher === null ? "" : "matched " +
			(sum / z.weight * 100).toFixed(2) + "%, " + nr + (nr === 1 ? " frame" : " frames");
	}

	function to_matcher(term) {
		if (!term)
			return null;
		try {
			const re = new RegExp(term, "i");

			return name => re.test(name);
		} catch (e) {
			// Not a regular expression (yet): search for plain text.
			return name => name.toLowerCase().includes(term.toLowerCase());
		}
	}

	// ---- the head ----

	const style = make(svg, "style", {}, ".frames g{cursor:pointer}" +
		".frames g:hover rect{stroke:#000;stroke-width:1}" +
		".frames .caller rect{fill-opacity:.5}.frames .miss rect{fill-opacity:.35}" +
		".frames .hit rect{fill:#ff5cf4}" +
		".button{cursor:pointer;fill:#1a4fb4}.button:hover{text-decoration:underline}" +
		".head{fill:#fff}input.flame{box-sizing:border-box;width:100%;height:24px;" +
		"font:12px monospace;padding:2px 6px;border:1px solid #888;border-radius:3px;" +
		"background:#fff;color:#111}");
	const head = make(svg, "g", {});

	make(head, "rect", { class: "head", width: "100%", height: 92 });
	for (const part of svg.querySelectorAll(".title,.subtitle,.legend,.details"))
		head.appendChild(part);
	const details = svg.querySelector(".details");
	const box = make(head, "foreignObject", { y: 8, width: 260, height: 26 });
	const input = document.createElementNS("http://www.w3.org/1999/xhtml", "input");
	const matched = make(head, "text", { y: 65, "text-anchor": "end" });
	const reset = make(head, "text", { y: 86, "text-anchor": "end", class: "button" }, "reset zoom (Esc)");

	input.className = "flame";
	input.placeholder = "search: text or regex (Ctrl-F)";
	box.appendChild(input);

	function show(f) {
		const z = frames[focus];

		details.textContent = f ? f.name + "  " + f.value + (focus && f.at >= z.at && f.depth >= z.depth ?
			"; " + (f.weight / z.weight * 100).toFixed(2) + "% of what is zoomed in on" : "") : "";
	}

	// ---- the URL holds the state, so that the back button works and links can be shared ----

	function go(number, term) {
		const words = [];

		if (number)
			words.push("zoom=" + number);
		if (term)
			words.push("search=" + encodeURIComponent(term));
		follow(number, term);
		if (alone)
			location.hash = words.join("&");
	}

	function follow(number, term) {
		focus = number < frames.length ? number : 0;
		if (input.value !== term)
			input.value = term;
		matcher = to_matcher(term);
		draw();
	}

	function follow_address() {
		const words = new URLSearchParams(location.hash.slice(1).replace(/\+/g, "%2B"));

		follow(parseInt(words.get("zoom"), 10) || 0, words.get("search") || "");
	}

	function resize() {
		if (alone) {
			width = Math.max(640, svg.clientWidth || window.innerWidth);
			svg.setAttribute("width", width);
			svg.removeAttribute("viewBox");
		}
		box.setAttribute("x", width - PAD - 260);
		matched.setAttribute("x", width - PAD);
		reset.setAttribute("x", width - PAD);
		draw();
	}

	function frame_of(event) {
		const g = event.target.closest(".frames > g");

		return g ? frames[g.number] : null;
	}

	read_frames();
	if (!frames.length)
		return;
	svg.addEventListener("click", function (event) {
		const f = frame_of(event);

		if (f)
			go(f.g.number, input.value);
	});
	svg.addEventListener("mouseover", event => show(frame_of(event)));
	reset.addEventListener("click", () => go(0, input.value));
	input.addEventListener("input", function () {
		matcher = to_matcher(input.value);
		mark();
	});
	input.addEventListener("change", () => go(focus, input.value));
	window.addEventListener("keydown", function (event) {
		if ((event.key === "f" && (event.ctrlKey || event.metaKey)) || event.key === "F3") {
			// The second time, the browser's own search opens.
			if (document.activeElement === input)
				return;
			event.preventDefault();
			input.focus();
			input.select();
		} else if (event.key === "Escape" && (input.value || focus)) {
			go(input.value ? focus : 0, "");
		}
	});
	if (alone) {
		window.addEventListener("resize", resize);
		// Keeps the head in view.
		window.addEventListener("scroll", () =>
			head.setAttribute("transform", "translate(0," + window.scrollY + ")"));
		window.addEventListener("hashchange", follow_address);
	}
	resize();
	if (alone)
		follow_address();
})();

// flame.js - the page of a profile: one tree of calls, drawn as wide as it is
// heavy.
//
// The data are a tree of functions (every stack of every thread, merged from
// the root) and rows: so much time of one thread, in one activity, on one node
// of that tree. A view and a choice of threads lay rows on nodes; sums from the
// leaves to the root then give each node its time running, waiting and blocked.
// Only what is wider than half a pixel is ever visited when it is drawn, so
// that the size of a profile costs nothing but the sums.
//
// All text comes from a hostile process: it is set as text, never as markup.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

const RUNNING = 0;
const WAITING = 1;
const BLOCKED = 2;
const VIEWS = [
	{word: "cpu", name: "On CPU", activities: [RUNNING]},
	{word: "off", name: "Off CPU", activities: [WAITING, BLOCKED]},
	{word: "wall", name: "All time", activities: [RUNNING, WAITING, BLOCKED]},
];
const ROW_HEIGHT = 20;
const THINNEST = 0.5; // pixels; thinner frames are drawn as one
const LIST_FIRST = 40;

// --- text -------------------------------------------------------------------

function element(name, properties, ...children) {
	const made = document.createElement(name);
	for (const [key, value] of Object.entries(properties || {})) {
		if (key in made) {
			made[key] = value;
		} else {
			made.setAttribute(key, value);
		}
	}
	made.append(...children);
	return made;
}

function time(ns) {
	const units = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
	for (const [size, unit] of units) {
		if (ns >= size) {
			const value = ns / size;
			return `${value >= 100 ? Math.round(value)
				: Number(value.toPrecision(3))} ${unit}`;
		}
	}
	return "0";
}

function bytes(size) {
	const units = ["B", "KiB", "MiB", "GiB", "TiB"];
	let at = 0;
	while (size >= 1024 && at + 1 < units.length) {
		size /= 1024;
		at++;
	}
	return `${at === 0 ? size : Number(size.toPrecision(3))} ${units[at]}`;
}

function percent(part, whole) {
	if (whole <= 0) {
		return "-";
	}
	const share = (100 * part) / whole;
	return `${share >= 99.95 || share === 0 ? Math.round(share)
		: share >= 0.1 ? share.toFixed(1) : "< 0.1"} %`;
}

function counted(count, word) {
	return `${count} ${word}${count === 1 ? "" : "s"}`;
}

function baseName(path) {
	return path.replace(/^.*\/(?=.)/, "");
}

// --- the tree ---------------------------------------------------------------

const names = data.functions.name;
// The tree that is drawn: of calls, or, turned over, of callers; parents come
// before their children. ROOT is of everything, above the nodes.
let nodeCount, ROOT, nodeParent, nodeFunction, nodeDepth, kids, kidsBegin;
let times, total, own, start, samples;
let leafOf; // the node on which a row lies

function plant(parents, functions, leaves) {
	const count = functions.length;
	const column = () => new Float64Array(count + 1);
	const made = {count, leaves, parent: new Int32Array(count + 1),
		function: new Int32Array(count + 1),
		depth: new Uint32Array(count + 1), kids: new Uint32Array(count),
		begin: new Uint32Array(count + 2), times: [0, 1, 2].map(column),
		total: column(), own: column(), start: column(),
		samples: column()};
	for (let i = 0; i < count; i++) {
		const parent = parents[i];
		made.parent[i] = parent < 0 ? count : parent;
		made.function[i] = functions[i];
		made.depth[i] = parent < 0 ? 1 : made.depth[parent] + 1;
		made.begin[made.parent[i] + 1]++;
	}
	made.parent[count] = -1;
	made.function[count] = -1;
	for (let i = 0; i <= count; i++) {
		made.begin[i + 1] += made.begin[i];
	}
	const next = made.begin.slice();
	for (let i = 0; i < count; i++) {
		made.kids[next[made.parent[i]]++] = i;
	}
	return made;
}

function use(tree) {
	nodeCount = ROOT = tree.count;
	nodeParent = tree.parent;
	nodeFunction = tree.function;
	nodeDepth = tree.depth;
	kids = tree.kids;
	kidsBegin = tree.begin;
	leafOf = tree.leaves;
	({times, total, own, start, samples} = tree);
}

const ofCalls = plant(data.nodes.parent, data.nodes.function, data.rows.node);
let ofCallers = null; // made when it is wanted first
use(ofCalls);

// Every row from its leaf to its root.
function turnOver() {
	const parents = [];
	const functions = [];
	const found = new Map();
	const leaves = data.rows.node.map((leaf) => {
		let at = -1;
		for (let node = leaf; node >= 0; node = data.nodes.parent[node]) {
			const of = data.nodes.function[node];
			const key = (at + 1) * names.length + of;
			let next = found.get(key);
			if (next === undefined) {
				next = parents.push(at) - 1;
				functions.push(of);
				found.set(key, next);
			}
			at = next;
		}
		return at;
	});
	return plant(parents, functions, leaves);
}

const state = {
	view: Math.max(0, VIEWS.findIndex((one) => one.word === data.view)),
	thread: "all", // what is chosen: all, name:NAME or one:INDEX
	threads: null, // the same as a set of indices; null: all
	inverted: false, // callers above what they called
	zoom: ROOT,
	at: ROOT, // the frame at hand
	query: "",
	flipped: false,
	kind: "function",
	order: "self",
	whole: false, // the table with all rows
};

function isChosen(thread) {
	return state.threads === null || state.threads.has(thread);
}

// Lays the rows on the nodes; parents come before their children in the data.
function weigh() {
	const rows = data.rows;
	const wanted = VIEWS[state.view].activities;
	for (const one of [...times, total, own, samples]) {
		one.fill(0);
	}
	for (let i = 0; i < rows.node.length; i++) {
		const activity = rows.activity[i] - 1;
		if (wanted.includes(activity) && isChosen(rows.thread[i])) {
			const node = leafOf[i];
			times[activity][node] += rows.weight_ns[i];
			own[node] += rows.weight_ns[i];
			samples[node] += rows.samples[i];
		}
	}
	const [running, waiting, blocked] = times;
	for (let i = nodeCount - 1; i >= 0; i--) {
		const parent = nodeParent[i];
		running[parent] += running[i];
		waiting[parent] += waiting[i];
		blocked[parent] += blocked[i];
		samples[parent] += samples[i];
		total[i] = running[i] + waiting[i] + blocked[i];
	}
	total[ROOT] = running[ROOT] + waiting[ROOT] + blocked[ROOT];
	// Turned over, what has time itself stands below the root.
	for (let i = 0; state.inverted && i < nodeCount; i++) {
		own[i] = nodeDepth[i] === 1 ? total[i] : 0;
	}
	own[ROOT] = 0;
	place();
}

// Heaviest first; equal ones as they were told, which is by name.
function place() {
	start[ROOT] = 0;
	for (let i = nodeCount; i >= 0; i--) {
		const node = i === nodeCount ? ROOT : nodeCount - 1 - i;
		const first = kidsBegin[node];
		const end = kidsBegin[node + 1];
		if (!isPlaced(first, end)) {
			kids.subarray(first, end).sort(isBefore);
		}
		let at = start[node];
		for (let k = first; k < end; k++) {
			start[kids[k]] = at;
			at += total[kids[k]];
		}
	}
}

function isBefore(a, b) {
	return total[b] - total[a] || a - b;
}

// Most frames call one other, or are in order: a view would cost more.
function isPlaced(first, end) {
	for (let k = first + 1; k < end; k++) {
		if (isBefore(kids[k - 1], kids[k]) > 0) {
			return false;
		}
	}
	return true;
}

// The frame that covers a time at a depth, or -1.
function nodeAt(when, depth) {
	let node = ROOT;
	while (nodeDepth[node] < depth) {
		let low = kidsBegin[node];
		let high = kidsBegin[node + 1];
		while (low < high) {
			const middle = (low + high) >> 1;
			if (start[kids[middle]] + total[kids[middle]] <= when) {
				low = middle + 1;
			} else {
				high = middle;
			}
		}
		if (low === kidsBegin[node + 1] || start[kids[low]] > when ||
			total[kids[low]] === 0) {
			return -1;
		}
		node = kids[low];
	}
	return node;
}

function isWithin(node, other) {
	while (node !== -1 && node !== other) {
		node = nodeParent[node];
	}
	return node === other;
}

function pathOf(node) {
	const path = [];
	for (; node !== -1; node = nodeParent[node]) {
		path.push(node);
	}
	return path.reverse();
}

function nameOf(node) {
	return node === ROOT ? chosenName() : names[nodeFunction[node]];
}

function moduleOf(node) {
	const module = node === ROOT ? -1
		: data.functions.module[nodeFunction[node]];
	return module < 0 ? "" : data.modules[module];
}

// --- search -----------------------------------------------------------------

let isMatch = null; // by function

function matcher(query) {
	const ends = /^\/(.+)\/?$/.exec(query);
	if (ends !== null && query.length > 2) {
		try {
			const expression =
				new RegExp(query.slice(1).replace(/\/$/, ""), "i");
			return (text) => expression.test(text);
		} catch (error) {
			return null;
		}
	}
	const low = query.toLowerCase();
	return (text) => text.toLowerCase().includes(low);
}

let matches = []; // outermost frames that match, heaviest first

function search() {
	const said = byId("matched");
	const test = state.query === "" ? null : matcher(state.query);
	matches = [];
	isMatch = null;
	said.value = "";
	if (state.query === "") {
		return;
	}
	if (test === null) {
		said.value = "no regular expression";
		return;
	}
	isMatch = new Uint8Array(names.length);
	const libraries = data.modules.map((path) => test(path));
	for (let i = 0; i < names.length; i++) {
		const module = data.functions.module[i];
		isMatch[i] = test(names[i]) || (module >= 0 && libraries[module]);
	}
	let sum = 0;
	const covered = new Uint8Array(nodeCount + 1);
	for (let i = 0; i < nodeCount; i++) {
		covered[i] = covered[nodeParent[i]];
		if (covered[i] === 0 && isMatch[nodeFunction[i]] &&
			total[i] > 0) {
			covered[i] = 1;
			if (isWithin(i, state.zoom) || isWithin(state.zoom, i)) {
				sum += Math.min(total[i], total[state.zoom]);
				matches.push(i);
			}
		}
	}
	matches.sort((a, b) => total[b] - total[a] || a - b);
	said.value = sum === 0 ? "no match"
		: `${percent(sum, total[state.zoom])}, ${time(sum)}`;
}

function nextMatch(step) {
	if (matches.length === 0) {
		return;
	}
	const now = matches.indexOf(state.at);
	const next = now < 0 ? (step > 0 ? 0 : matches.length - 1)
		: (now + step + matches.length) % matches.length;
	if (!isWithin(matches[next], state.zoom)) {
		zoomTo(ROOT);
	}
	moveTo(matches[next]);
}

// --- drawing ----------------------------------------------------------------

const canvas = byId("canvas");
const graph = byId("graph");
const pen = canvas.getContext("2d", {alpha: false});
const dark = matchMedia("(prefers-color-scheme: dark)");
const still = matchMedia("(prefers-reduced-motion: reduce)");
const window_ = {from: 0, to: 1, depth: 1}; // what is shown: of time, and rows
let colours = {};
let palette = []; // by activity, then by module's shade

function readColours() {
	const style = getComputedStyle(document.documentElement);
	for (const name of ["ink", "soft", "rule", "paper", "raised", "accent",
		"match"]) {
		colours[name] = style.getPropertyValue(`--${name}`).trim();
	}
	// Warm runs, violet waits, blue is blocked: they differ in lightness, too.
	const hues = [[14, 52], [262, 290], [200, 226]];
	const light = dark.matches ? [[58, 33], [42, 36], [52, 30]]
		: [[92, 72], [75, 82], [72, 74]];
	palette = hues.map(([from, to], activity) =>
		Array.from({length: 16}, (_, i) => {
			const [full, bright] = light[activity];
			const hue = from + ((to - from) * i) / 15;
			return `hsl(${hue} ${full}% ${bright + ((i * 7) % 5) - 2}%)`;
		}));
}

// Functions of one library have colours that are near each other.
const shades = new Uint8Array(names.length);
function shade() {
	const hash = (text) => {
		let sum = 7;
		for (let i = 0; i < text.length; i++) {
			sum = (Math.imul(sum, 31) + text.charCodeAt(i)) >>> 0;
		}
		return sum;
	};
	const modules = data.modules.map((path) => hash(baseName(path)) % 12);
	for (let i = 0; i < names.length; i++) {
		const module = data.functions.module[i];
		shades[i] = (module < 0 ? 0 : modules[module]) +
			(hash(names[i]) >>> 3) % 4;
	}
}

function rowCount() {
	// The deepest frame that is drawn at all.
	const scale = canvas.clientWidth / (window_.to - window_.from || 1);
	let deepest = nodeDepth[state.zoom];
	const stack = [state.zoom];
	while (stack.length > 0) {
		const node = stack.pop();
		deepest = Math.max(deepest, nodeDepth[node]);
		for (let i = kidsBegin[node]; i < kidsBegin[node + 1]; i++) {
			if (total[kids[i]] * scale < THINNEST) {
				break;
			}
			stack.push(kids[i]);
		}
	}
	return deepest + 1;
}

let rowsShown = 1;

function fit() {
	const zoomed = {from: start[state.zoom],
		to: start[state.zoom] + total[state.zoom]};
	const ratio = devicePixelRatio || 1;
	const width = graph.clientWidth;
	Object.assign(window_, zoomed);
	rowsShown = rowCount();
	const whole = rowsShown * ROW_HEIGHT + 2;
	graph.style.height = `${Math.max(whole, 12 * ROW_HEIGHT) + 2}px`;
	const height = graph.clientHeight;
	canvas.style.height = `${height}px`;
	byId("room").style.height = `${Math.max(0, whole - height)}px`;
	if (canvas.width !== Math.round(width * ratio) ||
		canvas.height !== Math.round(height * ratio)) {
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
	}
	draw();
}

function rowTop(depth) {
	const y = state.flipped
		? Math.max(rowsShown * ROW_HEIGHT, graph.clientHeight - 2) -
			(depth + 1) * ROW_HEIGHT
		: depth * ROW_HEIGHT;
	return y - graph.scrollTop;
}

function fill(node, x, y, width, isDim) {
	const kind = node === ROOT ? 0 : shades[nodeFunction[node]];
	let at = x;
	pen.globalAlpha = isDim ? 0.35 : 1;
	for (let k = 0; k < 3; k++) {
		const part = (width * times[k][node]) / (total[node] || 1);
		if (part > 0) {
			pen.fillStyle = palette[k][node === ROOT ? 4 : kind];
			pen.fillRect(at, y, part, ROW_HEIGHT - 1);
			at += part;
		}
	}
	pen.globalAlpha = 1;
}

// A name that is cut says so; one character would say nothing.
const widths = new Map();
function label(text, x, y, width) {
	const room = width - 8;
	if (room < 14) {
		return;
	}
	let full = widths.get(text);
	if (full === undefined) {
		full = pen.measureText(text).width;
		widths.set(text, full);
	}
	if (full > room) {
		let keep = Math.floor((text.length * room) / full);
		while (keep >= 2 &&
			pen.measureText(`${text.slice(0, keep)}…`).width > room) {
			keep--;
		}
		if (keep < 2) {
			return;
		}
		text = `${text.slice(0, keep)}…`;
	}
	pen.fillText(text, x + 4, y + ROW_HEIGHT / 2);
}

function drawFrame(node, x, y, width) {
	const dim = isMatch !== null &&
		(node === ROOT || !isMatch[nodeFunction[node]]);
	fill(node, x, y, Math.max(width - (width > 3 ? 1 : 0), THINNEST), dim);
	if (isMatch !== null && !dim) {
		pen.fillStyle = colours.match;
		pen.fillRect(x, y + ROW_HEIGHT - 4, Math.max(width - 1, 1), 3);
	}
	if (width > 22) {
		pen.fillStyle = dim ? colours.soft : colours.ink;
		label(nameOf(node), Math.max(x, 0), y,
			Math.min(x + width, canvas.clientWidth) - Math.max(x, 0));
	}
}

function draw() {
	const ratio = devicePixelRatio || 1;
	const width = canvas.clientWidth;
	const height = canvas.clientHeight;
	const scale = width / (window_.to - window_.from || 1);
	pen.setTransform(ratio, 0, 0, ratio, 0, 0);
	pen.fillStyle = colours.raised;
	pen.fillRect(0, 0, width, height);
	pen.font = "12px system-ui, -apple-system, sans-serif";
	pen.textBaseline = "middle";
	for (const node of pathOf(nodeParent[state.zoom])) {
		drawFrame(node, 0, rowTop(nodeDepth[node]), width);
	}
	const stack = total[state.zoom] > 0 ? [state.zoom] : [];
	while (stack.length > 0) {
		const node = stack.pop();
		const x = (start[node] - window_.from) * scale;
		const y = rowTop(nodeDepth[node]);
		if (x > width || x + total[node] * scale < 0) {
			continue;
		}
		if (y > -ROW_HEIGHT && y < height) {
			drawFrame(node, x, y, total[node] * scale);
		}
		if (state.flipped ? y < -ROW_HEIGHT : y > height) {
			continue;
		}
		drawKids(node, scale, stack);
	}
	if (state.at !== ROOT || document.activeElement === canvas) {
		drawRing(scale, width);
	}
}

// The thin ones are the last of their row: one block stands for them all.
function drawKids(node, scale, stack) {
	const end = kidsBegin[node + 1];
	for (let i = kidsBegin[node]; i < end; i++) {
		if (total[kids[i]] * scale >= THINNEST) {
			stack.push(kids[i]);
			continue;
		}
		let rest = 0;
		for (let k = i; k < end && total[kids[k]] > 0; k++) {
			rest += total[kids[k]];
		}
		if (rest * scale >= THINNEST) {
			pen.fillStyle = colours.rule;
			pen.fillRect((start[kids[i]] - window_.from) * scale,
				rowTop(nodeDepth[node] + 1), rest * scale,
				ROW_HEIGHT - 1);
		}
		return;
	}
}

function drawRing(scale, width) {
	const node = state.at;
	const isAbove = isWithin(state.zoom, node);
	if (!isAbove && !isWithin(node, state.zoom)) {
		return;
	}
	const x = isAbove ? 0 : (start[node] - window_.from) * scale;
	const wide = isAbove ? width : Math.max(total[node] * scale, 3);
	pen.lineWidth = 2;
	pen.strokeStyle = colours.accent;
	pen.strokeRect(x + 1, rowTop(nodeDepth[node]) + 1,
		Math.max(wide - 3, 1), ROW_HEIGHT - 3);
}

// --- moving -----------------------------------------------------------------

let moving = 0;

function zoomTo(node) {
	const from = {...window_};
	const began = performance.now();
	state.zoom = node;
	if (!isWithin(state.at, node)) {
		state.at = node;
	}
	remember();
	search();
	showPath();
	fit();
	listed = null;
	showListSoon();
	if (still.matches || document.hidden) {
		return;
	}
	const to = {from: window_.from, to: window_.to};
	const turn = ++moving;
	const step = (now) => {
		const part = Math.min(1, Math.max(0, (now - began) / 160));
		const eased = 1 - (1 - part) ** 3;
		if (turn !== moving) {
			return;
		}
		window_.from = from.from + (to.from - from.from) * eased;
		window_.to = from.to + (to.to - from.to) * eased;
		draw();
		if (part < 1) {
			requestAnimationFrame(step);
		}
	};
	requestAnimationFrame(step);
}

function moveTo(node) {
	state.at = node;
	const y = rowTop(nodeDepth[node]);
	if (y < 0) {
		graph.scrollTop += y;
	} else if (y + ROW_HEIGHT > graph.clientHeight) {
		graph.scrollTop += y + ROW_HEIGHT - graph.clientHeight;
	}
	draw();
	showFrame(node);
	byId("said").textContent = saidOf(node);
}

function saidOf(node) {
	return `${nameOf(node)}, ` +
		`${time(total[node])}, ${percent(total[node], total[ROOT])} of all` +
		`${moduleOf(node) ? `, ${baseName(moduleOf(node))}` : ""}, ` +
		`depth ${nodeDepth[node]}`;
}

function isWide(node) {
	return total[node] * canvas.clientWidth >=
		THINNEST * total[state.zoom] && total[node] > 0;
}

// The next frame of that row, also where another one called it.
function beside(node, step) {
	const depth = nodeDepth[node];
	const found = [];
	const stack = [state.zoom];
	while (stack.length > 0) {
		const one = stack.pop();
		if (nodeDepth[one] === depth) {
			found.push(one);
			continue;
		}
		for (let i = kidsBegin[one + 1]; i-- > kidsBegin[one];) {
			if (isWide(kids[i])) {
				stack.push(kids[i]);
			}
		}
	}
	const next = found[found.indexOf(node) + step];
	return next === undefined ? node : next;
}

function inward(node) {
	const first = kids[kidsBegin[node]];
	if (kidsBegin[node] === kidsBegin[node + 1] || total[first] === 0) {
		return node;
	}
	return first;
}

// Below the zoomed frame there is one way out to each caller, and in again.
function towardLeaf(node) {
	if (node !== state.zoom && isWithin(state.zoom, node)) {
		return pathOf(state.zoom)[nodeDepth[node] + 1];
	}
	return inward(node);
}

function towardRoot(node) {
	return nodeParent[node] === -1 ? node : nodeParent[node];
}

function onKey(event) {
	if (event.ctrlKey || event.metaKey || event.altKey) {
		return;
	}
	const up = state.flipped ? towardLeaf : towardRoot;
	const down = state.flipped ? towardRoot : towardLeaf;
	const keys = {
		ArrowLeft: () => moveTo(beside(state.at, -1)),
		ArrowRight: () => moveTo(beside(state.at, 1)),
		ArrowUp: () => moveTo(up(state.at)),
		ArrowDown: () => moveTo(down(state.at)),
		Home: () => {
			zoomTo(ROOT);
			moveTo(ROOT);
		},
		Enter: () => {
			zoomTo(state.at);
			moveTo(state.at);
		},
		" ": () => zoomTo(state.at),
		Backspace: () => zoomTo(towardRoot(state.zoom)),
	};
	if (event.key in keys) {
		event.preventDefault();
		keys[event.key]();
	}
}

function onKeyAnywhere(event) {
	const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
	if (event.key === "Escape" && !byId("help").open) {
		if (state.zoom !== ROOT) {
			zoomTo(ROOT);
		} else if (state.query !== "") {
			byId("search").value = "";
			onSearch();
		}
		return;
	}
	if (typing || event.ctrlKey || event.metaKey || event.altKey) {
		return;
	}
	const keys = {
		"/": () => byId("search").focus(),
		"?": () => byId("help").showModal(),
		"1": () => setView(0),
		"2": () => setView(1),
		"3": () => setView(2),
		f: () => flip(),
		i: () => invert(),
		"0": () => reset(),
		n: () => nextMatch(1),
		N: () => nextMatch(-1),
		t: () => byId("thread").focus(),
	};
	if (event.key in keys && !byId("help").open) {
		event.preventDefault();
		keys[event.key]();
	}
}

function nodeUnder(event) {
	const box = canvas.getBoundingClientRect();
	const y = event.clientY - box.top;
	const depth = state.flipped
		? Math.floor((rowTop(0) + ROW_HEIGHT - y) / ROW_HEIGHT)
		: Math.floor((y + graph.scrollTop) / ROW_HEIGHT);
	const x = (event.clientX - box.left) / canvas.clientWidth;
	if (depth < 0) {
		return -1;
	}
	if (depth <= nodeDepth[state.zoom]) {
		return pathOf(state.zoom)[depth];
	}
	return nodeAt(window_.from + x * (window_.to - window_.from), depth);
}

function tipOf(node) {
	const shares = [`${time(total[node])}, ` +
		`${percent(total[node], total[ROOT])}`];
	if (state.zoom !== ROOT && isWithin(node, state.zoom)) {
		shares.push(`${percent(total[node], total[state.zoom])} of zoom`);
	}
	if (own[node] > 0 && !state.inverted) {
		shares.push(`itself ${time(own[node])}`);
	}
	if (moduleOf(node) !== "") {
		shares.push(baseName(moduleOf(node)));
	}
	return [element("b", {}, nameOf(node)),
		element("span", {}, shares.join(" · "))];
}

function onPointer(event) {
	const tip = byId("tip");
	const node = nodeUnder(event);
	if (node < 0 || event.pointerType === "touch") {
		tip.hidden = true;
		return;
	}
	tip.replaceChildren(...tipOf(node));
	tip.hidden = false;
	const room = tip.getBoundingClientRect();
	const x = Math.min(event.clientX + 14, innerWidth - room.width - 8);
	const y = event.clientY + 18 + room.height > innerHeight
		? event.clientY - room.height - 10 : event.clientY + 18;
	tip.style.left = `${Math.max(4, x)}px`;
	tip.style.top = `${y}px`;
}

// --- around the graph -------------------------------------------------------

function chosenName() {
	const select = byId("thread");
	return select.selectedIndex <= 0 ? "all threads"
		: select.options[select.selectedIndex].dataset.name;
}

function showPath() {
	const path = byId("path");
	const nodes = pathOf(state.zoom);
	path.replaceChildren();
	if (nodes.length === 1) {
		path.append("Click a frame, or press Enter on it, to zoom in.");
		return;
	}
	const shown = nodes.length > 8
		? [nodes[0], ...nodes.slice(nodes.length - 7)] : nodes;
	for (const node of shown) {
		path.append(element("button", {type: "button",
			title: nameOf(node), onclick: () => zoomTo(node)},
		nameOf(node)));
	}
}

function pair(list, term, text) {
	list.append(element("dt", {}, term), element("dd", {}, text));
}

function splitOf(parts, whole) {
	const split = element("div", {className: "split"});
	for (const [k, name] of ["on", "wait", "off"].entries()) {
		if (parts[k] > 0) {
			split.append(element("i", {className: name,
				style: `width:${(100 * parts[k]) / whole}%`}));
		}
	}
	return split;
}

function showFrame(node) {
	const box = byId("frame");
	const list = element("dl");
	const parts = times.map((one) => one[node]);
	const of = nodeFunction[node];
	box.replaceChildren(element("p", {className: "title"}, nameOf(node)),
		splitOf(parts, total[node] || 1));
	pair(list, "in all", `${time(total[node])} · ` +
		`${percent(total[node], total[ROOT])}`);
	if (state.zoom !== ROOT && isWithin(node, state.zoom)) {
		pair(list, "of zoom", percent(total[node], total[state.zoom]));
	}
	if (!state.inverted || nodeDepth[node] === 1) {
		pair(list, "itself", `${time(own[node])} · ` +
			`${percent(own[node], total[ROOT])}`);
	}
	for (const [k, term] of ["on a CPU", "waiting", "blocked"].entries()) {
		if (parts[k] > 0) {
			pair(list, term, `${time(parts[k])} · ` +
				`${percent(parts[k], total[node])}`);
		}
	}
	pair(list, "samples", String(samples[node]));
	if (moduleOf(node) !== "") {
		pair(list, "library", moduleOf(node));
	}
	if (of >= 0 && data.functions.file[of] !== "") {
		const line = data.functions.line[of];
		pair(list, "source", data.functions.file[of] +
			(line > 0 ? `:${line}` : ""));
	}
	box.append(list);
}

// --- the table --------------------------------------------------------------

// Sums by function or by library; what is on a stack twice counts once. Keys
// are small numbers, -1 for none.
function sums(keyOf, count) {
	const selfOf = new Float64Array(count);
	const allOf = new Float64Array(count);
	const open = new Uint32Array(count); // on the stack at hand
	const seen = new Uint8Array(count);
	const enter = (node, weight, self) => {
		const key = keyOf(node);
		if (key >= 0) {
			if (open[key]++ === 0) {
				allOf[key] += weight;
				seen[key] = 1;
			}
			selfOf[key] += self;
		}
	};
	for (const node of pathOf(nodeParent[state.zoom])) {
		const isLeaf = state.inverted && nodeDepth[node] === 1;
		enter(node, total[state.zoom], isLeaf ? total[state.zoom] : 0);
	}
	// Down to the first kid that has time and is not done, else up.
	const next = kidsBegin.slice();
	let node = state.zoom;
	enter(node, total[node], own[node]);
	for (;;) {
		const place = next[node]++;
		if (place < kidsBegin[node + 1] && total[kids[place]] > 0) {
			node = kids[place];
			enter(node, total[node], own[node]);
			continue;
		}
		if (keyOf(node) >= 0) {
			open[keyOf(node)]--;
		}
		if (node === state.zoom) {
			break;
		}
		node = nodeParent[node];
	}
	const rows = [];
	for (let key = 0; key < count; key++) {
		if (seen[key] !== 0) {
			rows.push({key, self: selfOf[key], total: allOf[key]});
		}
	}
	return rows;
}

// What comes first by an order, in order, without sorting the others.
function firstOf(rows, count, compare) {
	if (count >= rows.length) {
		return rows.slice().sort(compare);
	}
	const found = [];
	for (const row of rows) {
		if (found.length === count &&
			compare(found[count - 1], row) <= 0) {
			continue;
		}
		let at = found.length;
		while (at > 0 && compare(found[at - 1], row) > 0) {
			at--;
		}
		found.splice(at, 0, row);
		found.length = Math.min(found.length, count);
	}
	return found;
}

// One number for each path, however many libraries have it.
const paths = [...new Set(data.modules)];
const numberOfPath = new Map(paths.map((path, i) => [path, i]));
const pathOfModule = data.modules.map((path) => numberOfPath.get(path));

const KINDS = [
	{word: "function", name: "Functions", names,
		key: (node) => nodeFunction[node]},
	{word: "library", name: "Libraries", names: paths,
		key: (node) => {
			const module = node === ROOT ? -1
				: data.functions.module[nodeFunction[node]];
			return module < 0 || data.modules[module] === "" ? -1
				: pathOfModule[module];
		}},
];

// The errors of shares that the library made: of everything in a view alone.
function errorsOf() {
	const found = new Map();
	if (state.kind !== "function" || state.threads !== null ||
		state.zoom !== ROOT) {
		return found;
	}
	const rows = data.errors[VIEWS[state.view].word];
	rows.function.forEach((of, i) =>
		found.set(of, {self: rows.self[i], total: rows.total[i]}));
	return found;
}

function shareCell(value, whole, error) {
	const cell = element("td", {className: "n"}, time(value));
	cell.dataset.ns = String(value);
	const share = element("td", {className: "n"}, percent(value, whole));
	if (error > 0) {
		share.append(" ", element("small", {title: "standard error"},
			`± ${(100 * error).toFixed(error < 0.001 ? 2 : 1)}`));
	}
	share.append(element("span", {className: "share",
		style: `width:${whole > 0 ? (100 * value) / whole : 0}%`}));
	return [cell, share];
}

function showRow(row, isFunction, errors) {
	const name = isFunction ? names[row.key] : paths[row.key];
	const module = isFunction ? data.functions.module[row.key] : -1;
	const error = errors.get(row.key) || {};
	const made = element("tr", {},
		element("td", {className: "name"}, element("button", {
			type: "button", title: "Search it",
			onclick: () => {
				byId("search").value = name;
				onSearch();
				nextMatch(1);
			}}, isFunction ? name : baseName(name))),
		element("td", {className: "lib"}, isFunction
			? module < 0 ? "" : baseName(data.modules[module]) : name),
		...shareCell(row.self, total[state.zoom], error.self),
		...shareCell(row.total, total[state.zoom], error.total));
	made.dataset.key = name;
	made.dataset.at = isFunction ? String(row.key) : name;
	if (isFunction && isMatch !== null && isMatch[row.key]) {
		made.className = "hit";
	}
	return made;
}

let listed = null; // the sums of what is shown, until it changes
let soon = 0;

function showListSoon() {
	clearTimeout(soon);
	soon = setTimeout(showList, 0);
}

function showList() {
	const kind = KINDS.find((one) => one.word === state.kind);
	const isFunction = state.kind === "function";
	const rows = listed || sums(kind.key, kind.names.length);
	const errors = errorsOf();
	const body = byId("list").tBodies[0];
	const other = state.order === "self" ? "total" : "self";
	listed = rows;
	const shown = firstOf(rows, state.whole ? rows.length : LIST_FIRST,
		(a, b) => b[state.order] - a[state.order] ||
			b[other] - a[other] ||
			(kind.names[a.key] < kind.names[b.key] ? -1 : 1));
	const head = (word, name) => element("th", {className: "n", scope: "col",
		colSpan: 2, "aria-sort":
			state.order === word ? "descending" : "none"},
	element("button", {type: "button", onclick: () => {
		state.order = word;
		remember();
		showList();
	}}, name));
	byId("list").tHead.replaceChildren(element("tr", {},
		element("th", {scope: "col"}, isFunction ? "Function" : "Library"),
		element("th", {scope: "col"}, isFunction ? "Library" : "Path"),
		head("self", "Itself"), head("total", "With what it called")));
	body.replaceChildren(...shown.map((row) =>
		showRow(row, isFunction, errors)));
	byId("more").hidden = shown.length === rows.length;
	byId("more").textContent = `Show all ${rows.length}`;
}

// --- choices ----------------------------------------------------------------

function radios(id, rows, chosen, choose) {
	const group = byId(id);
	group.replaceChildren(...rows.map((row, i) => {
		const button = element("button", {type: "button", role: "radio",
			"aria-checked": String(i === chosen),
			tabIndex: i === chosen ? 0 : -1,
			onclick: () => choose(i)}, row.name);
		if (row.note) {
			button.append(element("small", {}, row.note));
		}
		button.addEventListener("keydown", (event) => {
			const step = {ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1,
				ArrowDown: 1}[event.key];
			if (step !== undefined) {
				event.preventDefault();
				choose((i + step + rows.length) % rows.length);
				group.querySelector('[aria-checked="true"]').focus();
			}
		});
		return button;
	}));
}

function timeOf(view) {
	let sum = 0;
	const rows = data.rows;
	for (let i = 0; i < rows.node.length; i++) {
		if (VIEWS[view].activities.includes(rows.activity[i] - 1) &&
			isChosen(rows.thread[i])) {
			sum += rows.weight_ns[i];
		}
	}
	return sum;
}

function showViews() {
	radios("views", VIEWS.map((one, i) =>
		({name: one.name, note: time(timeOf(i))})), state.view, setView);
}

function showKinds() {
	radios("kinds", KINDS, KINDS.findIndex((one) =>
		one.word === state.kind), (i) => {
		state.kind = KINDS[i].word;
		remember();
		listed = null;
		showKinds();
		showList();
	});
}

function setView(view) {
	state.view = view;
	refresh();
}

// All, then threads of one name together, then each.
function showThreads() {
	const select = byId("thread");
	const wanted = VIEWS[state.view].activities;
	const weights = data.threads.map(() => 0);
	data.rows.node.forEach((_, i) => {
		if (wanted.includes(data.rows.activity[i] - 1)) {
			weights[data.rows.thread[i]] += data.rows.weight_ns[i];
		}
	});
	const option = (value, name, weight) => {
		const made = element("option", {value},
			`${name}  ·  ${time(weight)}`);
		made.dataset.name = name;
		return made;
	};
	const groups = new Map();
	data.threads.forEach((thread, i) => {
		const group = groups.get(thread.name) || [];
		group.push(i);
		groups.set(thread.name, group);
	});
	const sum = (list) => list.reduce((all, i) => all + weights[i], 0);
	const many = [...groups].filter(([, list]) => list.length > 1);
	const one = data.threads.map((_, i) => i);
	many.sort((a, b) => sum(b[1]) - sum(a[1]));
	one.sort((a, b) => weights[b] - weights[a] || a - b);
	select.replaceChildren(option("all", one.length === 1 ? "1 thread"
		: `all ${one.length} threads`, sum(one)));
	select.append(...many.map(([name, list]) => option(
		`name:${name}`, `${name} (${list.length} threads)`, sum(list))));
	select.append(...one.map((i) => option(`one:${i}`,
		threadName(i), weights[i])));
	select.value = state.thread;
}

function threadName(i) {
	const thread = data.threads[i];
	const program = data.programs.length > 1
		? ` of ${data.programs[thread.program].name}` : "";
	return `${thread.name}${thread.name === "" ? "" : " "}${thread.tid}` +
		program;
}

// What there is not is all of them.
function chooseThread(value) {
	const all = data.threads.map((_, i) => i);
	const some = all.filter((i) => value === `one:${i}` ||
		value === `name:${data.threads[i].name}`);
	state.thread = some.length > 0 ? value : "all";
	state.threads = some.length > 0 ? new Set(some) : null;
}

function onThread() {
	chooseThread(byId("thread").value);
	refresh();
}

function onSearch() {
	state.query = byId("search").value.trim();
	remember();
	search();
	draw();
	showListSoon();
}

function showFlipped() {
	byId("flip").setAttribute("aria-pressed", String(state.flipped));
	byId("invert").setAttribute("aria-pressed", String(state.inverted));
}

function flip() {
	state.flipped = !state.flipped;
	showFlipped();
	remember();
	fit();
	graph.scrollTop = state.flipped ? graph.scrollHeight : 0;
	draw();
}

function setInverted(inverted) {
	if (inverted && ofCallers === null) {
		ofCallers = turnOver();
	}
	state.inverted = inverted;
	use(inverted ? ofCallers : ofCalls);
	state.zoom = state.at = ROOT;
	showFlipped();
}

// The function at hand stays at hand, where it has time itself.
function invert() {
	const of = nodeFunction[state.at];
	setInverted(!state.inverted);
	refresh();
	for (let i = kidsBegin[ROOT]; state.inverted && i < kidsBegin[ROOT + 1];
		i++) {
		if (nodeFunction[kids[i]] === of && total[kids[i]] > 0) {
			moveTo(kids[i]);
		}
	}
}

function reset() {
	byId("search").value = state.query = "";
	chooseThread("all");
	setInverted(false);
	state.zoom = state.at = ROOT;
	refresh();
}

// --- the address ------------------------------------------------------------

// What is shown stands in the address, so that a link to it can be kept: a
// frame by the numbers of the functions that lead to it.
function remember() {
	const told = new URLSearchParams();
	const tell = (key, value, usual) => {
		if (value !== usual) {
			told.set(key, value);
		}
	};
	tell("view", VIEWS[state.view].word, data.view);
	tell("thread", state.thread, "all");
	tell("search", state.query, "");
	tell("rows", state.kind, "function");
	tell("order", state.order, "self");
	tell("invert", state.inverted ? 1 : 0, 0);
	tell("flip", state.flipped ? 1 : 0, 0);
	tell("zoom", pathOf(state.zoom).slice(1)
		.map((node) => nodeFunction[node]).join("."), "");
	try {
		history.replaceState(null, "", `#${told}`);
	} catch (error) {
		// Too often, or not here: nothing but the address is lacking.
	}
}

// An address may have been written by anybody: what is none is left out.
function recall() {
	const told = new URLSearchParams(location.hash.slice(1));
	const view = VIEWS.findIndex((one) => one.word ===
		(told.get("view") || data.view));
	state.view = Math.max(0, view);
	chooseThread(told.get("thread") || "all");
	state.query = byId("search").value = told.get("search") || "";
	state.kind = told.get("rows") === "library" ? "library" : "function";
	state.order = told.get("order") === "total" ? "total" : "self";
	state.flipped = told.get("flip") === "1";
	setInverted(told.get("invert") === "1");
	for (const of of (told.get("zoom") || "").split(".")) {
		const next = kids.subarray(kidsBegin[state.zoom],
			kidsBegin[state.zoom + 1]).find((kid) =>
			String(nodeFunction[kid]) === of);
		if (next === undefined) {
			break;
		}
		state.zoom = state.at = next;
	}
	showKinds();
	refresh();
}

// Another view or other threads: everything is anew. A frame that has nothing
// there any more is left for the nearest caller that has.
function refresh() {
	weigh();
	listed = null;
	while (total[state.zoom] === 0 && state.zoom !== ROOT) {
		state.zoom = nodeParent[state.zoom];
	}
	while ((total[state.at] === 0 || !isWithin(state.at, state.zoom)) &&
		state.at !== ROOT) {
		state.at = nodeParent[state.at];
	}
	remember();
	showViews();
	showThreads();
	search();
	showPath();
	fit();
	showFrame(state.at);
	showList();
}

// --- head and cost ----------------------------------------------------------

function showHead() {
	const about = data.profile;
	const name = `${data.title} ${about.pid}`;
	byId("name").textContent = name;
	const when = new Date(about.start_unix_ns / 1e6);
	const ways = about.tiers.filter((tier) => tier.used)
		.map((tier) => tier.name);
	byId("facts").textContent = `${time(about.duration_ns)} from ` +
		`${when.toISOString().replace("T", " ").replace(/\..*/, " UTC")}, ` +
		`${about.hz_effective} samples a second` +
		`${ways.length > 0 ? `, by ${ways.join(" and ")}` : ""}, ` +
		`${counted(data.threads.length, "thread")} · ${data.generator}`;
	byId("lacks").append(...about.lacks.map((text) =>
		element("li", {}, text)));
	for (const [name_, text] of [["on", "on a CPU"],
		["wait", "waiting for a CPU"], ["off", "blocked"],
		["match", "found"]]) {
		byId("legend").append(element("li", {},
			element("i", {className: name_}), text));
	}
	byId("legend").append(element("li", {},
		"a frame is as wide as the time in it, and coloured in parts"));
}

function figure(name) {
	const row = data.figures.find((one) => one.name === name);
	const value = data.metrics[name];
	if (value === null) {
		return `- (${(data.metrics.unavailable[name] || {}).reason ||
			"not known"})`;
	}
	return {ns: time, bytes}[row.unit] ? {ns: time, bytes}[row.unit](value)
		: Number.isInteger(value) ? String(value) : value.toFixed(3);
}

function costBox(title, rows) {
	const list = element("dl");
	for (const name of rows) {
		const row = data.figures.find((one) => one.name === name);
		if (row !== undefined) {
			const term = element("dt", {}, name.replace(/_ns$|_bytes$/, "")
				.replace(/_/g, " "));
			const value = element("dd", {}, figure(name));
			term.title = row.text;
			value.title = row.text;
			list.append(term, value);
		}
	}
	return element("div", {}, element("h3", {}, title), list);
}

function costSentence() {
	const of = data.metrics;
	const share = of.sampler_cpu_ns === null || !of.target_cpu_ns ? ""
		: `, ${percent(of.sampler_cpu_ns, of.target_cpu_ns)} of the ` +
			`${time(of.target_cpu_ns)} that the process used`;
	const stops = of.stops === 0 ? "it never stopped the process"
		: `it stopped threads ${of.stops} times, for ` +
			`${figure("pause_sum_ns")} in all`;
	return `Sampling took ${figure("sampler_cpu_ns")} of CPU time${share}; ` +
		`${stops}.`;
}

function showCost() {
	const cost = ["stops", "signals_sent", "system_calls_disturbed",
		"pause_sum_ns", "pause_longest_ns", "pause_p99_ns",
		"bytes_copied"];
	const ours = ["sampler_cpu_ns", "sampler_memory_bytes", "descriptors",
		"ticks_planned", "ticks_late", "ticks_skipped"];
	const told = new Set([...cost, ...ours, "duration_ns", "clamped",
		"hz_asked", "hz_effective"]);
	const rest = data.figures.map((one) => one.name)
		.filter((name) => !told.has(name));
	const kept = rest.filter((name) => !/^(stacks|failed)_/.test(name));
	const failed = rest.filter((name) => /^(stacks|failed)_/.test(name));
	const ways = element("dl", {className: "text"});
	for (const tier of data.profile.tiers) {
		const why = ((tier.unavailable.works || {}).reason || "")
			.replace(/_/g, " ");
		pair(ways, tier.name, `${tier.used ? "used" : "not used"}` +
			`${why ? ` (${why})` : ""}: ${tier.text}` +
			`${tier.remedy ? `. ${tier.remedy}` : ""}`);
	}
	byId("cost").before(element("p", {}, costSentence()));
	byId("cost").append(costBox("The process", cost), costBox("Us", ours),
		costBox("Samples", kept), costBox("Stacks", failed),
		element("div", {}, element("h3", {}, "Ways to sample"), ways));
}

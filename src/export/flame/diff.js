// diff.js - what the page of a profile does otherwise where it shows what
// changed between two: its functions take the places of those of flame.js.
//
// The two sides stand where a profile has activities, so that the choice of a
// view is that of a side, which frames are as wide as. Colours are verdicts:
// red and blue say that the test is sure, grey that it would have seen a
// change, pale and hatched that it could not. They differ in lightness and
// pattern, too, and each has its word in the legend and at the frame.

const BEFORE = 0;
const AFTER = 1;
const SIDES = ["before", "after"];
let sumOf = [];

VIEWS.splice(0, VIEWS.length,
	{word: "after", name: "After", activities: [AFTER]},
	{word: "before", name: "Before", activities: [BEFORE]});
state.view = 0;

// --- words ------------------------------------------------------------------

const isTime = data.diff.unit === "nanoseconds";
const timeOfNs = time;
time = (value) => (isTime ? timeOfNs(value)
	: `${value} ${data.diff.unit}`);

function signed(part) {
	const value = 100 * part;
	return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(1)} %`;
}

function isMore(row) {
	const key = row.of === "self" ? "self_share" : "total_share";
	return row.after[key] > row.before[key];
}

function kindOf(row) {
	if (row.verdict === "changed") {
		return row.open ? "open" : isMore(row) ? "more" : "less";
	}
	return row.verdict === "same" ? "same" : "few";
}

const WORDS = {
	more: "changed: more",
	less: "changed: less",
	open: "this or another like it changed",
	same: "the same within noise",
	few: "not enough samples",
};

function changeOf(row) {
	if (row.change !== null) {
		return signed(row.change);
	}
	return row.before.total === 0 ? "new" : "-";
}

// The odds' logarithm is what has the error: no end is below -100 %.
function intervalOf(row) {
	if (row.change === null || row.change_error === null ||
		row.change <= -1) {
		return "";
	}
	const ratio = 1 + row.change;
	const by = Math.exp((1.96 * row.change_error) / ratio);
	return `${signed(ratio / by - 1)} to ${signed(ratio * by - 1)}`;
}

function seenFrom(row) {
	return row.detectable === null ? "none would be seen"
		: `seen from ${signed(row.detectable)}`;
}

function sharesOf(node) {
	return SIDES.map((_, side) => percent(sumOf[side][node],
		sumOf[side][ROOT])).join(" → ");
}

function rowOf(node) {
	return node === ROOT ? null : data.diff.functions[nodeFunction[node]];
}

function verdictOf(row) {
	const what = row.of === "self" ? "its own time"
		: "with what it called";
	const interval = intervalOf(row);
	const change = row.change === null && row.before.total > 0 ? ""
		: ` ${changeOf(row)}${interval ? ` (${interval})` : ""}`;
	return `${WORDS[kindOf(row)]}, ${what}:${change || " -"}` +
		`${row.verdict === "changed" ? "" : `; ${seenFrom(row)}`}`;
}

// --- colours ----------------------------------------------------------------

const COLOURS = [
	{more: "hsl(4 84% 66%)", less: "hsl(212 84% 66%)",
		open: "hsl(286 62% 76%)", same: "hsl(210 9% 82%)",
		few: "hsl(210 20% 96%)", line: "hsl(210 9% 76%)"},
	{more: "hsl(4 66% 42%)", less: "hsl(212 68% 42%)",
		open: "hsl(286 36% 40%)", same: "hsl(210 8% 28%)",
		few: "hsl(210 12% 13%)", line: "hsl(210 8% 30%)"},
];

function colourOf(kind) {
	return COLOURS[dark.matches ? 1 : 0][kind];
}

function hatch(x, y, width) {
	pen.save();
	pen.beginPath();
	pen.rect(x, y, width, ROW_HEIGHT - 1);
	pen.clip();
	pen.strokeStyle = colourOf("line");
	pen.lineWidth = 1;
	pen.beginPath();
	const first = Math.max(x, 0) - (Math.max(x, 0) % 8) - ROW_HEIGHT;
	for (let at = first; at < Math.min(x + width, canvas.clientWidth);
		at += 8) {
		pen.moveTo(at, y + ROW_HEIGHT);
		pen.lineTo(at + ROW_HEIGHT, y);
	}
	pen.stroke();
	pen.restore();
}

fill = (node, x, y, width, isDim) => {
	const row = rowOf(node);
	const kind = row === null ? "same" : kindOf(row);
	pen.globalAlpha = isDim ? 0.35 : 1;
	pen.fillStyle = colourOf(kind);
	pen.fillRect(x, y, width, ROW_HEIGHT - 1);
	if ((kind === "few" || kind === "open") && width > 2) {
		hatch(x, y, width);
	}
	pen.globalAlpha = 1;
};

function showLegend() {
	const hatched = (kind) => "background:repeating-linear-gradient(135deg," +
		`${colourOf(kind)} 0 3px,${colourOf("line")} 3px 4px)`;
	byId("legend").replaceChildren(
		...["more", "less", "open", "same", "few"].map((kind) =>
			element("li", {}, element("i", {style:
				kind === "few" || kind === "open" ? hatched(kind)
					: `background:${colourOf(kind)}`}),
			WORDS[kind])),
		element("li", {}, element("i", {className: "match"}), "found"),
		element("li", {}, "a frame is as wide as its time on the side " +
			"chosen above, and coloured by its function's verdict"));
}

// --- at a frame -------------------------------------------------------------

const weighSide = weigh;
weigh = () => {
	weighSide();
	sumOf = SIDES.map(() => new Float64Array(nodeCount + 1));
	leafOf.forEach((node, i) => {
		sumOf[data.rows.activity[i] - 1][node] += data.rows.weight_ns[i];
	});
	for (let i = nodeCount - 1; i >= 0; i--) {
		for (const one of sumOf) {
			one[nodeParent[i]] += one[i];
		}
	}
};

chosenName = () => SIDES[VIEWS[state.view].activities[0]];

tipOf = (node) => {
	const row = rowOf(node);
	const parts = [element("b", {}, nameOf(node)),
		element("span", {}, `here ${sharesOf(node)}` +
			`${moduleOf(node) ? ` · ${moduleOf(node)}` : ""}`)];
	if (row !== null) {
		parts.push(element("div", {}, verdictOf(row)));
	}
	return parts;
};

saidOf = (node) => {
	const row = rowOf(node);
	return `${nameOf(node)}, ${sharesOf(node)} of all, ` +
		`${row === null ? "" : `${verdictOf(row)}, `}` +
		`depth ${nodeDepth[node]}`;
};

showFrame = (node) => {
	const list = element("dl");
	const row = rowOf(node);
	byId("frame").replaceChildren(
		element("p", {className: "title"}, nameOf(node)), list);
	pair(list, "here", sharesOf(node));
	for (const [side, word] of SIDES.entries()) {
		pair(list, word, time(sumOf[side][node]));
	}
	if (row === null) {
		return;
	}
	if (moduleOf(node) !== "") {
		pair(list, "library", moduleOf(node));
	}
	pair(list, "function", WORDS[kindOf(row)]);
	pair(list, "change", `${changeOf(row)} of ` +
		`${row.of === "self" ? "its own time" : "time with what it called"}`);
	if (intervalOf(row) !== "") {
		pair(list, "19 of 20", intervalOf(row));
	}
	if (row.verdict !== "changed") {
		pair(list, "test", seenFrom(row));
	}
	pair(list, "itself", SIDES.map((side) =>
		percent(row[side].self_share, 1)).join(" → "));
	pair(list, "in all", SIDES.map((side) =>
		percent(row[side].total_share, 1)).join(" → "));
	pair(list, "samples", SIDES.map((side) =>
		String(row[side].total_samples)).join(" → "));
};

// --- around the graph -------------------------------------------------------

showThreads = () => {
	byId("thread").closest(".field").hidden = true;
	byId("thread").closest(".field").style.display = "none";
};

const setSide = setView;
setView = (view) => {
	if (view < VIEWS.length) {
		setSide(view);
	}
};

showKinds = () => {
	byId("kinds").hidden = true;
	byId("kinds").style.display = "none";
};

showList = () => {
	const all = data.diff.functions;
	const shown = state.whole ? all : all.slice(0, LIST_FIRST);
	const head = (name) => element("th", {scope: "col",
		className: name === "Function" || name === "Library" ||
			name === "Verdict" ? "" : "n"}, name);
	byId("list").tHead.replaceChildren(element("tr", {},
		...["Verdict", "Function", "Library", "Before", "After", "Change",
			"19 of 20", "Seen from"].map(head)));
	byId("list").tBodies[0].replaceChildren(...shown.map((row, i) => {
		const key = row.of === "self" ? "self_share" : "total_share";
		const cell = (text) => element("td", {className: "n"}, text);
		const made = element("tr", {},
			element("td", {}, element("i", {style: "display:inline-block;" +
				"width:0.7rem;height:0.7rem;border-radius:2px;" +
				`margin-right:0.4rem;background:${colourOf(kindOf(row))}`}),
			WORDS[kindOf(row)]),
			element("td", {className: "name"}, element("button", {
				type: "button", title: "Search it",
				onclick: () => {
					byId("search").value = names[i];
					onSearch();
					nextMatch(1);
				}}, names[i])),
			element("td", {className: "lib"}, data.modules[i]),
			...SIDES.map((side) => cell(percent(row[side][key], 1))),
			cell(changeOf(row)), cell(intervalOf(row)),
			cell(row.detectable === null ? "" : signed(row.detectable)));
		made.dataset.key = names[i];
		made.dataset.verdict = row.verdict;
		return made;
	}));
	byId("more").hidden = shown.length === all.length;
	byId("more").textContent = `Show all ${all.length}`;
};

showHead = () => {
	const diff = data.diff;
	const side = (word, i) => {
		const one = diff[word];
		return `${word} ${data.names[i]}: ${one.samples} samples` +
			`${one.profiles > 1 ? ` of ${one.profiles} profiles` : ""}` +
			`${one.duration_ns === null ? "" : ` in ${timeOfNs(one.duration_ns)}`}` +
			`${one.cpus === null ? "" : `, ${one.cpus.toFixed(2)} CPUs`}`;
	};
	byId("name").textContent = `What changed: ${diff.changed} ` +
		`${diff.changed === 1 ? "function" : "functions"} of ` +
		`${diff.functions.length}`;
	byId("facts").textContent = `${SIDES.map(side).join(" · ")} · ` +
		data.generator;
	byId("list-head").firstChild.textContent = "Functions ";
	byId("views").setAttribute("aria-label", "As wide as");
	for (const one of document.querySelectorAll("#help dl div")) {
		const keys = [...one.querySelectorAll("kbd")]
			.map((key) => key.textContent);
		if (keys.includes("t")) {
			one.remove();
		} else if (keys.includes("3")) {
			one.replaceChildren(element("dt", {}, element("kbd", {}, "1"), " ",
				element("kbd", {}, "2")),
			element("dd", {}, "as wide as after, as before"));
		}
	}
	showLegend();
};

showCost = () => {
	const diff = data.diff;
	const list = element("dl", {className: "text"});
	byId("cost-head").textContent = "How sure this is";
	pair(list, "verdicts", `${diff.changed} changed, ${diff.same} the same ` +
		`within noise, ${diff.not_enough_samples} with not enough samples`);
	pair(list, "any false “changed”",
		`in ${percent(diff.level, 1)} of comparisons, over the ` +
		`${diff.tested_self} functions tested by their own time and the ` +
		`${diff.tested_total} by their total`);
	pair(list, "the same", `a change of ${percent(diff.detect, 1)} would be ` +
		"seen in 9 of 10 comparisons");
	pair(list, "two runs", `${diff.allowance_seen ? "are seen" : "are taken"} ` +
		`to differ by ${percent(diff.allowance, 1)} of a function's time`);
	pair(list, "a change", "is of a function's time by the time of all that " +
		"has not changed");
	if (diff.scale !== null) {
		pair(list, "what has not changed",
			`took ${signed(diff.scale - 1)} CPU time a second`);
	}
	byId("cost").append(element("div", {}, list));
};

dark.addEventListener("change", () => {
	showLegend();
	showList();
});

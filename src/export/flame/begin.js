// begin.js - the end of the page's script: all functions are there, those that
// another page has put in the place of some, too (diff.js). It begins.

// --- begin ------------------------------------------------------------------

readColours();
shade();
showHead();
showCost();
recall();

canvas.addEventListener("keydown", onKey);
document.addEventListener("keydown", onKeyAnywhere);
canvas.addEventListener("pointermove", onPointer);
canvas.addEventListener("pointerleave", () => {
	byId("tip").hidden = true;
});
canvas.addEventListener("click", (event) => {
	const node = nodeUnder(event);
	if (node >= 0) {
		zoomTo(node);
		moveTo(node);
	}
});
canvas.addEventListener("focus", draw);
canvas.addEventListener("blur", draw);
graph.addEventListener("scroll", draw);
byId("thread").addEventListener("change", onThread);
byId("search").addEventListener("input", onSearch);
byId("search").addEventListener("keydown", (event) => {
	if (event.key === "Enter") {
		nextMatch(event.shiftKey ? -1 : 1);
	}
});
byId("flip").addEventListener("click", flip);
byId("invert").addEventListener("click", invert);
byId("reset").addEventListener("click", reset);
addEventListener("hashchange", recall);
byId("keys").addEventListener("click", () => byId("help").showModal());
byId("more").addEventListener("click", () => {
	state.whole = true;
	showList();
});
addEventListener("resize", fit);
dark.addEventListener("change", () => {
	readColours();
	draw();
});

#!/usr/bin/env python3
"""diff_opened.py NAME... - does the page of plim profile diff -o, NAME.html, say
in a headless browser what the JSON of the same comparison, NAME.json, says?
Prints the verdicts that it saw.

Every function has its time on both sides, summed over the graph's frames. Each
frame that is wide enough has the colour of its function's verdict, worked out
here from the JSON: red for more, blue for less, grey for the same, and a
pattern where there are not enough samples, in light and in dark, whichever side
it is as wide as. What is said of a frame has its shares, its change and its
verdict.
"""
import json
import os
import sys

import browser
from profile_check import expect, give_up

WORDS = {"more": "changed: more", "less": "changed: less",
         "open": "this or another", "same": "the same within noise",
         "few": "not enough samples"}
SUMS = """(() => {
	const sums = data.diff.functions.map(() => [0, 0]);
	for (let i = 0; i < nodeCount; i++) {
		const kids = nodeParent.reduce((all, parent, kid) =>
			parent === i ? [...all, kid] : all, []);
		for (const side of [0, 1]) {
			sums[nodeFunction[i]][side] += sumOf[side][i] -
				kids.reduce((all, kid) => all + sumOf[side][kid], 0);
		}
	}
	return sums;
})()"""
# Colours along the upper edge of each wide frame, where no text is.
FRAMES = """(() => {
	const scale = canvas.clientWidth / (window_.to - window_.from);
	const found = [];
	for (let i = 0; i < nodeCount; i++) {
		const width = Math.floor(total[i] * scale) - 2;
		if (width >= 24) {
			const pixels = pen.getImageData(Math.ceil(start[i] * scale),
				rowTop(nodeDepth[i]) + 1, width, 1).data;
			const all = [];
			for (let k = 0; k < pixels.length; k += 4) {
				all.push([...pixels.slice(k, k + 3)]);
			}
			found.push([nodeFunction[i], all,
				tipOf(i).map((one) => one.textContent).join("\\n")]);
		}
	}
	return found;
})()"""


def kind_of(row):
    if row["verdict"] != "changed":
        return "same" if row["verdict"] == "same" else "few"
    if row["open"]:
        return "open"
    key = f'{row["of"]}_share'
    return "more" if row["after"][key] > row["before"][key] else "less"


def colour_is(kind, pixels):
    differ = len({tuple(one) for one in pixels}) > 1
    red, green, blue = pixels[len(pixels) // 2]
    if kind in ("few", "open"):
        return differ
    if differ:
        return False
    if kind == "same":
        return max(red, green, blue) - min(red, green, blue) < 24
    more, less = (red, blue) if kind == "more" else (blue, red)
    return more > less + 80 and more > green + 40


def check(page, diff):
    rows = diff["functions"]
    for place, row in enumerate(page.evaluate(SUMS)):
        wanted = [rows[place][side]["self"] for side in ("before", "after")]
        expect(row == wanted, f'{rows[place]["name"]}: {row}, not {wanted}')
    seen = set()
    for dark in False, True:
        page.size(1280, 900, dark)
        for side in "after", "before":
            page.evaluate(f"setView({0 if side == 'after' else 1})")
            expect(page.evaluate("VIEWS[state.view].word") == side,
                   "another side")
            for place, pixels, tip in page.evaluate(FRAMES):
                row = rows[place]
                kind = kind_of(row)
                seen.add(kind)
                expect(colour_is(kind, pixels),
                       f'{row["name"]}, {kind}: {pixels[:4]}')
                change = row["change"]
                sign = "" if change is None or change <= -1 else \
                    f'{"−" if change < 0 else "+"}{abs(change) * 100:.1f} %'
                expect(WORDS[kind] in tip and sign in tip and " → " in tip,
                       f'{row["name"]}: {tip}')
    listed = page.evaluate(
        "byId('more').hidden || byId('more').click();"
        "[...byId('list').tBodies[0].rows].map((row) => row.dataset.verdict)")
    expect(listed == [row["verdict"] for row in rows], f"{listed}")
    return seen


def opened(page, name):
    with open(f"{name}.json", encoding="utf-8") as file:
        diff = json.load(file)["diff"]
    page.size(1280, 900)
    page.open(f"file://{os.path.abspath(name)}.html")
    seen = check(page, diff)
    for key in "12?":
        page.evaluate("document.body.dispatchEvent(new KeyboardEvent("
                      f"'keydown', {{key: '{key}', bubbles: true}}))")
    print(f"{name}:", *sorted(seen))


def main():
    with browser.Browser() as page:
        try:
            for name in sys.argv[1:]:
                opened(page, name)
        except browser.Failed as failed:
            give_up("\n".join([str(failed), *page.wrong()]))
        wrong = page.wrong()
    expect(not wrong, "\n".join(wrong))


main()

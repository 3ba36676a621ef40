#!/usr/bin/env python3
"""profile_opened.py JSON FILE - opens the page of a flame graph in a headless
Chromium without a network, uses it as people do, by the keyboard, too, and
compares its tables, of each thread in each view, with the times of the JSON.
"""
import collections
import json
import os
import sys

import browser
from profile_check import expect, give_up, name_of, of_json, same


# --- the page ----------------------------------------------------------------

ROWS = """
[...document.querySelectorAll("#list tbody tr")].map((row) => [
    row.dataset.key,
    ...[...row.querySelectorAll("[data-ns]")].map((cell) =>
        Number(cell.dataset.ns)), row.dataset.at])
"""


def press(page, keys):
    for key in keys:
        code = {"Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38,
                "ArrowLeft": 37, "ArrowRight": 39, "Backspace": 8,
                "Home": 36}.get(key, ord(key[0].upper()))
        page.key(key, code, key if len(key) == 1 else "")


def table(page, kind):
    page.evaluate("document.querySelectorAll('#kinds button')"
                  f"[{0 if kind == 'function' else 1}].click()")
    page.evaluate("byId('more').hidden || byId('more').click()")
    return page.evaluate(ROWS)


def of_page(page):
    """The table of each thread, as somebody reads it who chooses them in
    turn."""
    times = collections.Counter()
    options = page.evaluate(
        "[...document.querySelectorAll('#thread option')]"
        ".filter((one) => one.value.startsWith('one:'))"
        ".map((one) => [one.value, one.dataset.name])")
    for value, name in options:
        page.evaluate(f"byId('thread').value = {json.dumps(value)};"
                      "byId('thread').dispatchEvent(new Event('change'))")
        for kind, end in ("function", ""), ("library", " of library"):
            for key, own, total, _ in table(page, kind):
                times[name, key, "self" + end] += own
                times[name, key, "total" + end] += total
    page.evaluate("byId('thread').value = 'all';"
                  "byId('thread').dispatchEvent(new Event('change'))")
    return times


def first_function(document):
    """That which most time begins with, in all threads."""
    roots = collections.Counter()
    for row in document["stacks"]:
        frame = document["frames"][row["frames"][-1]]
        function = document["functions"][frame["lines"][-1]["function"]]
        roots[name_of(function)] += row["weight_ns"]
    return roots.most_common(1)[0][0]


def check_keys(page, heaviest):
    """By the keyboard alone: to the first function, zoomed into, found by a
    search, and back."""
    said = "byId('said').textContent"
    page.evaluate("canvas.focus()")
    press(page, ["Home", "ArrowDown"])
    expect(f"{heaviest}," in page.evaluate(said),
           f"{page.evaluate(said)} is not {heaviest}")
    press(page, ["Enter"])
    expect(page.evaluate("byId('path').lastChild.textContent") == heaviest,
           "Enter did not zoom")
    press(page, ["Escape"])
    expect(page.evaluate("state.zoom === ROOT"), "Escape did not zoom out")
    press(page, ["/"])
    page.type("no such function")
    expect(page.evaluate("byId('matched').value") == "no match", "search")
    page.evaluate("byId('search').value = ''")
    page.type(heaviest[:8])
    expect(" %" in page.evaluate("byId('matched').value"), "search")
    press(page, ["Enter"])
    expect(page.evaluate("isMatch[nodeFunction[state.at]] === 1"),
           "no match to go to")
    press(page, ["Escape", "Escape"])
    expect(page.evaluate("byId('matched').value") == "", "search goes on")


STATE = """[state.view, state.thread, state.query, state.kind, state.order,
    state.inverted, state.flipped, pathOf(state.zoom).map(nameOf),
    total[state.zoom], byId("search").value, byId("thread").value,
    [...document.querySelectorAll("[aria-pressed=true], [aria-checked=true]")]
        .map((one) => one.firstChild.textContent)]"""


def check_inverted(page, document):
    """What has time itself stands below the root; the tables are the same."""
    page.evaluate("document.activeElement.blur()")
    press(page, ["i"])
    for number, view in enumerate(("cpu", "wall")):
        press(page, ["Escape", "13"[number]])
        times = of_json(document, view)
        same(f"JSON and the page's {view}, inverted", times, of_page(page))
        below = page.evaluate(
            "[...kids.subarray(kidsBegin[ROOT], kidsBegin[ROOT + 1])]"
            ".filter((one) => total[one] > 0)"
            ".map((one) => [nameOf(one), total[one]])")
        own = collections.Counter()
        for (_, name, kind), weight in times.items():
            if kind == "self":
                own[name] += weight
        found = collections.Counter()
        for name, weight in below:
            found[name] += weight
        same("itself, and below the root", own, found)
    # Zoomed into, a function has what it had itself, and its callers that.
    page.evaluate("zoomTo(kids[kidsBegin[ROOT]])")
    name, weight = below[0]
    rows = table(page, "function")
    expect([row[1] for row in rows if row[0] == name] == [weight] and
           sum(row[1] for row in rows) == weight, f"zoomed into {name}")
    page.evaluate("zoomTo(kids[kidsBegin[state.zoom]])")
    rows = table(page, "function")
    expect(sum(row[1] for row in rows) ==
           page.evaluate("total[state.zoom]"), "zoomed into a caller")
    press(page, ["Escape", "i"])


def check_address(page, url):
    """The same page at its own address shows the same."""
    press(page, ["3", "i", "f"])
    page.evaluate("chooseThread('one:1'); refresh();"
                  "byId('search').value = 'e;v<&#\"'; onSearch();"
                  "zoomTo(kids[kidsBegin[ROOT]]);"
                  "zoomTo(kids[kidsBegin[state.zoom]])")
    page.evaluate("document.querySelectorAll('#kinds button')[1].click();"
                  "document.querySelectorAll('#list th button')[1].click()")
    state = page.evaluate(STATE)
    address = page.evaluate("location.href")
    expect(len(state[7]) == 3 and state[1:7] ==
           ["one:1", 'e;v<&#"', "library", "total", True, True],
           f"not what was chosen: {state}")
    page.open("about:blank")
    page.open(address)
    same("what it shows, and what it showed", {"state": state},
         {"state": page.evaluate(STATE)})
    page.evaluate("document.activeElement.blur()")
    press(page, ["0"])
    expect(page.evaluate(STATE)[1:3] == ["all", ""] and
           page.evaluate("state.zoom === ROOT && !state.inverted"), "reset")
    for bad in ("#view=none&thread=one:99&zoom=7.8.x&rows=&order=&invert=2",
                "#%ff&zoom=...&thread=name:&search=" + "x" * 5000, "#"):
        page.open("about:blank")
        page.open(url + bad)
        expect(page.evaluate("state.zoom === ROOT && state.threads === null"),
               f"an address that means nothing: {bad}")


def open_flame(page, document, path):
    page.size(1280, 900)
    page.open(f"file://{os.path.abspath(path)}")
    for number, view in enumerate(("cpu", "off", "wall")):
        press(page, ["Escape", str(number + 1)])
        expect(page.evaluate("VIEWS[state.view].word") == view,
               "another view")
        times = of_json(document, view)
        same(f"JSON and the page's {view}", times, of_page(page))
    page.evaluate("canvas.focus()")
    check_keys(page, first_function(document))
    check_inverted(page, document)
    check_address(page, f"file://{os.path.abspath(path)}")
    shown = page.evaluate("document.body.innerText")
    for text in document["profile"]["lacks"]:
        expect(text in shown, f"it does not say: {text}")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        document = json.load(file)
    with browser.Browser() as page:
        try:
            open_flame(page, document, sys.argv[2])
        except browser.Failed as failed:
            give_up("\n".join([str(failed), *page.wrong()]))
        wrong = page.wrong()
    expect(not wrong, "\n".join(wrong))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""flame_large.py PAGE [STACKS] - does the page of a flame graph hold large
profiles? PAGE is one of any profile: its data are replaced by those of

- STACKS different stacks (20,000) of 100,000 functions, some 30 frames deep,
- one stack of 70,000 frames, more than 16 bits count,

which a headless Chromium opens. The table must have what the stacks add up to,
in order, and the deepest frame its depth. With STACKS given it says how long
each took from the request of the file to the end of its scripts, at which the
graph is drawn, and how much of it the scripts had.
"""
import json
import os
import random
import re
import sys

import browser
from profile_check import give_up

FUNCTIONS = 100000
DEEP = 70000
DATA = re.compile(r'(<script[^>]*id="data"[^>]*>)(.*?)(</script>)', re.S)


def many(count):
    """Each stack leaves an older one somewhere: nodes, rows."""
    draw = random.Random(count)
    parents, functions, rows, older = [], [], [], []
    below = {}
    while len(rows) < count:
        path = []
        if older:
            path = draw.choice(older)
            path = path[:int(len(path) * draw.random() ** 2)]
        while len(path) < draw.randint(15, 45):
            at = path[-1] if path else -1
            of = draw.randrange(FUNCTIONS if len(path) > 2 else 4)
            if (at, of) not in below:
                below[at, of] = len(parents)
                parents.append(at)
                functions.append(of)
            path = path + [below[at, of]]
        rows.append((path[-1], draw.randint(1, 9) * 1000000))
        if len(older) < 5000:
            older.append(path)
        else:
            older[draw.randrange(5000)] = path
    return parents, functions, rows


def deep():
    """A function of its own at the end, so that the table has two."""
    functions = [0] * (DEEP - 1) + [1]
    return list(range(-1, DEEP - 1)), functions, [(DEEP - 1, 5000000)]


def page_of(text, nodes, path):
    parents, functions, rows = nodes
    count = max(functions) + 1
    data = json.loads(DATA.search(text)[2])
    data["functions"] = {
        "name": [f"namespace_{i % 97}::function_{i}(int, char const*)"
                 for i in range(count)],
        "module": [i % len(data["modules"]) for i in range(count)],
        "file": ["source.c"] * count, "line": [1] * count}
    data["nodes"] = {"parent": parents, "function": functions}
    data["rows"] = {"node": [node for node, _ in rows],
                    "thread": [0] * len(rows), "activity": [1] * len(rows),
                    "weight_ns": [weight for _, weight in rows],
                    "samples": [1] * len(rows)}
    for view in data["errors"].values():
        for key in view:
            view[key] = []
    told = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    found = DATA.search(text)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text[:found.start(2)] + told + text[found.end(2):])
    return data["functions"]["name"]


def truth(nodes, names):
    """[name, self, total] of the first 40, as the table has them."""
    parents, functions, rows = nodes
    own, total = {}, {}
    for leaf, weight in rows:
        own[functions[leaf]] = own.get(functions[leaf], 0) + weight
        on, node = set(), leaf
        while node >= 0:
            on.add(functions[node])
            node = parents[node]
        for of in on:
            total[of] = total.get(of, 0) + weight
    found = [[names[of], own.get(of, 0), total[of]] for of in total]
    found.sort(key=lambda row: (-row[1], -row[2], row[0]))
    return found[:40]


TABLE = """[...document.querySelectorAll("#list tbody tr")].map((row) => [
    row.dataset.key, ...[...row.querySelectorAll("[data-ns]")].map((cell) =>
        Number(cell.dataset.ns))])"""

TOOK = """performance.getEntriesByType("navigation").map((one) =>
    [one.domContentLoadedEventEnd - one.requestStart])[0]"""


def same(what, got, wanted):
    if got != wanted:
        give_up(f"{what}: {str(got)[:400]} instead of {str(wanted)[:400]}")


def scripts(page):
    """Seconds that they have taken in this page so far."""
    rows = page.call("Performance.getMetrics")["metrics"]
    return next(row["value"] for row in rows if row["name"] == "ScriptDuration")


def opened(page, path, what, says):
    page.open("file://" + os.path.abspath(path))
    if says:
        spent = page.evaluate(TOOK)[0]
        print(f"{what}: {os.path.getsize(path) >> 20} MiB, "
              f"{page.evaluate('nodeCount')} frames, "
              f"drawn after {spent:.0f} ms, of which scripts "
              f"{1000 * scripts(page):.0f} ms")


def check(path, count, says):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with browser.Browser(limit=240 if says else 90) as page:
        page.size(1280, 900)
        page.call("Performance.enable")
        nodes = many(count)
        names = page_of(text, nodes, "large.html")
        opened(page, "large.html", f"{count} stacks", says)
        same("the table of a large profile", page.evaluate(TABLE),
               truth(nodes, names))
        nodes = deep()
        names = page_of(text, nodes, "deep.html")
        opened(page, "deep.html", "one deep stack", says)
        same("the table of a deep stack", page.evaluate(TABLE),
               truth(nodes, names))
        same("the deepest frame",
               page.evaluate("saidOf(nodeCount - 1).split(', ').pop()"),
               f"depth {DEEP}")
        same("complaints", page.wrong(), [])


def main():
    if len(sys.argv) not in (2, 3):
        give_up("usage: flame_large.py PAGE [STACKS]")
    says = len(sys.argv) == 3
    if browser.find() is None:
        give_up("chromium is not installed")
    try:
        check(sys.argv[1], int(sys.argv[2]) if says else 20000, says)
    except browser.Failed as failed:
        give_up(str(failed))


main()

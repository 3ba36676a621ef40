#!/usr/bin/env python3
"""mem_page.py PAGE JSON - is the page of plim mem -o what it should be?

Both are of one run. The page must be well-formed, need nothing from elsewhere
and no script, and show the numbers that the JSON has: every point of every
line, every line of the timeline, every row of steady state and mappings, every
part of the verdict. Status 1: no.
"""
import json
import re
import sys

from page_read import give_up, read_page

TITLES = {"ANONYMOUS": "anonymous_bytes",
          "PRIVATE DIRTY": "private_dirty_bytes",
          "EXCLUSIVE ANON": "exclusive_anonymous_bytes",
          "RESIDENT": "resident_bytes", "FILE": "file_bytes",
          "SWAP": "swap_bytes", "PSS": "pss_bytes", "SIZE": "size_bytes"}


def stands_alone(text, root):
    for word in ("http:", "https:", "url(", "@import", "<script", "javascript",
                 "//"):
        if word in text:
            give_up(f"the page has {word}")
    for element in root.iter():
        for name in element.attrib:
            if name in ("src", "href", "srcset") or name.startswith("on"):
                give_up(f"{element.tag} has {name}")


def value_of(cell):
    """The exact number of a cell, or None."""
    data = cell.find("data")
    return None if data is None else float(data.get("value"))


def tables(root):
    """{title of the section: [(column titles, rows of cells)]}"""
    found, title = {}, None
    for element in root.find("body").iter():
        if element.tag == "h2":
            title = "".join(element.itertext())
        elif element.tag == "table":
            head = ["".join(th.itertext()) for th in element.iter("th")]
            rows = [list(tr) for tr in element.find("tbody")]
            for row in rows:
                if len(row) != len(head):
                    give_up(f"{title}: a row of {len(row)} cells")
            found.setdefault(title, []).append((head, rows))
    return found


def check_lines(root, document):
    svg = [s for s in root.iter("svg") if s.get("data-ns")]
    samples = document["samples"]
    if not svg:
        if len(samples) > 1:
            give_up("there is no plot")
        return 0
    svg = svg[0]
    left, top, width, height, ns, full = (
        float(svg.get("data-" + key))
        for key in ("left", "top", "width", "height", "ns", "bytes"))
    if ns != samples[-1]["at_ns"]:
        give_up(f"the plot spans {ns}")
    lines = 0
    for path in svg.iter("path"):
        name = path.get("data-figure")
        if name is None:
            continue
        lines += 1
        points = re.findall(r"([ML])([\d.]+) ([\d.]+)", path.get("d"))
        wanted, known = [], False
        for sample in samples:
            value = sample[name]
            if value is not None:
                wanted.append(("L" if known else "M", sample["at_ns"], value))
            known = value is not None
        if len(points) != len(wanted):
            give_up(f"{name}: {len(points)} points of {len(wanted)}")
        for (letter, x, y), (pen, at, value) in zip(points, wanted):
            near_x = abs((float(x) - left) / width * ns - at)
            near_y = abs((top + height - float(y)) / height * full - value)
            if letter != pen or near_x > ns / width / 999 or \
                    near_y > full / height / 999:
                give_up(f"{name}: {letter}{x} {y} is not {pen} {at} {value}")
    if lines == 0:
        give_up("the plot has no line")
    return lines


def check_cell(where, cell, value):
    if value_of(cell) != value:
        give_up(f"{where}: {value_of(cell)} is not {value}")


def check_timeline(head, rows, samples):
    by_time = {sample["at_ns"]: sample for sample in samples}
    if not 2 <= len(rows) <= 20:
        give_up(f"a timeline of {len(rows)} lines")
    for row in rows:
        sample = by_time[value_of(row[0])]
        for title, cell in zip(head[1:], row[1:]):
            check_cell(f"timeline {title}", cell, sample[TITLES[title]])


def check_steady(rows, steady, over):
    shown = set()
    for row in rows:
        name = "".join(row[0].itertext())
        shown.add(name)
        check_cell(f"last {name}", row[1], steady[name]["last"])
        if over and steady[name]["min"] != steady[name]["max"]:
            check_cell(f"lowest {name}", row[2], steady[name]["min"])
            check_cell(f"highest {name}", row[3], steady[name]["max"])
    missing = {k for k, v in steady.items() if v["known"] > 0} - shown
    if missing:
        give_up(f"not shown: {missing}")


def check_groups(head, rows, groups):
    for row, group in zip(rows, groups):
        for title, cell in zip(head, row):
            if title in TITLES:
                check_cell(f"{group['kind']} {title}", cell,
                           group[TITLES[title]])


def check_verdict(root, verdict):
    shown = [float(data.get("value")) for legend in root.iter("ul")
             for data in legend.iter("data")]
    told = {line["part"] for line in verdict["lines"]}
    wanted = [value for key, value in verdict.items()
              if key.endswith("_bytes") and value and key[:-6] not in
              ("swapped", "huge", "shared", "retained", "rss_falls",
               "machine_gets")]
    if sorted(shown) != sorted(wanted):
        give_up(f"parts {shown} are not {wanted}")
    if wanted and not told:
        give_up("the verdict has no line")


def main():
    text, root = read_page(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        document = json.load(file)
    stands_alone(text, root)
    found = tables(root)
    check_verdict(root, document["verdict"])
    if "samples" not in document:
        return
    check_lines(root, document)
    if len(document["samples"]) > 1:
        head, rows = found["Timeline"][0]
        check_timeline(head, rows, document["samples"])
        check_steady(found["Steady state"][0][1], document["steady"], True)
    else:
        check_steady(found["Figures"][0][1], document["steady"], False)
    if document["mappings"] and document["mappings"]["count"] is not None:
        check_groups(*found["Mappings"][0], document["mappings"]["by_name"])
        check_groups(*found["Mappings by kind"][0],
                     document["mappings"]["by_kind"])


main()

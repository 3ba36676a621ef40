#!/usr/bin/env python3
"""report_page.py PAGE JSON - is the page of plim report -o what it should be?

Both are of one run. The page must be well-formed XML and a browser must read
the same, it must load nothing, and say what the JSON says: every answer, every
figure with its value or reason, every group of threads with its numbers, every
part of memory, every reason of the profile, and the command. The flame graph
inside must be of the same samples: its CPU time is that of the functions.
Status 1: no.
"""
import json
import re
import sys

from page_read import give_up, read_page

SHOWN = 60  # groups on a page
TEXTS = ("unit", "container", "cgroup", "exe")  # no figures


def text_of(element):
    """As it is read: a unit is bound to its number by a blank that is none."""
    return "".join(element.itertext()).replace("\u00a0", " ")


def stands_alone(root):
    for element in root.iter():
        if element.tag in ("script", "link", "img", "object", "base"):
            give_up(f"the page has <{element.tag}>")
        for name, value in element.attrib.items():
            if name in ("src", "href", "srcset", "action") or \
                    name.startswith("on"):
                give_up(f"{element.tag} has {name}")
            if name != "srcdoc" and re.search(r"https?:|url\(", value):
                give_up(f"{element.tag} {name} is {value}")
    policy = root.find(".//meta[@http-equiv='Content-Security-Policy']")
    if policy is None or "default-src 'none'" not in policy.get("content"):
        give_up("the page may load something")


def has(text, wanted):
    if wanted not in text:
        give_up(f"not on the page: {wanted!r}")


def answers(root, told):
    boxes = root.findall(".//div[@class='answer']")
    if len(boxes) != len(told):
        give_up(f"{len(boxes)} answers")
    for box, answer in zip(boxes, told):
        text = text_of(box)
        has(text, answer["text"])
        has(text, answer["where"])
        if answer["figure"] != "-":
            has(text, answer["figure"])


def values_of(row):
    return [float(data.get("value")) for data in row.iter("data")]


def near(a, b):
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1)


def groups(root, told):
    rows = root.findall(".//table[@class='t1']/tbody/tr")
    if len(rows) != min(len(told), SHOWN):
        give_up(f"{len(rows)} rows of {len(told)} groups")
    for row, group in zip(rows, told):
        wanted = [figure["value"] for figure in
                  (group["wakeups_per_second"], group["cpu_percent"],
                   group["runqueue_wait_ns"]) if figure["value"] is not None]
        found = values_of(row)
        if len(found) != len(wanted) or not all(map(near, found, wanted)):
            give_up(f"group {group['name']!r}: {found}, not {wanted}")
        for function in group.get("functions", [])[:1]:
            name = re.sub(r"[(<].*", "", function)
            has(text_of(row), name[:40])


def memory(root, verdict):
    rows = root.findall(".//table[@class='t3']/tbody/tr")
    found = [value for row in rows for value in values_of(row)]
    wanted = [line["bytes"] for line in verdict["lines"]
              if line["bytes"] is not None]
    if found != wanted:
        give_up(f"parts of memory: {found}, not {wanted}")


def figures(root, process):
    rows = root.findall(".//table[@class='t4']/tbody/tr")
    if len(rows) < 15:
        give_up(f"{len(rows)} figures")
    for row in rows:
        cells = list(row)
        name = text_of(cells[0])
        if process[name] is None:
            why = process["unavailable"][name]
            if not text_of(cells[3]).startswith(why["state"] + ": "):
                give_up(f"{name}: {text_of(cells[3])!r}, not {why}")
            continue
        value = float(cells[1].find("data").get("value"))
        if value != process[name]:
            give_up(f"{name}: {value}, not {process[name]}")
        has(text_of(cells[3]), process["method"][name])


def missing(root, told):
    text = " ".join(text_of(dl) for dl in root.findall(".//dl"))
    for name, why in told["process"].get("unavailable", {}).items():
        # What no kernel of this kind has is missing nowhere.
        if name not in TEXTS and \
                why["reason"] not in ("not_asked", "never_on_this_host"):
            has(text, name)
    for lack in told.get("stacks", {}).get("lacks", []):
        has(text, lack)
    has(text, told["command_line"])
    has(text, told["host"]["kernel"])
    if "stacks_error" in told:
        has(text, told["stacks_error"]["detail"])


def flame(root, told):
    frame = root.find(".//iframe")
    if "stacks" not in told:
        if frame is not None:
            give_up("a flame graph of nothing")
        return
    if frame is None or frame.get("sandbox") != "allow-scripts":
        give_up("no flame graph, or one that may do more than draw")
    inside = frame.get("srcdoc")
    if re.search(r"(src|href)=|https?://|@import", inside):
        give_up("the flame graph loads something")
    data = json.loads(re.search(
        r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', inside,
        re.S)[1])
    rows = data["rows"]
    computed = sum(weight for weight, activity in
                   zip(rows["weight_ns"], rows["activity"]) if activity == 1)
    if told["stacks"]["functions"] and len(told["stacks"]["functions"]) < 20:
        wanted = sum(row["self_ns"] for row in told["stacks"]["functions"])
        if computed != wanted:
            give_up(f"the flame graph has {computed} ns, not {wanted}")


def main():
    _, root = read_page(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        told = json.load(file)
    stands_alone(root)
    answers(root, told["answers"])
    groups(root, told["wakers"])
    if "verdict" in told:
        memory(root, told["verdict"])
    figures(root, told["process"])
    missing(root, told)
    flame(root, told)


if __name__ == "__main__":
    main()

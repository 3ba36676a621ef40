#!/usr/bin/env python3
"""gate_check.py FORMAT - standard input is a well-formed FORMAT of plim gate.

  junit    XML 1.0, with the elements, attributes and order that the schemas of
           Jenkins and of pytest have in common; tallies that add up
  bencher  Bencher Metric Format
  action   the array of github-action-benchmark
  github   annotations: commands of a workflow, nothing else, at most ten
  summary  Markdown without a name that is markup; below 1 MiB
  results  RESULT lines

Prints what it found, for the test to compare. Status 1: it is not.
"""
import json
import re
import sys
import xml.etree.ElementTree as ElementTree

CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f"
                     "\u2028-\u202e\u2060-\u206f\ufeff]")


def give_up(text):
    print(text)
    sys.exit(1)


def need(holds, text):
    if not holds:
        give_up(text)


# Element: attributes it must have, those it may have, children.
JUNIT = {
    "testsuites": (set(), {"name", "tests", "failures", "errors", "time"},
                   ["testsuite"]),
    "testsuite": ({"name", "tests", "failures", "errors"},
                  {"skipped", "time"}, ["testcase"]),
    "testcase": ({"name", "classname"}, {"time"},
                 ["skipped", "error", "failure"]),
    "skipped": (set(), {"message"}, []),
    "error": (set(), {"type", "message"}, []),
    "failure": (set(), {"type", "message"}, []),
}


def junit_element(element):
    need(element.tag in JUNIT, f"no element of JUnit: {element.tag}")
    must, may, children = JUNIT[element.tag]
    have = set(element.attrib)
    need(must <= have, f"{element.tag} lacks {must - have}")
    need(have <= must | may, f"{element.tag} has {have - must - may}")
    if "time" in have:
        need(re.fullmatch(r"[0-9]+\.[0-9]{3}", element.get("time")),
             f"no time: {element.get('time')}")
    for child in element:
        need(child.tag in children, f"{child.tag} in {element.tag}")
        junit_element(child)
    need(element.tag != "testcase" or len(element) <= 1,
         "a case with two outcomes")
    need(element.tag in ("error", "failure") or not
         (element.text or "").strip(), f"text in {element.tag}")


def junit_tally(element):
    cases = list(element.iter("testcase"))
    for name, tag in (("failures", "failure"), ("errors", "error"),
                      ("skipped", "skipped")):
        told = element.get(name)
        if told is not None:
            need(int(told) == sum(c.find(tag) is not None for c in cases),
                 f"{element.tag}: {told} {name}")
    need(int(element.get("tests")) == len(cases), "tests")


def junit(data):
    need(data.startswith(b'<?xml version="1.0" encoding="UTF-8"?>\n'),
         "no declaration")
    root = ElementTree.fromstring(data)
    need(root.tag == "testsuites", "no testsuites")
    junit_element(root)
    for element in [root] + root.findall("testsuite"):
        junit_tally(element)
    for case in root.iter("testcase"):
        outcome = case[0] if len(case) else None
        print(case.get("name"),
              "pass" if outcome is None else outcome.tag,
              "" if outcome is None else outcome.get("type") or "")


def number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def unique(pairs):
    need(len({key for key, _ in pairs}) == len(pairs), "a key twice")
    return dict(pairs)


def bencher(data):
    whole = json.loads(data, object_pairs_hook=unique)
    for name, measures in whole.items():
        need(name and measures, f"{name!r} without a measure")
        for measure, metric in measures.items():
            need(1 <= len(measure) <= 64, measure)
            need(set(metric) <= {"value", "lower_value", "upper_value"} and
                 "value" in metric, f"{measure}: {metric}")
            need(all(number(value) for value in metric.values()), metric)
            print(measure, metric["value"])


def action(data):
    whole = json.loads(data, object_pairs_hook=unique)
    need(isinstance(whole, list), "no array")
    for entry in whole:
        need({"name", "unit", "value"} <= set(entry) <=
             {"name", "unit", "value", "range", "extra"}, entry)
        need(number(entry["value"]), entry)
        need(all(isinstance(entry[key], str) for key in entry
                 if key != "value"), entry)
        print(entry["name"].rsplit(": ", 1)[-1], entry["unit"],
              entry["value"])


def decode(text):
    need(re.fullmatch("(?:[^%]|%25|%0D|%0A|%3A|%2C)*", text), text)
    return re.sub("%(..)", lambda m: chr(int(m[1], 16)), text)


def github(data):
    text = data.decode()
    need(not CONTROL.search(text), "a control character")
    need(text == "" or text.endswith("\n"), "no end")
    lines = text.split("\n")[:-1]
    need(len(lines) <= 10, f"{len(lines)} annotations")
    for line in lines:
        found = re.fullmatch(r"::(error|warning|notice) file=([^,:]*),"
                             r"line=([0-9]+),col=([0-9]+),title=([^,:]*)"
                             r"::(.*)", line)
        need(found, line)
        for part in found.groups():
            decode(part)
        need(decode(found[6]), "nothing is said")
        print(found[1], found[3], decode(found[5]).rsplit(": ", 1)[-1])


def summary(data):
    need(len(data) < 1 << 20, f"{len(data)} bytes")
    text = data.decode()
    need(not CONTROL.search(text), "a control character")
    bars = None
    for line in text.split("\n"):
        if not line.startswith("|"):
            bars = None
            need(re.fullmatch(r"(#{2,3} )?[^|<>`*_\[\]\\~!$]*", line), line)
            continue
        count = line.count("|")
        need(bars in (None, count), f"{count} bars: {line}")
        bars = count
        need(not re.search(r"[<>`*_\[\]\\~!$]", line), line)
        if "figure" not in line and "wakes" not in line and "--" not in line:
            print(line.split("|")[2].strip().replace("&#95;", "_"))


KEY = "[A-Za-z][A-Za-z0-9_.-]*"
ESCAPE = r'\\\\|\\"|\\x[0-9a-f]{2}'
QUOTED = rf'"(?:[^"\\]|{ESCAPE})*"'
WORD = r'[!#-\[\]-~]+'
RESULT = re.compile(rf'RESULT (?:{KEY}=(?:{QUOTED}|(?:[^\\]|{ESCAPE})+)|'
                    rf'{KEY}(?: {KEY}=(?:{QUOTED}|{WORD}))*)')


def results(data):
    text = data.decode()
    need(not CONTROL.search(text), "a control character")
    need(text.endswith("\n"), "no end")
    for line in text.split("\n")[:-1]:
        need(RESULT.fullmatch(line), line)
        print(re.match(rf"RESULT ({KEY})", line)[1])


if __name__ == "__main__":
    {f.__name__: f for f in (junit, bencher, action, github, summary,
                             results)}[sys.argv[1]](sys.stdin.buffer.read())

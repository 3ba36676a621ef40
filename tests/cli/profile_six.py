#!/usr/bin/env python3
"""profile_six.py NPM json=FILE FORMAT=FILE... - all exports of one run, each
in the program that people open it with, in one table.

What each program says of every thread, function and library is compared with
the stacks of the JSON, to the nanosecond: the file for speedscope and the
collapsed stacks as speedscope has read them, the page of the flame graph by
its tables, in a headless Chromium without a network; the file for the Firefox
Profiler as the tree of calls of Mozilla's own loader; pprof as `go tool
pprof -raw` lists it. NPM is the folder of node_modules.

A program that has no place for something is not asked for it: speedscope for
libraries, collapsed stacks for the number of a thread, Mozilla's loader for
the folder of a library. The table shows the heaviest; a figure that differs
is shown, and the status is 1.
"""
import base64
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import browser
from profile_check import (ACTIVITIES, add, expect, give_up, go, json_stacks,
                           thread_of, threads_of, times_of)
from profile_opened import press, table

SHOWN = 8  # rows of a kind


def base(path):
    return path.rsplit("/", 1)[-1] or path


# --- speedscope --------------------------------------------------------------

# It saves by a link to a blob: whoever makes one tells us.
LISTEN = """
{
    window.saved = null;
    const make = URL.createObjectURL;
    URL.createObjectURL = (blob) => {
        blob.text().then((text) => { window.saved = text; });
        return make.call(URL, blob);
    };
}
"""


def saved_stacks(document):
    """Without libraries, for which speedscope has no place."""
    frames = document["shared"]["frames"]
    for profile in document["profiles"]:
        stacks = []
        if profile["type"] == "sampled":
            stacks = zip(profile["samples"], profile["weights"])
        else:
            expect(profile["type"] == "evented", "another type of profile")
            stacks = of_events(profile)
        for stack, weight in stacks:
            names = [frames[index]["name"] for index in reversed(stack)]
            yield profile["name"], names, [""] * len(names), weight


def of_events(profile):
    stack = []
    last = profile["startValue"]
    for event in profile["events"]:
        if event["at"] > last and stack:
            yield list(stack), event["at"] - last
        last = event["at"]
        if event["type"] == "O":
            stack.append(event["frame"])
        else:
            expect(stack.pop() == event["frame"], "frames are not nested")


def check_schema(path, release):
    """The file against the schema that speedscope brings."""
    try:
        import jsonschema
    except ImportError:
        return
    with open(os.path.join(release, "file-format-schema.json"),
              encoding="utf-8") as file:
        schema = json.load(file)
    with open(path, encoding="utf-8") as file:
        jsonschema.validate(json.load(file), schema)


def open_speedscope(page, path, place, title=None):
    """What it has read, as it saves it; `title` is what it calls it."""
    index = os.path.join(place, "speedscope", "dist", "release", "index.html")
    with open(path, "rb") as file:
        data = base64.b64encode(file.read()).decode()
    with tempfile.NamedTemporaryFile("w", suffix=".js") as script:
        script.write("speedscope.loadFileFromBase64("
                     f"{json.dumps(os.path.basename(path))}, \"{data}\")")
        script.flush()
        page.before(LISTEN)
        page.open(f"file://{os.path.abspath(index)}"
                  f"#localProfilePath={script.name}")
        title = title or json.loads(base64.b64decode(data))["name"]
        page.wait(f"document.title.includes({json.dumps(title)})")
        page.key("s", 83, modifiers=2)
        page.wait("window.saved !== null")
    return json.loads(page.evaluate("window.saved"))


# --- the Firefox Profiler ----------------------------------------------------

class Loader:
    """A daemon that has loaded the file, which ends with us."""

    def __init__(self, path, place):
        self.folder = tempfile.mkdtemp(prefix="plim-firefox.")
        self.program = [shutil.which("node"), os.path.join(
            place, "@firefox-devtools", "profiler-cli", "dist",
            "profiler-cli.js")]
        self.run("load", path)

    def run(self, *words):
        return subprocess.run(
            [*self.program, *words], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=60, check=False,
            universal_newlines=True, stdin=subprocess.DEVNULL,
            env=dict(os.environ, HOME=self.folder,
                     PROFILER_CLI_SESSION_DIR=self.folder))

    def ask(self, *words):
        """It may take a while until it is there."""
        for _ in range(100):
            done = self.run(*words)
            if done.returncode == 0:
                return done.stdout
            time.sleep(0.2)
        return give_up(f"profiler-cli {words}: {done.stdout}")

    def end(self):
        self.run("stop", "--all")
        shutil.rmtree(self.folder, ignore_errors=True)


# --- what each program says --------------------------------------------------

def by_speedscope(page, path, place):
    check_schema(path, os.path.join(place, "speedscope", "dist", "release"))
    page.open("about:blank")  # the same page again would not be loaded anew
    return saved_stacks(open_speedscope(page, path, place))


def by_collapsed(page, path, place):
    """The thread is the root of each stack."""
    saved = open_speedscope(page, path, place, os.path.basename(path))
    for _, names, _, weight in saved_stacks(saved):
        yield names[-1], names[:-1], [""] * (len(names) - 1), weight


def by_page(page, path, view):
    """Functions by their number, since two may have one name."""
    times = collections.Counter()
    page.size(1280, 900)
    page.open(f"file://{os.path.abspath(path)}")
    press(page, ["Escape", str(list(ACTIVITIES).index(view) + 1)])
    options = page.evaluate(
        "[...document.querySelectorAll('#thread option')]"
        ".filter((one) => one.value.startsWith('one:'))"
        ".map((one) => [one.value, one.dataset.name])")
    for value, name in options:
        page.evaluate(f"byId('thread').value = {json.dumps(value)};"
                      "byId('thread').dispatchEvent(new Event('change'))")
        for kind, end in ("function", ""), ("library", " of library"):
            for row in table(page, kind):
                key = row[0] if end else (row[3], row[0])
                times[name, key, "self" + end] += row[1]
                times[name, key, "total" + end] += row[2]
    return times


def tree_stacks(thread, node, names, libraries):
    name = node["name"]
    whole = node["nameWithLibrary"]
    expect(whole.endswith(name), f"another name: {whole}")
    names = [name, *names]
    libraries = [whole[:-len(name) - 1] if whole != name else "", *libraries]
    if node["selfSamples"] > 0:
        yield thread, names, libraries, round(node["selfSamples"] * 1e6)
    for child in node["children"]:
        yield from tree_stacks(thread, child, names, libraries)


def by_firefox(document, path, place):
    """The tree of calls of each thread."""
    stacks = []
    loader = Loader(path, place)
    try:
        info = loader.ask("profile", "info", "--all")
        for thread in document["threads"]:
            expect(re.search(rf"\[tid {thread['tid']}\] - "
                             rf"{thread['times']['cpu_ns'] / 1e6:.3f}ms", info),
                   f"the CPU time of {thread['tid']}: {info}")
        for number, name in enumerate(threads_of(document)):
            told = json.loads(loader.ask(
                "thread", "samples-top-down", "--thread", f"t-{number}",
                "--include-idle", "--json", "--max-lines", "10000000"))
            expect(told["weightType"] == "tracing-ms", "its weights")
            for node in told["regularCallTree"]["children"]:
                stacks.extend(tree_stacks(name, node, [], []))
    finally:
        loader.end()
    return stacks


class Raw:
    """What `go tool pprof -raw` prints."""

    def __init__(self, path):
        parts = re.split("^(Samples|Locations|Mappings):?\n",
                         go(path, "-raw"), flags=re.M)
        found = dict(zip(parts[1::2], parts[2::2]))
        head, *rows = found["Samples"].split("\n")
        self.types = [one.replace("[dflt]", "").split("/")[0]
                      for one in head.split()]
        self.mappings = {}
        self.locations = {}
        self.samples = []
        for row in found["Mappings"].splitlines():
            number, rest = row.split(": ", 1)
            words = re.match(r"0x\w+/0x\w+/0x\w+ (.*?) ?([0-9a-f]*) ?"
                             r"(\[\w+\])*$", rest)
            self.mappings[number] = words.group(1)
        for row in found["Locations"].splitlines():
            self.location(row)
        for row in rows:
            self.sample(row)

    def location(self, row):
        begin = re.match(r" +(\d+): 0x\w+ (?:M=(\d+) )?", row)
        if begin:
            self.last = begin.group(1)
            self.locations[self.last] = []
            self.library = self.mappings.get(begin.group(2), "")
            row = row[begin.end():]
        line = re.match(r" *(.*?) \S*:\d+(?::\d+)? s=\d+(\(.*\))?$", row)
        expect(line, f"a location: {row}")
        self.locations[self.last].append((line.group(1), self.library))

    def sample(self, row):
        values = re.match(r"((?: *\d+)+): ((?:\d+ ?)*)$", row)
        if values:
            self.samples.append(([int(one) for one in values[1].split()],
                                 values[2].split(), {}))
            return
        for key, value in re.findall(r"(thread|tid):\[(.*?)\](?= \w+:\[|$| $)",
                                     row):
            self.samples[-1][2][key] = value

    def stacks(self, view):
        for values, locations, labels in self.samples:
            lines = [line for one in locations for line in self.locations[one]]
            thread = thread_of(labels.get("thread", ""), labels["tid"])
            yield (thread, [name for name, _ in lines],
                   [library for _, library in lines],
                   values[self.types.index(view)])


# --- what of the JSON it has a place for -------------------------------------

def whole(stack):
    return stack


def without_libraries(stack):
    thread, names, _, weight = stack
    return thread, names, [""] * len(names), weight


def as_collapsed(stack):
    thread, names, _, weight = stack
    return (thread.rpartition(" ")[0].replace(";", ":"),
            [name.replace(";", ":") for name in names], [""] * len(names),
            weight)


def with_bases(stack):
    thread, names, libraries, weight = stack
    return thread, names, [base(one) for one in libraries], weight


def numbered(document, view):
    """As the page counts: functions by number, libraries by path."""
    times = collections.Counter()
    threads = threads_of(document)
    stacks = json_stacks(document, view)
    rows = (row for row in document["stacks"]
            if row["activity"] in ACTIVITIES[view])
    for row, (thread, names, libraries, weight) in zip(rows, stacks):
        numbers = [str(line["function"]) for index in row["frames"]
                   for line in document["frames"][index]["lines"]]
        expect(thread == threads[row["thread"]], "not the same row")
        add(times, thread, list(zip(numbers, names)), libraries, weight)
    return times


# --- the table ---------------------------------------------------------------

def figures(times, thread_of=lambda thread: thread):
    """Sums by what a table is of: all, thread, function, library."""
    found = collections.Counter()
    for (thread, key, kind), weight in times.items():
        name = key[1] if isinstance(key, tuple) else key
        if kind == "self":
            found["all", ""] += weight
            found["thread", thread_of(thread)] += weight
            found["function", name] += weight
        elif kind == "self of library":
            found["library", name] += weight
    return found


class Table:
    def __init__(self):
        self.columns = []
        self.compared = 0
        self.wrong = []

    def compare(self, title, wanted, found):
        for key in {*wanted, *found}:
            self.compared += 1
            if wanted.get(key, 0) != found.get(key, 0):
                self.wrong.append(f"{title}: {key} is {wanted.get(key, 0)} "
                                  f"in JSON, and {found.get(key, 0)}")
        self.columns.append((title, figures(found)))

    def show(self, view, wanted):
        def cell(kind, name, column):
            """By the name that the program has for it."""
            for one in (name, base(name), name.replace(";", ":"),
                        name.rpartition(" ")[0].replace(";", ":")):
                if (kind, one) in column:
                    return str(column[kind, one])
            return "-"
        heads = [title for title, _ in self.columns]
        print(f"{view}, ns".ljust(52) + "JSON".rjust(13) +
              "".join(head.rjust(13) for head in heads))
        for kind in "all", "thread", "library", "function":
            rows = sorted(((-weight, name) for (of, name), weight
                           in wanted.items() if of == kind))
            for weight, name in rows[:SHOWN]:
                print(f"{kind:9}{name[:42]:43}" + str(-weight).rjust(13) +
                      "".join(cell(kind, name, column).rjust(13)
                              for _, column in self.columns))
            if len(rows) > SHOWN:
                print(f"{kind:9}and {len(rows) - SHOWN} more")
        self.columns.clear()


def single(table_, document, files, place):
    """What has one view."""
    view = document["profile"]["view"]
    with browser.Browser(300) as page:
        try:
            for form, ask, project in (
                    ("collapsed", by_collapsed, as_collapsed),
                    ("speedscope", by_speedscope, without_libraries)):
                table_.compare(form, times_of(map(project, json_stacks(
                    document, view))), times_of(ask(page, files[form],
                                                    place)))
        except browser.Failed as failed:
            give_up("\n".join([str(failed), *page.wrong()]))
        expect(not page.wrong(), "\n".join(page.wrong()))
    table_.compare("Firefox", times_of(map(with_bases, json_stacks(
        document, view))), times_of(by_firefox(document, files["firefox"],
                                               place)))


def several(table_, document, files, view, raw):
    table_.compare("pprof", times_of(json_stacks(document, view)),
                   times_of(raw.stacks(view)))
    with browser.Browser(300) as page:
        try:
            table_.compare("page", numbered(document, view),
                           by_page(page, files["flame"], view))
        except browser.Failed as failed:
            give_up("\n".join([str(failed), *page.wrong()]))
        expect(not page.wrong(), "\n".join(page.wrong()))


def main():
    begun = time.monotonic()
    files = dict(word.split("=", 1) for word in sys.argv[2:])
    with open(files["json"], encoding="utf-8") as file:
        document = json.load(file)
    raw = Raw(files["pprof"])
    all_ = Table()
    mine = document["profile"]["view"]
    for view in sorted(ACTIVITIES, key=lambda one: one != mine):
        wanted = figures(times_of(json_stacks(document, view)))
        if view == mine:
            single(all_, document, files, sys.argv[1])
        several(all_, document, files, view, raw)
        all_.show(view, wanted)
    print(f"{all_.compared} figures compared, {len(all_.wrong)} differ "
          f"({time.monotonic() - begun:.0f} s)")
    if all_.wrong:
        give_up("\n".join(all_.wrong[:20]))


if __name__ == "__main__":
    main()

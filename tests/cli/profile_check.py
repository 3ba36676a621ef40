#!/usr/bin/env python3
"""profile_check.py json=FILE FORMAT=FILE... - do exports of a profile say the
same as its JSON, and is each as its format wants it?

The formats are collapsed, pprof, speedscope, flame and firefox; each file is read here by a
reader of its own, which knows nothing of the writer. Times of each function
in each thread, its own and with all that it called, and of each library, are
made of the stacks of each file and compared to the nanosecond; those that the
JSON tells of functions must be the same again. With `go` on the path, `go tool
pprof` opens its file and must print the same times.
"""
import collections
import gzip
import json
import os
import re
import shutil
import subprocess
import sys


def give_up(text):
    print(text)
    sys.exit(1)


def expect(truth, text):
    if not truth:
        give_up(text)


# --- the wire format ---------------------------------------------------------

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """Number and value of each field of a message, in order."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            expect(key & 7 == 2, f"wire type {key & 7}")
            size, at = varint(data, at)
            expect(at + size <= len(data), "a field ends behind its message")
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def numbers(data):
    at = 0
    found = []
    while at < len(data):
        value, at = varint(data, at)
        found.append(value)
    return found


def message(data, repeated=(), packed=()):
    found = {}
    for number, value in fields(data):
        if number in packed:
            found.setdefault(number, []).extend(numbers(value))
        elif number in repeated:
            found.setdefault(number, []).append(value)
        else:
            expect(number not in found, f"field {number} twice")
            found[number] = value
    return found


class Pprof:
    """The file, with every rule of its readers checked."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        self.top = message(data, (1, 2, 3, 4, 5, 6, 13))
        self.strings = [text.decode("utf-8") for text in self.top[6]]
        expect(self.strings[0] == "", "the first string is not empty")
        expect(len(set(self.strings)) == len(self.strings), "a string twice")
        for text in self.strings:
            expect(not re.search("[\x00-\x1f\x7f-\x9f]", text),
                   f"{text!r} has controls")
        self.types = [self.value_type(one) for one in self.top[1]]
        expect(self.types[0] == ("samples", "count"), f"types {self.types}")
        expect(self.types[1:] == [(view, "nanoseconds")
                                  for view in ACTIVITIES],
               f"types {self.types}")
        expect(self.value_type(self.top[11]) == self.types[1], "period type")
        self.view = self.string(self.top[14])
        self.mappings = self.table(3)
        self.functions = self.table(5)
        self.locations = self.table(4, (4,))
        self.check_places()
        self.samples = [self.sample(one) for one in self.top.get(2, [])]

    def string(self, index):
        expect(index < len(self.strings), f"no string {index}")
        return self.strings[index]

    def value_type(self, data):
        found = message(data)
        return self.string(found[1]), self.string(found[2])

    def table(self, field, repeated=()):
        found = {}
        for data in self.top.get(field, []):
            row = message(data, repeated)
            expect(row.get(1, 0) != 0, f"an id of 0 in {field}")
            expect(row[1] not in found, f"id {row[1]} twice in {field}")
            found[row[1]] = row
        return found

    def check_places(self):
        for row in self.mappings.values():
            expect(row.get(2, 0) < row[3], "a mapping without room")
            self.string(row.get(5, 0))
            expect(re.fullmatch("[0-9a-f]*", self.string(row.get(6, 0))),
                   "a build id that is no hexadecimal number")
        for row in self.locations.values():
            where = row.get(2, 0)
            expect(where == 0 or where in self.mappings, "no such mapping")
            if where:
                mapping = self.mappings[where]
                expect(mapping.get(2, 0) <= row[3] < mapping[3],
                       "an address outside its mapping")
            row["lines"] = [message(one) for one in row[4]]
            for line in row["lines"]:
                expect(line[1] in self.functions, "no such function")
        for row in self.functions.values():
            expect(self.string(row[2]) != "", "a function without a name")

    def sample(self, data):
        found = message(data, (3,), (1, 2))
        expect(len(found[2]) == len(self.types), "not a value for each type")
        labels = {}
        for one in found.get(3, []):
            label = message(one)
            key = self.string(label[1])
            expect(key not in labels, f"label {key} twice")
            labels[key] = self.string(label[2]) if 2 in label else label[3]
        names = []
        libraries = []
        for where in found[1]:
            expect(where in self.locations, "no such location")
            location = self.locations[where]
            mapping = self.mappings.get(location.get(2, 0), {})
            for line in location["lines"]:
                names.append(self.string(self.functions[line[1]][2]))
                libraries.append(self.string(mapping.get(5, 0)))
        return labels, names, libraries, found[2]


# --- the same from each file -------------------------------------------------

def shown(name):
    """As the library escapes a name for what shows names as they are."""
    out = ""
    while name:
        for size in range(1, 5):
            try:
                one = name[:size].decode("utf-8")
            except UnicodeDecodeError:
                continue
            break
        else:
            out += f"\\x{name[0]:02x}"
            name = name[1:]
            continue
        if one == "\\" or re.match("[\0-\x1f\x7f-\x9f\u200b-\u200f"
                                  "\u2028-\u202e\u2060-\u206f]", one):
            out += "".join(f"\\x{byte:02x}" for byte in name[:size])
        else:
            out += one
        name = name[size:]
    return out


def name_of(row):
    if "name_bytes" in row:
        return shown(bytes.fromhex(row["name_bytes"]))
    return shown((row["name"] or "").encode("utf-8"))


def add(times, thread, names, libraries, weight):
    """Names and libraries leaf first: the leaf's own, and once for each in the
    stack. What has no library is in none."""
    if weight == 0:
        return
    expect(len(names) == len(libraries), "not a library for each name")
    times[thread, names[0], "self"] += weight
    for name in set(names):
        times[thread, name, "total"] += weight
    if libraries[0]:
        times[thread, libraries[0], "self of library"] += weight
    for library in set(libraries) - {""}:
        times[thread, library, "total of library"] += weight


ACTIVITIES = {"cpu": ["running"], "off": ["waiting", "blocked"],
              "wall": ["running", "waiting", "blocked"]}


def text_of(row, key):
    """A text of the JSON as the others show it."""
    if key + "_bytes" in row:
        return shown(bytes.fromhex(row[key + "_bytes"]))
    return shown((row[key] or "").encode("utf-8"))


def thread_of(name, tid):
    """Name and id: threads may have the same name, or none."""
    return f"{name} {tid}" if name else str(tid)


def threads_of(document):
    return [thread_of(text_of(row, "name"), row["tid"])
            for row in document["threads"]]


def times_of(stacks):
    times = collections.Counter()
    for stack in stacks:
        add(times, *stack)
    return times


def json_stacks(document, view):
    """Thread, names and libraries leaf first, weight."""
    threads = threads_of(document)
    functions = [name_of(row) for row in document["functions"]]
    modules = [text_of(row, "path") for row in document["modules"]]
    for row in document["stacks"]:
        if row["activity"] not in ACTIVITIES[view]:
            continue
        names = []
        libraries = []
        for index in row["frames"]:
            frame = document["frames"][index]
            module = frame["module"]
            for line in frame["lines"]:
                names.append(functions[line["function"]])
                libraries.append("" if module is None else modules[module])
        yield threads[row["thread"]], names, libraries, row["weight_ns"]


def of_json(document, view):
    return times_of(json_stacks(document, view))


def of_collapsed(path):
    times = collections.Counter()
    with open(path, encoding="utf-8", newline="\n") as file:
        for line in file:
            stack, weight = line.rstrip("\n").rsplit(" ", 1)
            thread, *names = stack.split(";")
            add(times, thread, names[::-1], [""] * len(names), int(weight))
    return times


def of_pprof(pprof, view):
    place = pprof.types.index((view, "nanoseconds"))
    times = collections.Counter()
    for labels, names, libraries, values in pprof.samples:
        thread = thread_of(labels.get("thread", ""), labels["tid"])
        add(times, thread, names, libraries, values[place])
    return times


def of_speedscope(document):
    """As src/lib/file-format-spec.ts has it."""
    expect(document["$schema"] ==
           "https://www.speedscope.app/file-format-schema.json", "schema")
    frames = document["shared"]["frames"]
    for frame in frames:
        expect(set(frame) <= {"name", "file", "line", "module"},
               f"a frame has {set(frame)}")
        for text in frame.values():
            expect(not re.search("[\x00-\x1f\x7f-\x9f]", str(text)),
                   f"{text!r} has controls")
    times = collections.Counter()
    most = []
    for profile in document["profiles"]:
        expect(profile["type"] == "sampled", "the type of a profile")
        expect(profile["unit"] == "nanoseconds", "the unit of a profile")
        expect(len(profile["samples"]) == len(profile["weights"]),
               "not a weight for each stack")
        expect(profile["startValue"] == 0 and
               profile["endValue"] == sum(profile["weights"]), "its sum")
        expect(profile["name"].endswith(str(profile["tid"])), "its thread")
        most.append(profile["endValue"])
        for stack, weight in zip(profile["samples"], profile["weights"]):
            expect(weight > 0, "a stack without weight")
            leaf_first = [frames[index] for index in reversed(stack)]
            add(times, profile["name"], [frame["name"] for frame in leaf_first],
                [frame.get("module", "") for frame in leaf_first], weight)
    expect(most[document["activeProfileIndex"]] == max(most),
           "it begins with another thread than the heaviest")
    return times


def of_flame(data, view):
    """The data of the page, without what draws them."""
    times = collections.Counter()
    activities = [("running", "waiting", "blocked").index(word) + 1
                  for word in ACTIVITIES[view]]
    parents = data["nodes"]["parent"]
    functions = data["functions"]
    threads = [thread_of(row["name"], row["tid"]) for row in data["threads"]]
    expect(all(parent < place for place, parent in enumerate(parents)),
           "a node stands before its parent")
    rows = data["rows"]
    for node, thread, activity, weight in zip(
            rows["node"], rows["thread"], rows["activity"],
            rows["weight_ns"]):
        names = []
        libraries = []
        while node >= 0:
            function = data["nodes"]["function"][node]
            module = functions["module"][function]
            names.append(functions["name"][function])
            libraries.append("" if module < 0 else data["modules"][module])
            node = parents[node]
        if activity in activities:
            add(times, threads[thread], names, libraries, weight)
    return times


# Version 66, as src/types/profile.ts and its upgraders have it.
FIREFOX_COLUMNS = {
    "stackTable": "frame prefixOffset",
    "frameTable": "address inlineDepth category subcategory func nativeSymbol "
                  "innerWindowID line column originalLocation",
    "funcTable": "name isJS relevantForJS resource source lineNumber "
                 "columnNumber originalLocation",
    "resourceTable": "lib name host type",
    "nativeSymbols": "libIndex address name functionSize",
    "sources": "id filename startLine startColumn sourceMapURL content",
    "sourceLocationTable": "source line column",
}


def check_table(table, columns):
    expect(set(table) == {*columns.split(), "length"},
           f"columns {set(table)}")
    for key, column in table.items():
        expect(key == "length" or len(column) == table["length"],
               f"the length of {key}")


def check_indices(column, count, also=()):
    for index in column:
        expect(index in also or 0 <= index < count, f"index {index}")


def check_shared(document):
    shared = document["shared"]
    expect(set(shared) == {*FIREFOX_COLUMNS, "stringArray"}, "shared")
    for name, columns in FIREFOX_COLUMNS.items():
        check_table(shared[name], columns)
    texts = len(shared["stringArray"])
    for text in shared["stringArray"]:
        expect(not re.search("[\x00-\x1f\x7f-\x9f]", text),
               f"{text!r} has controls")
    stacks, frames, functions, resources, sources = (
        shared[name] for name in ("stackTable", "frameTable", "funcTable",
                                  "resourceTable", "sources"))
    check_indices(stacks["frame"], frames["length"])
    for place, offset in enumerate(stacks["prefixOffset"]):
        expect(0 <= offset <= place, "a stack stands before its caller")
    check_indices(frames["func"], functions["length"])
    check_indices(frames["category"], len(document["meta"]["categories"]))
    for address in frames["address"]:
        expect(-1 <= address < 1 << 31, f"address {address}")
    check_indices(functions["name"], texts)
    check_indices(functions["resource"], resources["length"], [-1])
    check_indices(functions["source"], sources["length"], [None])
    check_indices(sources["filename"], texts)
    check_indices(resources["lib"], len(document["libs"]))
    check_indices(resources["name"], texts)
    for lib in document["libs"]:
        expect(re.fullmatch("[0-9a-f]+", lib["codeId"] or "0"), "codeId")
        expect(re.fullmatch("([0-9A-F]{32}0)?", lib["breakpadId"]),
               "breakpadId")
    return shared


def of_firefox(document):
    shared = check_shared(document)
    frames, functions = shared["frameTable"], shared["funcTable"]
    times = collections.Counter()

    def frame(node):
        function = frames["func"][shared["stackTable"]["frame"][node]]
        resource = functions["resource"][function]
        lib = shared["resourceTable"]["lib"][resource]
        return (shared["stringArray"][functions["name"][function]],
                document["libs"][lib]["path"] if resource >= 0 else "")

    for thread in document["threads"]:
        samples = thread["samples"]
        check_table({key: samples[key] for key in samples
                     if key != "weightType"},
                    "stack time weight threadCPUDelta")
        expect(samples["time"] == sorted(samples["time"]), "times fall")
        expect(samples["weightType"] == "tracing-ms", "weights")
        name = thread_of(thread["name"], thread["tid"])
        for node, weight in zip(samples["stack"], samples["weight"]):
            expect(node is not None or weight == 0, "a weight on nothing")
            path = []
            while node is not None:
                path.append(frame(node))
                offset = shared["stackTable"]["prefixOffset"][node]
                node = node - offset if offset else None
            if path:
                add(times, name, [one for one, _ in path],
                    [lib for _, lib in path], round(weight * 1e6))
    return times


def as_collapsed(times):
    """The thread's name alone, no libraries, and no semicolons."""
    found = collections.Counter()
    for (thread, name, kind), weight in times.items():
        if kind.endswith("library"):
            continue
        thread = thread.rpartition(" ")[0]
        found[thread.replace(";", ":"), name.replace(";", ":"),
              kind] += weight
    return found


def same(what, one, other):
    for key in sorted(set(one) | set(other)):
        expect(one.get(key, 0) == other.get(key, 0),
               f"{what}: {key} is {one.get(key, 0)} and {other.get(key, 0)}")


def by_name(times):
    """Of all threads together."""
    found = collections.Counter()
    for (_, name, kind), weight in times.items():
        if not kind.endswith("library"):
            found[name, kind] += weight
    return found


def of_functions(document, view):
    found = collections.Counter()
    for row in document["functions"]:
        share = row[view]
        if share is None:
            continue
        found[name_of(row), "self"] += share["self_ns"]
        found[name_of(row), "total"] += share["total_ns"]
    return found


# --- go tool pprof -----------------------------------------------------------

def go(path, *options):
    environment = dict(os.environ, HOME=os.environ.get("TMPDIR", "/tmp"),
                       GOFLAGS="", GOTOOLCHAIN="local")
    done = subprocess.run(
        ["go", "tool", "pprof", "-nodecount=100000", "-nodefraction=0",
         "-edgefraction=0", "-unit=ns", "-symbolize=none", *options, path],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
        universal_newlines=True, timeout=120, check=False)
    expect(done.returncode == 0, f"go tool pprof: {done.stderr}")
    return done.stdout


def go_top(path, times, view):
    """It cuts parameters and template arguments off, and so some names are
    the same for it: those that have none are compared."""
    rows = re.findall(r"^ *(\d+)(?:ns)? +[\d.]+% +[\d.]+% +(\d+)(?:ns)? +"
                      r"[\d.]+% +(.*)$",
                      go(path, "-top", f"-sample_index={view}"), re.M)
    found = {}
    for own, total, name in rows:
        name = name.replace(" (inline)", "").replace(" (partial-inline)", "")
        found[name] = int(own), int(total)
    plain = 0
    for name in {name for name, _ in times}:
        if re.search(r"[(<]", name) or name.startswith("["):
            continue
        plain += 1
        wanted = times[name, "self"], times[name, "total"]
        expect(found.get(name) == wanted,
               f"go tool pprof: {name} is {found.get(name)}, not {wanted}")
    return plain


def check_pprof(path, document, times):
    pprof = Pprof(path)
    expect(pprof.view == document["profile"]["view"], "another view")
    same("JSON and pprof", times, of_pprof(pprof, pprof.view))
    for view, activities in ACTIVITIES.items():
        same(f"JSON and pprof's {view}", of_json(document, view),
             of_pprof(pprof, view))
        expect(sum(values[0] for labels, *_, values in pprof.samples
                   if labels["state"] in activities)
               == document["views"][view]["samples"], "counts of samples")
    expect(pprof.top.get(9) == document["profile"]["start_unix_ns"], "time")
    expect(pprof.top.get(10) == document["profile"]["duration_ns"],
           "duration")
    if shutil.which("go"):
        expect("Samples:" in go(path, "-raw"), "go tool pprof -raw")
        expect(sum(go_top(path, by_name(of_json(document, view)), view)
                   for view in ACTIVITIES) > 0,
               "nothing to compare with go tool pprof")


def check_speedscope(path, document, times):
    with open(path, encoding="utf-8") as file:
        scope = json.load(file)
    same("JSON and speedscope", times, of_speedscope(scope))
    for key in "profile", "metrics":
        expect(scope["plimsoll"][key] == document[key], f"another {key}")


def check_flame(path, document, times):
    with open(path, encoding="utf-8") as file:
        page = file.read()
    begin = page.index('id="data">') + len('id="data">')
    text = page[begin:page.index("</script>", begin)]
    expect("<" not in text, "the data can end their element")
    expect(not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", page),
           "the page has controls")
    data = json.loads(text)
    for view in ACTIVITIES:
        same(f"JSON and the page's {view}", of_json(document, view),
             of_flame(data, view))
    same("JSON and the page", times, of_flame(data, data["view"]))
    for key in "profile", "metrics":
        expect(data[key] == document[key], f"another {key}")
    for view, rows in data["errors"].items():
        wanted = {place: (row[view]["self_error"], row[view]["total_error"])
                  for place, row in enumerate(document["functions"])
                  if row[view] is not None}
        expect(wanted == dict(zip(rows["function"], zip(
            rows["self"], rows["total"]))), f"other errors in {view}")


def check_firefox(path, document, times):
    with open(path, encoding="utf-8") as file:
        fox = json.load(file)
    meta = fox["meta"]
    expect(meta["preprocessedProfileVersion"] == 66, "its version")
    same("JSON and Firefox", times, of_firefox(fox))
    about = document["profile"]
    expect(abs(meta["startTime"] * 1e6 - about["start_unix_ns"]) < 1000,
           "when it began")
    for thread, row in zip(fox["threads"], document["threads"]):
        samples = thread["samples"]
        expect(thread["tid"] == row["tid"], "another thread")
        expect(sum(samples["threadCPUDelta"]) == row["times"]["cpu_ns"],
               "CPU time of a thread")
        expect(0 <= samples["time"][0] and samples["time"][-1] * 1e6 <=
               about["duration_ns"], "a time outside of the window")
        expect(len(set(samples["time"])) > len(samples["time"]) // 2,
               "times that are no samples'")
    entries = {row["label"]: row["value"]
               for section in meta["extra"] for row in section["entries"]}
    for name, value in document["metrics"].items():
        if name in ("unavailable", "method", "bound") or value is None:
            continue
        if name.endswith("_ns"):
            value /= 1e6
        expect(entries[name] == value, f"{name} is {entries[name]}")
    cost = fox["profilerOverhead"][0]
    expect(cost["statistics"]["overheadDurations"] * 1e3 ==
           document["metrics"]["sampler_cpu_ns"] and
           cost["samples"]["threads"] ==
           [cost["statistics"]["overheadDurations"]], "profilerOverhead")


def check_slices(document):
    """What ran is in slices of equal time, each sample in one of them."""
    count = document["slice_count"]
    times = [0] * count
    for row in document["stacks"]:
        slices = row.get("slices", [])[::2]
        weights = row.get("slices", [])[1::2]
        ran = row["activity"] == "running" and row["samples"] > 0
        expect(bool(slices) == ran and len(slices) == len(weights) <=
               row["samples"] and sum(weights) == (row["weight_ns"] if ran
                                                   else 0) and
               slices == sorted(set(slices)) and
               all(0 <= slice < count for slice in slices),
               f"slices of a stack: {row}")
        for slice, weight in zip(slices, weights):
            times[slice] += weight
    # A sample is in the slice of its middle: off by one at either end.
    longest = max((weight for row in document["stacks"]
                   for weight in row.get("slices", [])[1::2]), default=0)
    equal = sum(times) / count
    expect(all(abs(time - equal) <= longest for time in times),
           f"slices are not equal: {times}")


def main():
    files = dict(word.split("=", 1) for word in sys.argv[1:])
    with open(files.pop("json"), encoding="utf-8") as file:
        document = json.load(file)
    view = document["profile"]["view"]
    times = of_json(document, view)
    expect(sum(weight for (_, _, kind), weight in times.items()
               if kind == "self") == document["views"][view]["weight_ns"],
           "the stacks are not the whole view")
    same("stacks and functions of JSON", by_name(times),
         of_functions(document, view))
    check_slices(document)
    for form, path in files.items():
        if form == "collapsed":
            same("JSON and collapsed", as_collapsed(times),
                 of_collapsed(path))
        else:
            {"pprof": check_pprof, "flame": check_flame,
             "firefox": check_firefox,
             "speedscope": check_speedscope}[form](path, document, times)


if __name__ == "__main__":
    main()

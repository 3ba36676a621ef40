#!/usr/bin/env python3
"""look.py FILE QUESTION [WORD...] - what a profile in JSON says.

A question is a function below, and its answer one line, so that a script
compares it. `children` are all programs but that of the target. Times are
whole milliseconds.
"""
import json
import re
import sys


class Profile:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.all = json.loads(text)
        self.root = self.all["profile"]["pid"]
        self.names = [row["name"] for row in self.all["functions"]]

    def program(self, thread):
        return self.all["programs"][thread["program"]]

    def is_child(self, thread):
        return self.program(thread)["pid"] != self.root

    def frame_names(self, index):
        """Of one frame, the innermost inlined function first."""
        return [self.names[line["function"]]
                for line in self.all["frames"][index]["lines"]]

    def stack_names(self, row):
        """Leaf first."""
        return [name for index in row["frames"]
                for name in self.frame_names(index)]

    def is_unknown(self, index):
        """An address that is in no file; one in a stripped file is known."""
        frame = self.all["frames"][index]
        functions = [self.all["functions"][line["function"]]
                     for line in frame["lines"]]
        return any(row["name"] == "[no stack]" or
                   row["unnamed"] and frame["module"] is None
                   for row in functions)

    def rows(self, activity, children):
        for row in self.all["stacks"]:
            thread = self.all["threads"][row["thread"]]
            if row["activity"] == activity and \
                    (not children or self.is_child(thread)):
                yield row


def ms(ns):
    return round(ns / 1e6)


def cpu(profile):
    """CPU time of all."""
    return ms(profile.all["views"]["times"]["cpu_ns"])


def cpu_in_samples(profile):
    return ms(profile.all["views"]["times"]["cpu_sampled_ns"])


def children_cpu(profile):
    """CPU time of the threads of all that was started."""
    times = [row["times"] for row in profile.all["threads"]
             if profile.is_child(row)]
    return ms(sum(row["cpu_ns"] for row in times))


def children_with(profile, name):
    """CPU time of children in stacks that have that function."""
    return ms(sum(row["weight_ns"] for row in profile.rows("running", True)
                  if name in profile.stack_names(row)))


def children_unknown(profile):
    """Per mille of children's samples whose leaf is in no file."""
    rows = [row for row in profile.rows("running", True)
            if row["samples"] > 0]
    unknown = sum(row["samples"] for row in rows
                  if profile.is_unknown(row["frames"][0]))
    return round(1000 * unknown / max(1, sum(row["samples"] for row in rows)))


def programs(profile):
    return len({row["pid"] for row in profile.all["programs"]})


def per_mille(profile, view, name, kind="self"):
    """What that function has of a view, of thousand."""
    for row in profile.all["functions"]:
        if row["name"] == name and row[view] is not None:
            return round(1000 * row[view][f"{kind}_share"])
    return 0


def per_mille_unnamed(profile, view):
    """What all functions without a name have of a view, of thousand."""
    return round(1000 * sum(row[view]["self_share"]
                            for row in profile.all["functions"]
                            if row["unnamed"] and row[view] is not None))


def threads(profile):
    return " ".join(str(row["tid"]) for row in
                    sorted(profile.all["threads"], key=lambda row: row["tid"]))


def names(profile):
    """Of the threads, each once, in order."""
    return " ".join(sorted({row["name"] or "" for row in
                            profile.all["threads"]}))


def ends(profile, activity, *names):
    """How stacks end that have all of these functions: the words, in order,
    and how many samples of each."""
    found = {}
    for row in profile.rows(activity, False):
        if set(names) <= set(profile.stack_names(row)):
            found[row["end"]] = found.get(row["end"], 0) + row["samples"]
    return " ".join(f"{word}={found[word]}" for word in sorted(found))


def like(profile, row, pattern):
    """Is a function in that stack whose whole name is like that?"""
    return any(re.fullmatch(pattern, name)
               for name in profile.stack_names(row))


def whole(profile, activity, *patterns):
    """Of the stacks with functions like the first of these, samples that come
    to their root and have all of them, per mille; and how many there are."""
    rows = [row for row in profile.rows(activity, False)
            if row["samples"] and like(profile, row, patterns[0])]
    good = sum(row["samples"] for row in rows if row["end"] == "root" and
               all(like(profile, row, pattern) for pattern in patterns))
    count = sum(row["samples"] for row in rows)
    return f"{round(1000 * good / max(1, count))} {count}"


def part(profile, activity, pattern, *others):
    """Samples with a function like that, of those with one like it or like one
    of the others, per mille."""
    rows = [row for row in profile.rows(activity, False) if row["samples"] and
            any(like(profile, row, each) for each in (pattern, *others))]
    good = sum(row["samples"] for row in rows if like(profile, row, pattern))
    return round(1000 * good /
                 max(1, sum(row["samples"] for row in rows)))


def thread_of(profile, pattern):
    """Names of the threads that ran a function like that."""
    return " ".join(sorted({profile.all["threads"][row["thread"]]["name"]
                            for row in profile.rows("running", False)
                            if row["samples"] and
                            like(profile, row, pattern)}))


def depths(profile, activity, name, end):
    """How often the function is in each stack that ends so."""
    return " ".join(str(count) for count in sorted(
        {profile.stack_names(row).count(name)
         for row in profile.rows(activity, False)
         if row["end"] == end and name in profile.stack_names(row)}))


def leaves(profile, activity, name):
    """Innermost functions of the stacks that have that function."""
    return " ".join(sorted({profile.stack_names(row)[0]
                            for row in profile.rows(activity, False)
                            if name in profile.stack_names(row)}))


def without(profile, activity, name):
    """Per mille of the samples that have it not."""
    rows = [row for row in profile.rows(activity, False) if row["samples"]]
    bad = sum(row["samples"] for row in rows
              if name not in profile.stack_names(row))
    return round(1000 * bad / max(1, sum(row["samples"] for row in rows)))


def adds_up(profile):
    """Do all accounts add up, to the nanosecond?"""
    everybody = [row["times"] for row in profile.all["threads"]]
    everybody.append(profile.all["views"]["times"])
    for row in everybody:
        if row["wall_ns"] != (row["cpu_ns"] + row["waiting_ns"]
                              + row["blocked_ns"]):
            return f"no: {row}"
        if row["cpu_ns"] != (row["cpu_sampled_ns"] + row["cpu_system_ns"]
                             + row["cpu_unsampled_ns"]):
            return f"no: {row}"
    for key in everybody[-1]:
        if everybody[-1][key] != sum(row[key] for row in everybody[:-1]):
            return f"no: {key}"
    weights = {"cpu": 0, "off": 0}
    for row in profile.all["stacks"]:
        view = "cpu" if row["activity"] == "running" else "off"
        weights[view] += row["weight_ns"]
    times = everybody[-1]
    if weights["cpu"] != times["cpu_ns"] or \
            weights["off"] != times["waiting_ns"] + times["blocked_ns"]:
        return f"no: {weights}"
    for view in ("cpu", "off", "wall"):
        share = sum(row[view]["self_share"] for row in profile.all["functions"]
                    if row[view] is not None)
        if not share < 1.000001:
            return f"no: shares of {share} in {view}"
    return "yes"


def main():
    try:
        profile = Profile(sys.argv[1])
    except (OSError, ValueError, KeyError) as problem:
        print(f"no profile: {problem}")
        return
    print(globals()[sys.argv[2]](profile, *sys.argv[3:]))


main()

#!/usr/bin/env python3
"""beside.py JSON REPORT - are the shares of functions those of perf?

REPORT is `perf report -F overhead,sample,sym -t '|'` of the same seconds. The
samples of the two are other ones, so that a share of each is a guess with an
error; the difference is held against four of both errors together, and one in
a hundred for what a window that begins elsewhere does. Held are functions with
3 in 100 by either, and of a flat program the five hottest of both.
"""
import json
import math
import re
import sys


def ours(path):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    shares = {}
    for row in document["functions"]:
        if row["cpu"] is None or row["special"]:
            continue
        name = row["linkage"] or row["name"]
        shares[name] = shares.get(name, 0) + row["cpu"]["self_samples"]
    return shares


def perfs(path):
    shares = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            found = re.match(r"\s*[\d.]+%\s*\|\s*(\d+)\s*\|\[.\] (\S+)", line)
            if found:
                name = found.group(2)
                shares[name] = shares.get(name, 0) + int(found.group(1))
    return shares


def main():
    mine, others = ours(sys.argv[1]), perfs(sys.argv[2])
    all_mine, all_others = sum(mine.values()), sum(others.values())
    wrong = compared = 0
    print(f"{all_mine} samples of ours, {all_others} of perf's")
    if min(all_mine, all_others) < 100:
        print("too few to compare")
        return 1
    hottest = {name for shares in (mine, others)
               for name in sorted(shares, key=shares.get)[-5:]}
    for name in sorted(set(mine) | set(others)):
        one = mine.get(name, 0) / all_mine
        two = others.get(name, 0) / all_others
        if max(one, two) < 0.03 and name not in hottest:
            continue
        compared += 1
        error = math.sqrt(one * (1 - one) / all_mine
                          + two * (1 - two) / all_others)
        if abs(one - two) > 4 * error + 0.01:
            wrong += 1
            print(f"{name}: {one:.3f} and {two:.3f} by perf")
    print(f"{compared} functions compared, {wrong} differ")
    return 1 if wrong or not compared else 0


sys.exit(main())

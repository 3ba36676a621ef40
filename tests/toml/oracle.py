#!/usr/bin/env python3
"""oracle.py PROGRAM [--count N] [--seed N] [--suite FOLDER]

Our TOML reader against Python's tomllib: first the documents of corpus.py,
whose rightness is known, then N that are generated from them with a seed
that is printed. Both readers must accept the same, and find the same values
to the last bit. Prints TAP.

tomllib (Python 3.11) is not TOML 1.0 in these points, in which we keep to
the specification and RFC 3339; they are judged apart, each by a test:
  - it takes integers of any size; 64 bits are the limit
  - it refuses a second of 60, the year 0000, and a byte order mark in front
  - it cuts fractions of a second after six digits; we keep nine
And one point is a bound of ours: 64 levels of nesting.

--suite names the folder `tests` of a copy of github.com/toml-lang/toml-test:
its documents for 1.0.0 are asked, too.
"""
import argparse
import datetime
import json
import os
import random
import re
import struct
import subprocess
import sys

import corpus

try:
    import tomllib
except ImportError:
    tomllib = None

number = 0
failed = 0


def report(ok, name, detail=""):
    global number, failed
    number += 1
    failed += not ok
    print(f"{'ok' if ok else 'not ok'} {number} - {name}")
    if not ok and detail:
        print("# " + detail)


def ask(program, documents):
    """What our reader makes of each."""
    text = b"".join(b"%d\n%s" % (len(d), d) for d in documents)
    done = subprocess.run([program], input=text, stdout=subprocess.PIPE,
                          check=True)
    lines = done.stdout.split(b"\n")[:-1]
    assert len(lines) == len(documents), (len(lines), len(documents))
    return [json.loads(line) for line in lines]


class Beyond(Exception):
    """What tomllib takes and TOML does not."""


def offset(value):
    if value.tzinfo is None:
        return 0
    return int(value.utcoffset().total_seconds()) // 60


def canonical(value):
    """A value of tomllib in the form of toml_print.c."""
    if isinstance(value, bool):
        return {"boolean": int(value)}
    if isinstance(value, int):
        if not -2**63 <= value < 2**63:
            raise Beyond("an integer of more than 64 bits")
        return {"integer": str(value)}
    if isinstance(value, float):
        if value != value:
            return {"float": "7ff8000000000000"}
        return {"float": struct.pack(">d", value).hex()}
    if isinstance(value, str):
        return {"string": value.encode().hex()}
    if isinstance(value, datetime.datetime):
        return {"time": [6 if value.tzinfo is None else 5, value.year,
                         value.month, value.day, value.hour, value.minute,
                         value.second, value.microsecond * 1000,
                         offset(value)]}
    if isinstance(value, datetime.date):
        return {"time": [7, value.year, value.month, value.day, 0, 0, 0, 0,
                         0]}
    if isinstance(value, datetime.time):
        return {"time": [8, 0, 0, 0, value.hour, value.minute, value.second,
                         value.microsecond * 1000, 0]}
    if isinstance(value, list):
        return {"array": [canonical(item) for item in value]}
    assert isinstance(value, dict), type(value)
    return {"table": {key.encode().hex(): canonical(item)
                      for key, item in value.items()}}


def shorten(value):
    """Ours with the fractions that tomllib keeps."""
    if "time" in value:
        time = list(value["time"])
        time[7] -= time[7] % 1000
        return {"time": time}
    if "array" in value:
        return {"array": [shorten(item) for item in value["array"]]}
    if "table" in value:
        return {"table": {key: shorten(item)
                          for key, item in value["table"].items()}}
    return value


def expected(document):
    """(accepted, canonical value or why not) by tomllib."""
    try:
        return True, canonical(tomllib.loads(
            document.removeprefix(b"\xef\xbb\xbf").decode()))
    except (ValueError, Beyond, RecursionError) as error:
        return False, f"{type(error).__name__}: {error}"


# What tomllib refuses and RFC 3339 has, if that may be in the document.
OLD = re.compile(rb"[:]60|(?<![0-9])0000-")


def difference(document, ours):
    """None, or what is wrong with our answer."""
    accepted, theirs = expected(document)
    mine = "error" not in ours
    if not mine and ours["error"].endswith("over_limit"):
        return None
    if mine and not accepted and OLD.search(document):
        return None
    if mine != accepted:
        return f"{document!r}: ours {ours}, tomllib {theirs}"
    if mine and shorten(ours) != theirs:
        return f"{document!r}: ours {shorten(ours)}, tomllib {theirs}"
    return None


def compare_corpus(program):
    for name, documents, right in (("valid", corpus.VALID, True),
                                   ("invalid", corpus.INVALID, False)):
        answers = ask(program, documents)
        wrong = [f"{d!r}: {a}" for d, a in zip(documents, answers)
                 if ("error" not in a) != right]
        report(not wrong, f"{len(documents)} {name} documents",
               "; ".join(wrong[:10]))
        wrong = list(filter(None, map(difference, documents, answers)))
        report(not wrong, f"{len(documents)} {name} documents: as tomllib",
               "; ".join(wrong[:10]))


def compare_suite(program, folder):
    with open(os.path.join(folder, "files-toml-1.0.0"),
              encoding="utf-8") as file:
        names = [line.strip() for line in file
                 if line.strip().endswith(".toml")]
    documents = []
    for name in names:
        with open(os.path.join(folder, name), "rb") as file:
            documents.append(file.read())
    answers = ask(program, documents)
    for part in ("valid", "invalid"):
        chosen = [i for i, name in enumerate(names)
                  if name.startswith(part + "/")]
        wrong = [f"{names[i]}: {answers[i]}" for i in chosen
                 if ("error" not in answers[i]) != (part == "valid")]
        report(not wrong, f"toml-test: {len(chosen)} {part}",
               "; ".join(wrong[:10]))
    wrong = list(filter(None, map(difference, documents, answers)))
    report(not wrong, "toml-test: values as tomllib", "; ".join(wrong[:10]))


def compare_exceptions(program):
    cases = [
        (b"a = 9223372036854775808", None, "an integer above 64 bits"),
        (b"a = -9223372036854775809", None, "an integer below 64 bits"),
        (b"a = 0x8000000000000000", None, "a hexadecimal one above"),
        (b"a = 0o1000000000000000000000", None, "an octal one above"),
        (b"a = 0b1" + b"0" * 63, None, "a binary one above"),
        (b"a = 23:59:60", [8, 0, 0, 0, 23, 59, 60, 0, 0], "a leap second"),
        (b"a = 0000-02-29", [7, 0, 2, 29, 0, 0, 0, 0, 0], "the year 0000"),
        (b"a = 00:00:00.1234567899", [8, 0, 0, 0, 0, 0, 0, 123456789, 0],
         "nine digits of a second"),
    ]
    answers = ask(program, [case[0] for case in cases])
    for (document, time, name), ours in zip(cases, answers):
        if time is None:
            report(ours.get("error", "").endswith("syntax"), name, repr(ours))
        else:
            report(ours == {"table": {"61": {"time": time}}}, name,
                   repr(ours))
    deep = [b"a = " + b"[" * 63 + b"]" * 63, b"a = " + b"[" * 64 + b"]" * 64,
            b"[" + b".".join([b"a"] * 64) + b"]",
            b"[" + b".".join([b"a"] * 65) + b"]"]
    got = ["error" not in a for a in ask(program, deep)]
    report(got == [True, False, True, False], "64 levels are the bound",
           repr(got))


BITS = [b"=", b".", b"[", b"]", b"[[", b"]]", b"{", b"}", b",", b"\n", b"\r\n",
        b"\r", b" ", b"\t", b"#", b'"', b"'", b'"""', b"'" * 3, b"\\", b"\\u",
        b"\\U0010", b"_", b"+", b"-", b"0", b"1", b"9", b"00", b"0x", b"0b",
        b"0o", b"e", b"E", b"inf", b"nan", b"true", b"false", b":", b"T", b"Z",
        b"1979-05-27", b"07:32:00", b"+01:00", b".5", b"a", b"b", b"a = 1\n",
        b"[a]\n", b"[[a]]\n", b"[a.b]\n", b"a.b = 1\n", b"{a = 1}", b"[1, 2]",
        b"\x00", b"\x7f", b"\xff", b"\xc3\xa9", b"\xed\xa0\x80", b"a = "]


def mutate(random, document):
    for _ in range(random.randint(1, 4)):
        at = random.randint(0, len(document))
        to = min(len(document), at + random.randint(0, 3))
        way = random.random()
        if way < 0.4:
            document = document[:at] + random.choice(BITS) + document[at:]
        elif way < 0.6:
            document = document[:at] + document[to:]
        elif way < 0.8:
            document = document[:at] + random.choice(BITS) + document[to:]
        else:
            document = document[:at] + document[at:to] + document[at:]
    return document


def structure(random):
    """Lines that define and redefine a few names, in every way there is."""
    def key():
        return ".".join(random.choice("abc")
                        for _ in range(random.randint(1, 3)))

    def value(depth=0):
        way = random.randint(0, 5 if depth < 3 else 2)
        if way <= 2:
            return random.choice(["1", "'x'", "true"])
        if way == 3:
            return "[" + ", ".join(value(depth + 1)
                                   for _ in range(random.randint(0, 2))) + "]"
        return "{" + ", ".join(f"{key()} = {value(depth + 1)}"
                               for _ in range(random.randint(0, 3))) + "}"
    made = []
    for _ in range(random.randint(1, 6)):
        made.append(random.choice([f"[{key()}]", f"[[{key()}]]",
                                   f"{key()} = {value()}",
                                   f"{key()} = {value()}"]))
    return "\n".join(made).encode()


def numeral(random):
    """A number of random digits, often near the edges of a double."""
    def digits(most):
        return "".join(random.choice("0123456789")
                       for _ in range(random.randint(1, most)))
    way = random.randint(0, 4)
    if way == 0:
        bits = random.getrandbits(63)
        text = repr(struct.unpack("<d", struct.pack("<Q", bits))[0])
    elif way == 1:
        # Half-way between two doubles, exactly: ties.
        half = random.getrandbits(53) * 2 + 1
        text = f"{half << random.randint(0, 40)}.0"
    elif way == 2:
        text = f"{int(digits(40))}.{digits(40)}e{random.randint(-360, 330)}"
    elif way == 3:
        text = f"0.{'0' * random.randint(0, 330)}{digits(800)}"
    else:
        bits = random.getrandbits(52)
        small = struct.unpack("<d", struct.pack("<Q", bits))[0]
        text = repr(small)
    return f"a = {text}".encode()


def compare_generated(program, count, seed):
    print(f"# seed {seed}: --count {count} --seed {seed} does it again")
    rng = random.Random(seed)
    grounds = corpus.VALID + corpus.INVALID
    for name, make in (
            ("mutated", lambda: mutate(rng, rng.choice(grounds))),
            ("joined", lambda: b"\n".join(rng.sample(corpus.VALID, 3))),
            ("structures", lambda: structure(rng)),
            ("numbers", lambda: numeral(rng))):
        documents = [make() for _ in range(count)]
        answers = ask(program, documents)
        accepted = sum("error" not in answer for answer in answers)
        wrong = list(filter(None, map(difference, documents, answers)))
        report(not wrong, f"{count} {name}: as tomllib, {accepted} accepted",
               "; ".join(wrong[:5]))
        report(accepted > count // 50, f"{name}: some are accepted",
               str(accepted))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=4000)
    parser.add_argument("--seed", type=int,
                        default=random.SystemRandom().getrandbits(32))
    parser.add_argument("--suite")
    options = parser.parse_args()
    # meson names a program by its path in the build folder.
    program = os.path.join(os.environ.get("PLIM_BUILD_DIR", ""),
                           options.program)
    if tomllib is None:
        print("ok 1 - TOML # skip Python's tomllib is there since 3.11\n1..1")
        return 0
    compare_corpus(program)
    if options.suite:
        compare_suite(program, options.suite)
    compare_exceptions(program)
    compare_generated(program, options.count, options.seed)
    print(f"1..{number}")
    return 1 if failed else 0


sys.exit(main())

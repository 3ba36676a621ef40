#!/usr/bin/env python3
"""howto.py SOURCE PAGE...: do how-tos work exactly as they are written?

Each page is played by itself, in one home and one copy of the source: what one
has built the next one finds. Every block that is marked `sh` is run, one after
another in one shell, in a clean copy of the source and with a home of its own;
each must end with status 0. A block that is marked `text` shows what the block
before it printed: its lines must come in this order, any quantity stands for
any other, and three dots for any lines or for the rest of a line. A link to a
file with the ending `.yml` is a workflow for GitHub: its `run` steps are played
in the project that the page has made. A page that says in a comment that it
needs a program is skipped where that is not installed; a port that it names
there is another one, which is free. Prints TAP.
"""
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile

LIMIT = 600  # seconds for all blocks of a page
MARK = "@@@ block"
PATH = "/usr/local/bin:/usr/bin:/bin"


def blocks_of(page):
    """[(language, text)] of the fenced blocks of a page."""
    return re.findall(r"(?ms)^```(\w+)\n(.*?)^```$", page)


def copy_of(source, target):
    """What a clone would hold of the working tree, and nothing built."""
    listed = None
    if shutil.which("git"):
        listed = subprocess.run(
            ["git", "-c", f"safe.directory={source}", "-C", source, "ls-files",
             "-z", "-co", "--exclude-standard"], capture_output=True,
            check=False)
    if listed is None or listed.returncode != 0:
        shutil.copytree(source, target, symlinks=True,
                        ignore=shutil.ignore_patterns("build", ".git"))
        return
    for name in filter(None, listed.stdout.decode().split("\0")):
        if os.path.lexists(os.path.join(source, name)):
            path = os.path.join(target, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            shutil.copy2(os.path.join(source, name), path,
                         follow_symlinks=False)


def environment(home, **more):
    """Of somebody who has just logged in; the build may be a sanitizer's."""
    kept = {key: os.environ[key] for key in ("CC", "TMPDIR")
            if key in os.environ}
    return {"HOME": home, "PATH": PATH, "LC_ALL": "C.UTF-8", **kept, **more}


def play(scripts, folder, env):
    """[(status, output)] of each script that was begun, in one shell."""
    whole = ""
    for script in scripts:
        whole += f"{script}\necho \"{MARK} $?\"\n"
    try:
        ended = subprocess.run(
            ["sh", "-c", whole], cwd=folder, env=env, timeout=LIMIT,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, check=False)
        text, rest = ended.stdout.decode("utf-8", "replace"), "it ended early"
    except subprocess.TimeoutExpired as late:
        text = (late.stdout or b"").decode("utf-8", "replace")
        rest = f"no end within {LIMIT} s"
    parts = re.split(rf"(?m)^{MARK} (\d+)\n", text)
    done = [(int(status), out) for out, status in zip(parts[::2], parts[1::2])]
    if len(done) < len(scripts):
        done.append((-1, parts[-1] + rest + "\n"))
    return done


def plain(line):
    """A line in which every quantity, with what it is bound by and its unit,
    is one sign, and so is a range of two; but not an exit status."""
    line = " ".join(line.split())
    if line.startswith("exit status"):
        return line
    line = re.sub(r"[≥≤±-]?\d[\d.,]*( ?([numk]?s|[KMG]?iB|B|%))?(/s)?", "#",
                  line)
    return line.replace("# to #", "#")


def is_shown(wanted, printed):
    """A line that ends in dots shows how the printed one begins."""
    if wanted.endswith(" ..."):
        return printed.startswith(wanted[:-4])
    return printed == wanted


def first_missing(shown, printed):
    """The first line of a page that was not printed, or None."""
    lines = [plain(line) for line in printed.splitlines() if line.strip()]
    at, gap = 0, True
    for line in filter(str.strip, shown.splitlines()):
        if line.strip() == "...":
            gap = True
            continue
        where = [i for i in range(at, len(lines))
                 if is_shown(plain(line), lines[i])]
        if not where or not gap and where[0] != at:
            return line
        at, gap = where[0] + 1, False
    return None


def steps_of(workflow):
    """The commands of the `run` steps: a line each, or a block."""
    found = []
    lines = workflow.splitlines()
    for i, line in enumerate(lines):
        match = re.match(r"^( *)(?:- )?run: (.*)$", line)
        if match is None:
            continue
        if match[2] != "|":
            found.append(match[2])
            continue
        inside = []
        for more in lines[i + 1:]:
            if more.strip() and len(more) - len(more.lstrip()) <= len(match[1]):
                break
            inside.append(more.strip())
        found.append("\n".join(inside).strip())
    return [step for step in found if "apt-get" not in step]


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def check(self, what, good, output=""):
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {what}",
              flush=True)
        if not good:
            for line in output.splitlines()[-40:]:
                print(f"# {line}")

    def skip(self, what, why):
        self.count += 1
        print(f"ok {self.count} - {what} # skip {why}", flush=True)


def lacking(page):
    """The first program that a page needs and that is not there, or None."""
    for words in re.findall(r"<!-- needs: (.*?) -->", page):
        for word in words.split():
            if not shutil.which(word, path=PATH):
                return word
    return None


def with_free_ports(page):
    """Somebody else may have the ports that a page uses, and would be the one
    who answers there."""
    for number in re.findall(r"<!-- port: (\d+) -->", page):
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            page = re.sub(rf"\b{number}\b", str(one.getsockname()[1]), page)
    return page


def title(script):
    return script.strip().splitlines()[0][:60]


def follow(page, work, tap):
    """The page itself; False if a block failed."""
    blocks = blocks_of(page)
    scripts = [text for language, text in blocks if language == "sh"]
    done = play(scripts, work + "/plimsoll", environment(work + "/home"))
    good = len(done) == len(scripts)
    number = -1
    for language, text in blocks:
        if language == "sh":
            number += 1
            if number >= len(done):
                break
            status, output = done[number]
            good = good and status == 0
            tap.check(f"block {number + 1}: {title(text)}", status == 0,
                      output)
        elif language == "text" and number >= 0:
            missing = first_missing(text, done[number][1])
            tap.check(f"block {number + 1} prints what is shown",
                      missing is None,
                      f"not there: {missing}\n{done[number][1]}")
    return good


def on_github(folder, page, work, tap):
    """Each workflow, in the project that the page made: it must pass, and
    fail once the daemon wakes up too often again."""
    linked = re.search(r"\]\(([\w.-]+\.yml)\)", page)
    if linked is None:
        return
    name = linked[1]
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        steps = steps_of(file.read())
    project = work + "/home/beacon"
    # Its build is the page's, made once.
    os.symlink(work + "/plimsoll", project + "/.plimsoll")
    env = environment(work + "/home", GITHUB_ACTIONS="true",
                      GITHUB_STEP_SUMMARY=work + "/summary",
                      GITHUB_PATH=work + "/path", GITHUB_WORKSPACE=project)
    done = play(["set -e"] + steps, project, env)
    tap.check(f"{name}: passes", len(done) == len(steps) + 1 and
              all(status == 0 for status, _ in done), done[-1][1])
    with open(work + "/summary", encoding="utf-8") as file:
        tap.check(f"{name}: the summary names the figure",
                  "wakeups" in file.read())
    source = project + "/beacon.c"
    with open(source, encoding="utf-8") as file:
        text = file.read()
    with open(source, "w", encoding="utf-8") as file:
        file.write(text.replace("{60, 0}", "{0, 1000000}"))
    done = play(steps[1:-1], project, env)
    status, output = play([steps[-1]], project, env)[0]
    tap.check(f"{name}: fails a daemon that wakes up too often, and annotates",
              status == 1 and "::error" in output, output)


def on_page(path, work, tap):
    with open(path, encoding="utf-8") as file:
        page = with_free_ports(file.read())
    name = os.path.basename(path)
    missing = lacking(page)
    if missing is not None:
        tap.skip(name, f"{missing} is not installed")
        return
    print(f"# {name}", flush=True)
    if follow(page, work, tap):
        on_github(os.path.dirname(path), page, work, tap)


def main():
    source, *paths = (os.path.abspath(word) for word in sys.argv[1:])
    tap = Tap()
    work = tempfile.mkdtemp(prefix="plim-howto-")
    try:
        os.mkdir(work + "/home")
        copy_of(source, work + "/plimsoll")
        for path in paths:
            on_page(path, work, tap)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(f"1..{tap.count}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""scene.py - one scenario while it runs: the world, the tools, and the
questions with their verdicts.

A scenario is a module of scenarios/ with a docstring (its first line is the
title), REPORTS (where the fault was reported) and run(scene). It makes
something happen of which it knows the truth, has every tool look at it at the
same time, and puts questions: scene.question(text, truth, answers, right).
"""
from concurrent.futures import ThreadPoolExecutor

from answer import (BROKEN, NOT_ASKED, RIGHT, UNAVAILABLE, UNASKED, WRONG,
                    Answer, escaped, verdict)
from peers.base import all_of
from peers.screen import align
from world import TooLate


class Scene:
    def __init__(self, world, peers, full, tell):
        self.world = world
        self.peers = peers
        self.full = full  # as large as the report, not as quick as a test
        self.tell = tell
        self.last = False  # there will be no other attempt

    def each(self, function):
        """function(peer) of every tool at the same time, by name."""
        with ThreadPoolExecutor(len(self.peers)) as pool:
            asked = {peer.name: pool.submit(function, peer)
                     for peer in self.peers}
            return {name: future.result() for name, future in asked.items()}

    def look(self, pid, fields, unless=lambda peer: False, **how):
        """{tool: {field: answer}} of one look, unless it is left out."""
        def one(peer):
            if unless(peer):
                return all_of(fields, Answer(UNASKED))
            try:
                return peer.look(pid, list(fields), **how)
            except Exception as error:  # a tool's output nobody foresaw
                return all_of(fields, Answer(BROKEN, None, repr(error)))
        return self.each(one)

    def watch(self, pid, fields, change):
        """Every tool sees the process, `change()` is called, and every tool
        goes on: {tool: [{field: answer}, ...]}, what it said afterwards. Tools
        on a terminal begin earlier: they need longer to settle."""
        slow = [p for p in self.peers if hasattr(p, "configure")]
        quick = [p for p in self.peers if p not in slow]
        watches = {}
        try:
            for group in (slow, quick):
                for peer in group:
                    watches[peer.name] = peer.watch(pid, list(fields))
                self.of(watches, group, lambda watch: watch.first(), fields)
                if group is slow and slow:
                    align([watches[peer.name] for peer in slow])
            change()
            self.leave_out_the_late(watches)
            return self.of(watches, self.peers,
                           lambda watch: watch.frames(), fields)
        finally:
            for watch in watches.values():
                if watch is not None:
                    watch.close()

    def leave_out_the_late(self, watches):
        """Who has looked again before it was over cannot be judged: another
        attempt, or in the last one without it, unless it is ours."""
        late = [name for name, watch in watches.items()
                if watch is not None and watch.is_late()]
        if late and (not self.last or "plim" in late):
            raise TooLate
        for name in late:
            watches[name].close()
            watches[name] = None

    def of(self, watches, peers, function, fields):
        def one(peer):
            watch = watches[peer.name]
            if watch is None:
                return [all_of(fields, Answer(UNASKED))]
            try:
                return function(watch)
            except Exception as error:  # a tool's output nobody foresaw
                return [all_of(fields, Answer(BROKEN, None, repr(error)))]
        if not peers:
            return {}
        with ThreadPoolExecutor(len(peers)) as pool:
            asked = {p.name: pool.submit(one, p) for p in peers}
            return {name: future.result() for name, future in asked.items()}

    def question(self, text, truth, answers, right):
        """Puts a question to the answers of each tool: one, or those of
        several rounds, of which the worst counts."""
        row = {"question": text, "truth": plain(truth), "answers": {}}
        for name, given in answers.items():
            if isinstance(given, Answer):
                given = [given]
            row["answers"][name] = worst(given, right)
        self.tell(row)


def plain(truth):
    return escaped(truth) if isinstance(truth, bytes) else str(truth)


def worst(answers, right):
    order = (WRONG, "broken", RIGHT, UNAVAILABLE, NOT_ASKED)
    judged = [(verdict(answer, right), answer) for answer in answers]
    for wanted in order:
        for word, answer in judged:
            if word == wanted:
                return {"verdict": word, "printed": answer.shown()}
    return {"verdict": NOT_ASKED, "printed": ""}


def pick(found, field):
    """The answers to one field: {tool: answer or list of answers}."""
    return {name: one[field] if isinstance(one, dict) else
            [frame[field] for frame in one] for name, one in found.items()}

"""answer.py - what a tool answered to one question, and what that is worth.

An answer is said (a value), refused (the tool says that it does not know),
absent (the process is not in its output, or it says that there is none), late
(no answer within the time) or unasked (the tool has no such figure). What was
printed is kept beside the value as bytes: names are hostile, so it is shown
escaped and cut, never raw. A verdict is made from a real answer and a truth
that was known before; nothing is judged by what a tool is known to do.
"""
SAID, REFUSED, ABSENT, LATE, UNASKED, BROKEN = (
    "said", "refused", "absent", "late", "unasked", "broken")

RIGHT, WRONG, UNAVAILABLE, NOT_ASKED = (
    "right", "WRONG", "unavailable", "-")

SHOWN = 110  # characters of what was printed


class Answer:
    def __init__(self, kind, value=None, printed=None):
        self.kind = kind
        self.value = value
        self.printed = value if printed is None else printed
        self.state = None  # why it is refused, from who has words for it

    def __repr__(self):
        return f"{self.kind} {self.shown()}"

    def shown(self):
        """What was printed, fit for a terminal and for one line."""
        text = self.printed
        if text is None:
            text = {LATE: "no answer", ABSENT: "nothing",
                    REFUSED: "it cannot be known"}.get(self.kind, self.kind)
        if isinstance(text, bytes):
            text = escaped(text)
        elif isinstance(text, float):
            text = f"{text:.2f}"
        text = escaped(str(text).encode("utf-8", "surrogateescape"))
        return text if len(text) <= SHOWN else text[:SHOWN - 3] + "..."


def escaped(data):
    """Bytes as ASCII, each other byte as \\xNN."""
    return "".join(chr(b) if 32 <= b < 127 else f"\\x{b:02x}" for b in data)


def said(value, printed=None):
    return Answer(SAID, value, printed)


def refused(text):
    return Answer(REFUSED, None, text)


def is_refused(answer, state):
    """It says that it does not know, and if it says why, for this reason."""
    return answer.kind == REFUSED and answer.state in (None, state)


def absent(text=None):
    return Answer(ABSENT, None, text)


def late(text):
    return Answer(LATE, None, text)


def unasked():
    return Answer(UNASKED)


def verdict(answer, right):
    """The verdict on one answer. `right` takes the answer and says True or
    False, or None for an honest "I do not know". Without an opinion of its
    own on it, not to know is unavailable, and the rest is wrong."""
    if answer.kind == UNASKED:
        return NOT_ASKED
    if answer.kind == BROKEN:
        return "broken"
    judged = right(answer)
    if judged is None:
        return UNAVAILABLE
    return RIGHT if judged else WRONG


def value_is(wanted, near=0.0):
    """For verdict(): said, and equal (or at most so far away, a share)."""
    def right(answer):
        if answer.kind == REFUSED:
            return None
        if answer.kind != SAID or answer.value is None:
            return False
        if near:
            return abs(answer.value - wanted) <= near * abs(wanted)
        return answer.value == wanted
    return right


def value_such_that(test):
    """For verdict(): said, and the test holds for the value."""
    def right(answer):
        if answer.kind == REFUSED:
            return None
        return answer.kind == SAID and bool(test(answer.value))
    return right

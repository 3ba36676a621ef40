"""rows.py - the rows of a bench: what was measured, held against a target."""
import sys

missed = 0


def row(what, target, measured, is_met=None):
    global missed
    word = "" if is_met is None else "met" if is_met else "MISSED"
    missed += is_met is False
    print(f"{what:48} {target:20} {str(measured):44} {word}", flush=True)


def finish():
    """Ends the bench, with 1 if a target was missed."""
    print(f"{missed} missed")
    sys.exit(missed > 0)

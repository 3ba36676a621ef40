#!/usr/bin/env python3
"""report_opened.py PAGE - does a browser show the page of plim report -o?

It must complain of nothing and load nothing, in light and in dark, fit a phone
without scrolling aside, and the flame graph in its frame must have been drawn:
its script fills the table below it. Status 1: no.
"""
import pathlib
import sys

import browser


def inside(page, expression):
    """What the frame of the flame graph says: a target of its own, or, for a
    browser that keeps it in the page's process, a part of the page's."""
    page.evaluate("1")  # whatever came before has been read
    frames = [event["params"]["sessionId"] for event in page.events
              if event.get("method") == "Target.attachedToTarget" and
              event["params"]["targetInfo"]["type"] == "iframe"]
    own = page.session
    if frames:
        page.session = frames[-1]
    else:
        tree = page.call("Page.getFrameTree")["frameTree"]
        if len(tree.get("childFrames", [])) != 1:
            sys.exit("there is no frame")
        page.context = page.call(
            "Page.createIsolatedWorld",
            frameId=tree["childFrames"][0]["frame"]["id"]
        )["executionContextId"]
    try:
        page.wait(expression)
    finally:
        page.session, page.context = own, None


def main():
    url = pathlib.Path(sys.argv[1]).resolve().as_uri()
    with browser.Browser(limit=40) as page:
        page.call("Target.setAutoAttach", autoAttach=True,
                  waitForDebuggerOnStart=False, flatten=True)
        for width, dark in ((1280, False), (390, True)):
            page.size(width, 900, dark=dark)
            page.open(url)
            wide = page.evaluate("document.documentElement.scrollWidth")
            if wide > width:
                sys.exit(f"{wide} pixels of {width}")
            if page.evaluate("document.querySelectorAll('.answer').length") \
                    != 3:
                sys.exit("no three answers")
            inside(page, "document.querySelectorAll("
                   "'#list tbody tr').length")
        wrong = page.wrong()
        if wrong:
            sys.exit("\n".join(wrong))


if __name__ == "__main__":
    try:
        main()
    except browser.Failed as failed:
        sys.exit(str(failed))

"""page_read.py - what the checks of pages share: reading one as a browser and
as an XML parser does, which must be the same."""
import html.parser
import sys
import xml.etree.ElementTree

VOID = {"meta"}


def give_up(text):
    print(text)
    sys.exit(1)


class Balance(html.parser.HTMLParser):
    """What a browser makes of it is what the XML says."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID and (not self.open or self.open.pop() != tag):
            give_up(f"</{tag}> at {self.getpos()}")


def read_page(path):
    """(text, root element) of a page of which nothing is left open."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    balance = Balance()
    balance.feed(text)
    balance.close()
    if balance.open:
        give_up(f"left open: {balance.open}")
    return text, xml.etree.ElementTree.fromstring(
        text.replace("<!DOCTYPE html>", "", 1))

#!/usr/bin/env python3
"""Checks that pages of `tessera report` are valid HTML that needs nothing else, and say what `inspect --json` says.

usage: check_report.py PAGE.html [INSPECTED.json ...]
"""

import json
import math
import re
import sys

import html5lib

HTML, SVG = "{http://www.w3.org/1999/xhtml}", "{http://www.w3.org/2000/svg}"
# all that a page may consist of: no scripts, no links, nothing embedded
ALLOWED = set(
    """html head meta title style body header main footer section article h1 h2 h3 h4 p small span code dl div dt dd br
    table thead tbody tr th td blockquote ol ul li b i pre figure figcaption details summary""".split()
)
ALLOWED_SVG = set("svg title desc line rect circle path text".split())
ATTRIBUTES = set(
    """lang charset http-equiv content name class title viewBox role x y x1 x2 y1 y2 cx cy r d width height dx
    text-anchor dominant-baseline scope colspan tabindex aria-label""".split()
)


def check_elements(document):
    for element in document.iter():
        if not isinstance(element.tag, str):
            raise ValueError(f"expected no comment, found {element!r}")
        name = element.tag.removeprefix(HTML).removeprefix(SVG)
        if name not in (ALLOWED_SVG if element.tag.startswith(SVG) else ALLOWED):
            raise ValueError(f"expected no element {name}")
        for attribute in element.attrib:
            if attribute not in ATTRIBUTES:
                raise ValueError(f"expected no attribute {attribute} of {name}")
        if element.tag == SVG + "svg":
            for part in ("title", "desc"):
                if not (element.findtext(SVG + part) or "").strip():
                    raise ValueError(f"expected a {part} in each figure")
            if not all(0 <= float(value) <= 1e5 for value in element.get("viewBox").split()):
                raise ValueError("expected a frame, found " + element.get("viewBox"))
        check_coordinates(element)


def check_coordinates(element):
    for attribute in ("x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "width", "height"):
        value = element.get(attribute)
        if value is not None and not -1 <= float(value) <= 1e5:
            raise ValueError(f"expected {attribute} within the frame, found {value}")


def check_style(text):
    if re.search(r"url\(|@import|http|expression", text):
        raise ValueError("expected a style that needs nothing else")


def shown_bits(bits):
    """In tenths, rounded down."""
    return math.floor(bits * 10 + 1e-5) / 10


def check_numbers(text, told):
    """The numbers of one proof."""
    scopes = {entry["scope"]: entry for entry in told["timings"]}
    expected = [
        f"{told['payload']['bytes']:,}",
        told["payload"]["digest"],
        told["key_digest"],
        told["digest"],
        f"{told['bytes']:,} bytes",
        f"{shown_bits(told['soundness']['least']):.1f}",
        f"{shown_bits(told['soundness']['sum']):.1f}",
        f"{told['machine']['ranks']} rank",
        f"{told['machine']['peak_memory'] / 2**20:.1f}",
    ]
    expected += [f"{entry['seconds']:.4f}" for entry in scopes.values()]
    expected += [f"{entry['peak_memory'] / 2**20:.1f}" for entry in scopes.values() if entry["peak_memory"]]
    expected += list(scopes)
    expected += [f"{shown_bits(entry['bits']):.1f}" for entry in told["rounds"]]
    expected += [entry["reason"] for entry in told["rounds"]]
    expected += [rank["processor"] for rank in told["ranks"]]
    for value in expected:
        if value not in text:
            raise ValueError(f"expected {value!r} in the page, found none")


def check_order(document):
    """Verdict, then texts, then the rest, which is folded."""
    body = document.find(HTML + "body")
    main = body.find(HTML + "main")
    if [child.tag for child in body] != [HTML + name for name in ("header", "main", "footer")]:
        raise ValueError("expected header, main, footer")
    kinds = [child.tag.removeprefix(HTML) for child in main if child.tag != HTML + "p" and child.get("class") != "wide"]
    texts = kinds.index("details")
    if set(kinds[:texts]) != {"section"} or set(kinds[texts:]) != {"details"}:
        raise ValueError(f"expected texts, then what is folded, found {kinds}")
    for place in ("figure", "pre", "ol"):
        outside = sum(1 for child in main if child.tag != HTML + "details" for _ in child.iter(HTML + place))
        if outside:
            raise ValueError(f"expected each {place} folded, found {outside} outside")


def check_tables(document, proofs):
    """Each once, with a column for each proof or for those that agree."""
    labels = [item.get("aria-label") for item in document.iter(HTML + "div") if item.get("role") == "region"]
    if len(labels) != len(set(labels)):
        raise ValueError(f"expected each table once, found {labels}")
    for region in document.iter(HTML + "div"):
        if region.get("aria-label") == "Seconds by scope":
            heads = [head.text for head in region.iter(HTML + "th")]
            if ", ".join(heads[1:]).split(", ") != [str(i + 1) for i in range(proofs)]:
                raise ValueError(f"expected a column for each proof, found {heads}")


def check_colours(document):
    """A scope has one colour in all figures and tables, and no two outermost scopes have the same."""
    colours = {}
    for item in document.iter():
        name = None
        if item.tag in (SVG + "rect", SVG + "circle"):
            tip = item.findtext(SVG + "title")
            name = tip.split(":")[0] if tip.startswith("/") else None
        elif item.tag in (HTML + "td", HTML + "li") and item.find(HTML + "span") is not None and "swatch" in item.find(HTML + "span").get("class"):
            name = "".join(item.itertext()).split(" ")[0]
            item = item.find(HTML + "span")
        if name and name.startswith("/") and len(name) > 1:
            colour = next(word for word in item.get("class").split() if word.startswith("c"))
            colours.setdefault("/" + name.split("/")[1], set()).add(colour)
    if len(colours) < 5 or any(len(found) != 1 for found in colours.values()):
        raise ValueError(f"expected one colour of each scope, found {colours}")
    known = [found for found in map(tuple, colours.values()) if found != ("c11",)]
    if len(known) != len(set(known)):
        raise ValueError(f"expected another colour of each scope, found {colours}")


def check_tokens(document, told):
    tiles = ["".join(tile.itertext()) for tile in document.iter(HTML + "li") if tile.get("class") in ("prompt", "generated")]
    ids = told["prompt"] + told["generated"]
    if len(tiles) != len(ids) or not all(tile.endswith(str(token)) for tile, token in zip(tiles, ids)):
        raise ValueError("expected a tile for each token")
    places = [tile.get("title") for tile in document.iter(HTML + "li") if tile.get("class") == "generated"]
    first = len(told["prompt"])
    start = told["continues"]["positions"] + 1 if told["continues"] else 0
    for i, place in enumerate(places):
        if not place.startswith(f"position {start + first + i}, "):
            raise ValueError(f"expected the place of generated token {i}, found {place}")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        source = file.read()
    document = html5lib.HTMLParser(strict=True).parse(source)
    check_elements(document)
    for style in document.iter(HTML + "style"):
        check_style(style.text)
    text = "".join(document.itertext())
    told = []
    for path in sys.argv[2:]:
        with open(path, encoding="ascii") as file:
            told.append(json.load(file))
        check_numbers(text, told[-1])
    check_order(document)
    if told:
        check_tables(document, len(told))
        check_colours(document)
    if len(told) == 1:
        check_tokens(document, told[0])


if __name__ == "__main__":
    try:
        main()
    except (ValueError, html5lib.html5parser.ParseError) as error:
        sys.exit(f"{sys.argv[1]}: {error}")

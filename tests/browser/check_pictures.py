#!/usr/bin/env python3
"""Checks what can be of the pictures in a folder without looking: size, paper, ink, colours of the figures.

usage: check_pictures.py FOLDER
"""

import sys
from pathlib import Path

from PIL import Image

LIGHT, DARK = (255, 255, 255), (0x14, 0x17, 0x1B)


def colours(image):
    """How often each colour is in a picture."""
    return {colour: count for count, colour in image.convert("RGB").getcolors(1 << 24)}


def check(folder, name, width, paper):
    image = Image.open(folder / f"{name}.png")
    found = colours(image)
    if image.width != width:
        raise ValueError(f"{name}: expected a width of {width}, found {image.width}")
    if max(found, key=found.get) != paper:
        raise ValueError(f"{name}: expected paper {paper}, found {max(found, key=found.get)}")
    ink = sum(count for colour, count in found.items() if max(abs(a - b) for a, b in zip(colour, paper)) > 90)
    if not 0.01 < ink / (image.width * image.height) < 0.5:
        raise ValueError(f"{name}: expected text and figures, found {ink} pixels of ink")
    coloured = {c for c, count in found.items() if count > 300 and max(c) - min(c) > 40}
    if len(coloured) < 5:
        raise ValueError(f"{name}: expected the colours of figures, found {coloured}")


def main():
    folder = Path(sys.argv[1])
    for name in ("one", "unverified", "talk", "many"):
        check(folder, f"{name}-open", 1000, LIGHT)
    check(folder, "many-dark-open", 1000, DARK)
    for name in ("one", "many"):
        check(folder, f"{name}-narrow-open", 390, LIGHT)


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError) as error:
        sys.exit(str(error))

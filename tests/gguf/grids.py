"""Compares the points of the grids of IQ types in src/checkpoints/gguf/grids.cpp, the one place where they stand, with those of
the package gguf. Of a grid that differs it prints the digits that the package's points have.

usage: grids.py src/checkpoints/gguf/grids.cpp
"""

import re
import sys

from gguf import quants

GRIDS = {"iq1": "IQ1_S", "iq2_xxs": "IQ2_XXS", "iq2_xs": "IQ2_XS", "iq2_s": "IQ2_S", "iq3_xxs": "IQ3_XXS", "iq3_s": "IQ3_S"}


def published(name):
    """Digits, coordinates of a point and values of each, as grids.cpp has them."""
    kind = getattr(quants, name)
    kind.init_grid()
    values = list(kind.grid_map)
    rows = [[values.index(value) for value in row] for row in kind.grid.reshape(kind.grid_shape)]
    numbers = [sum(digit * len(values) ** j for j, digit in enumerate(row)) for row in rows]
    assert all(a < b for a, b in zip(numbers, numbers[1:]))  # the set says the order too
    return f"{sum(1 << number for number in numbers):x}"[::-1], len(rows[0]), len(values)


def own(source):
    """The same of each grid in grids.cpp."""
    marks = {name: "".join(re.findall(r'"(\w*)"', text))
             for name, text in re.findall(r'std::string_view (\w+)_marks =([^;]*);', source)}
    return {name: (marks.pop(name), int(size), int(base))
            for size, base, name in re.findall(r"expand<(\d+), (\d+)>\((\w+)_marks\)", source)}


def main():
    with open(sys.argv[1]) as file:
        found = own(file.read())
    if found.keys() != GRIDS.keys():
        sys.exit(f"FAILED: expected the grids {sorted(GRIDS)}, found {sorted(found)}")
    different = 0
    for name, kind in GRIDS.items():
        expected = published(kind)
        if found[name] != expected:
            different += 1
            print(f"FAILED: {name}: expected points of {expected[1]} coordinates of {expected[2]} values, "
                  f"found {found[name][1:]}; the package's points are\n{expected[0]}")
    if different:
        sys.exit(1)
    print(f"{len(GRIDS)} grids: the points of the package gguf")


main()

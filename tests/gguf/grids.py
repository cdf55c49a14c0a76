"""Writes src/model/gguf/grids.cpp: which points the grids of IQ types have, of the package gguf.

usage: grids.py > ../../src/model/gguf/grids.cpp
"""

from gguf import quants

GRIDS = {"iq1": "IQ1_S", "iq2_xxs": "IQ2_XXS", "iq2_xs": "IQ2_XS", "iq2_s": "IQ2_S", "iq3_xxs": "IQ3_XXS", "iq3_s": "IQ3_S"}
WIDTH = 112

HEAD = '''#include "model/gguf/grids.hpp"

#include <string_view>

namespace tessera {
namespace {

// Written by tests/gguf/grids.py. Of each grid, the set of its points among all: bit i of the hexadecimal number whose
// digits follow each other from the lowest is the point whose coordinate j is digit j of i in the grid's base.'''

TAIL = '''
template <std::size_t size, unsigned base>
std::vector<std::array<std::uint8_t, size>> expand(std::string_view marks) {
  std::vector<std::array<std::uint8_t, size>> points;
  for (unsigned number = 0; number / 4 < marks.size(); ++number) {
    const char digit = marks[number / 4];
    const unsigned bits = static_cast<unsigned>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
    if ((bits >> number % 4 & 1U) == 0) {
      continue;
    }
    auto& point = points.emplace_back();
    for (unsigned rest = number, j = 0; j < size; ++j, rest /= base) {
      point[j] = static_cast<std::uint8_t>(rest % base);
    }
  }
  return points;
}

}  // namespace
'''


def points(name):
    kind = getattr(quants, name)
    kind.init_grid()
    values = list(kind.grid_map)
    numbers = [[values.index(value) for value in row] for row in kind.grid.reshape(kind.grid_shape)]
    return [sum(digit * len(values) ** j for j, digit in enumerate(row)) for row in numbers], numbers, len(values)


def main():
    print(HEAD)
    functions = []
    for own, name in GRIDS.items():
        found, rows, base = points(name)
        assert all(a < b for a, b in zip(found, found[1:]))  # the set says the order too
        bits = sum(1 << number for number in found)
        text = f"{bits:x}"[::-1]
        print(f"constexpr std::string_view {own}_marks =")
        lines = [text[i:i + WIDTH] for i in range(0, len(text), WIDTH)]
        print("\n".join(f'    "{line}"' for line in lines) + ";")
        size = len(rows[0])
        functions.append(f'''
const std::vector<{"Point8" if size == 8 else "Point4"}>& {own}_grid() {{
  static const auto points = expand<{size}, {base}>({own}_marks);
  return points;
}}''')
    print(TAIL.rstrip("\n"))
    print("\n".join(functions))
    print("\n}  // namespace tessera")


main()

#!/usr/bin/env python3
"""Vectors that a program copies in halves through memory: two stores side by side, then one read of both.

A processor forwards a store to a later read only if the store holds all that is read; else the read waits until both
stores are in the cache, a dozen cycles each time. Compilers make such copies of std::memcpy into a vector, in kernels
where the source shows nothing of it.

    split_copies.py PROGRAM    a line for each function that has more than are known; exit code 1 if any
    split_copies.py --self-test
"""
import collections
import re
import subprocess
import sys

WIDTHS = {'x': 16, 'y': 32, 'z': 64}
STORE = re.compile(r'vmov(?:dq[au]\d*|[au]p[sd])\s+%([xy])mm\d+,([^%]*\(.*\))$')
READ = re.compile(r'.*[^,]\s(?:\$\w+,)?([^%,\s]*\([^)]*\))(?:\{[^}]*\})?,.*%([yz])mm\d+')
PLACE = re.compile(r'(-?0x[0-9a-f]+)?\(([^)]*)\)')
# A kernel of a sum-check copies its formula once in front of each of its loops: as many as it has loops.
KNOWN = {re.compile(r'tessera::N_\w+::run_ValueNormRelation\('): 6}
# instructions between a store and a read that still waits for it
WINDOW = 24


def place(operand):
    offset, base = PLACE.search(operand).groups()
    return base, int(offset or '0', 16)


def copies_by_function(listing):
    """Numbers of copies in halves by function, of lines that objdump -dC --no-show-raw-insn --no-addresses prints."""
    found = collections.Counter()
    function, stores = '', []
    for line in listing:
        line = line.rstrip('\n')
        if line.endswith('>:'):
            function, stores = line[:-2].lstrip('<'), []
            continue
        line = line.strip()
        stores = [(age - 1, *rest) for age, *rest in stores if age > 0]
        if store := STORE.match(line):
            base, offset = place(store.group(2))
            stores.append((WINDOW, base, offset, WIDTHS[store.group(1)]))
        elif read := READ.match(line):
            base, offset = place(read.group(1))
            width = WIDTHS[read.group(2)]
            begins = {start: size for _, of, start, size in stores if of == base}
            first = begins.get(offset)
            if first and first < width and begins.get(offset + first) == first:
                found[function] += 1
    return found


def known_copies(function):
    return next((count for pattern, count in KNOWN.items() if pattern.match(function)), 0)


def self_test():
    split = ['<f>:', ' vmovdqa %xmm1,-0x40(%rbp)', ' nop', ' vmovdqa %xmm2,-0x30(%rbp)', ' vpaddd -0x40(%rbp),%ymm0,%ymm0']
    whole = ['<f>:', ' vmovdqa %ymm1,-0x40(%rbp)', ' vpaddd -0x40(%rbp),%ymm0,%ymm0']
    elsewhere = split[:4] + [' vmovdqa -0x80(%rbp),%ymm0']
    halves = ['<f>:', ' vmovups %ymm1,(%rsp)', ' vmovups %ymm2,0x20(%rsp)', ' vmovdqu64 (%rsp),%zmm3']
    late = split[:4] + [' nop'] * WINDOW + split[4:]
    for listing, expected in ((split, 1), (whole, 0), (elsewhere, 0), (halves, 1), (late, 0)):
        if copies_by_function(listing)['f'] != expected:
            sys.exit(f'split_copies: {listing}: expected {expected} copies')
    print('self-test passed')


def main():
    if sys.argv[1:] == ['--self-test']:
        return self_test()
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    command = ['objdump', '-dC', '--no-show-raw-insn', '--no-addresses', sys.argv[1]]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as objdump:
        found = copies_by_function(objdump.stdout)
    if objdump.returncode != 0:
        sys.exit('split_copies: objdump failed')
    new = [(function, count) for function, count in found.most_common() if count > known_copies(function)]
    for function, count in new:
        print(f'{count} copies of a vector in halves through memory, {known_copies(function)} known: {function}')
    if new:
        sys.exit(1)
    print('no vector is copied in halves where it costs time')


main()

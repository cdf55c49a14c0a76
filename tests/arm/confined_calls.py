#!/usr/bin/env python3
"""System calls of confined processes under emulation, where no kernel stops them.

    confined_calls.py TRACE    what qemu-aarch64-static -strace wrote; exit code 1 if a confined process makes a call that
                               the filter of src/archive/confinement.cpp would end it for, or if there is no such process
    confined_calls.py --self-test
"""
import collections
import re
import sys

CALL = re.compile(r'^(\d+) (?:Unknown syscall )?(\w+)')
# the call after which the filter is put in force
CONFINED = re.compile(r'^(\d+) prctl\((?:PR_SET_NO_NEW_PRIVS|38),')
ALLOWED = {
    'write', 'brk', 'munmap', 'mremap', 'madvise', 'futex', 'sched_yield', 'clock_gettime', 'getcwd', 'gettimeofday',
    'getrandom', 'rt_sigreturn', 'exit', 'exit_group', 'mmap', 'mprotect', 'getpid', 'gettid', 'rt_sigprocmask',
    'rt_sigaction', 'tgkill'
}
REFUSED = {'openat', 'writev'}  # and the process goes on


def calls_by_process(lines):
    """Calls of every process that is confined, from then on."""
    calls = {}
    for line in lines:
        call = CALL.match(line)
        if confined := CONFINED.match(line):
            calls[confined.group(1)] = collections.Counter()
        elif call and call.group(1) in calls:
            calls[call.group(1)][call.group(2)] += 1
    return calls


def self_test():
    lines = ['7 openat(1,2) = 3', '7 prctl(PR_SET_NO_NEW_PRIVS,1,0) = 0', '8 socket(1) = 2', '7 write(3,1) = 1',
             '7 Unknown syscall 293']
    if calls_by_process(lines) != {'7': collections.Counter({'write': 1, '293': 1})}:
        sys.exit('confined_calls: expected two calls of one process')
    print('self-test passed')


def main():
    if sys.argv[1:] == ['--self-test']:
        return self_test()
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding='utf-8', errors='replace') as trace:
        processes = calls_by_process(trace)
    found = sum(processes.values(), collections.Counter())
    wrong = {call: count for call, count in found.items() if call not in ALLOWED | REFUSED}
    if not processes or not found['write'] or wrong:
        sys.exit(f'confined_calls: {len(processes)} confined processes, calls that would end them: {wrong}')
    print(f'{len(processes)} confined processes make only calls that the filter knows: {", ".join(sorted(found))}')


main()

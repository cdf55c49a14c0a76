#!/usr/bin/env bash
# jobs/simulate.sh refuses what it does not know, before it builds anything.
source "$(dirname "$0")/common.sh"
simulate() { timeout 100 bash "$source/jobs/simulate.sh" "$@"; }
expect 2 '^simulate: unknown option --fast$' simulate --fast
expect 2 '^usage: jobs/simulate.sh' simulate --fast
expect 2 '^simulate: --shape: expected a value, found none$' simulate --shape
expect 2 '^simulate: --shape: .*/none.json: expected a file, found none$' simulate --shape none.json
expect 2 '^simulate: --length: expected a length like 112\+16, found 112$' simulate --length 112
expect 2 '^simulate: expected numbers of ranks, found x$' simulate 4 x
finish

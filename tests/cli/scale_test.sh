#!/usr/bin/env bash
# jobs/scale.sh refuses what it does not know; scale.py's table, from plans with known numbers.
source "$(dirname "$0")/common.sh"
scale() { timeout 100 bash "$source/jobs/scale.sh" "$@"; }
expect 2 '^scale: unknown option --fast$' scale --fast
expect 2 '^usage: jobs/scale.sh' scale --fast
expect 2 '^scale: --rates: expected a value, found none$' scale --rates
expect 2 '^scale: --rates: .*/none.json: expected a file, found none$' scale --rates none.json
expect 2 '^scale: --simulate: expected numbers of ranks, found 4,x$' scale --simulate 4,x

# the table needs no matplotlib, which is asked for only to draw
mkdir plans
python3 - <<'EOF'
import json
for name in ("gpt2", "llama-7b"):
    for ranks, seconds in ((1, 8.0), (4, 2.5), (16, 1.0)):
        phases = [{"scope": "/lookup", "seconds": 0.75 * seconds, "communication": 0.1 * seconds},
                  {"scope": "/opening", "seconds": 0.25 * seconds, "communication": 0}]
        plan = {"seconds": seconds, "memory": 2**30 / ranks, "phases": phases, "note": ""}
        json.dump(plan, open(f"plans/{name}-{ranks}.json", "w"))
EOF
table() {
  python3 -c "import pathlib, sys; sys.dont_write_bytecode = True; sys.path.insert(0, '$source/jobs'); import scale
print('\n'.join(scale.table(scale.load(pathlib.Path('plans'), '$1'))))"
}
expect 0 '^\| 4 \| 2\.5 s \| 3\.2 x \| 80 % \| 10\.0 % \| 256 MiB \| lookup 1\.88 s, opening 0\.625 s \|$' table gpt2
grep -q '^| 16 | 1 s | 8.0 x | 50 % |' output || fail "efficiency: $(cat output)"
rm plans/gpt2-1.json
expect 2 '^scale: plans: expected plans with times of GPT-2 small' python3 -B "$source/jobs/scale.py" plans
expect_absent plans/scaling.svg
finish

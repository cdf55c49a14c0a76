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
        plan = {"seconds": seconds, "memory": 2**30 / ranks, "phases": phases, "note": "", "rates": {"machine": "a core"}}
        json.dump(plan, open(f"plans/{name}-{ranks}.json", "w"))
EOF
rows() { # WHICH FOLDER: rows of scale.py
  python3 -c "import pathlib, sys; sys.dont_write_bytecode = True; sys.path.insert(0, '$source/jobs'); import scale
folder = pathlib.Path('$2')
if '$1' == 'predicted':
    for name, title in scale.MODELS:
        print('\n'.join(scale.table(title, scale.load(folder, name))))
else:
    print('\n'.join(scale.compared('x', scale.load(folder, 'gpt2'), scale.load(folder, 'simulation'))))"
}
expect 0 '^\| predicted \| GPT-2 small, 448 \+ 64 \| 4 \| 2\.5 s \| 3\.2 x \| 80 % \| 10\.0 % \| 256 MiB \| lookup 1\.88 s, opening 0\.625 s \| a core \|$' \
  rows predicted plans
grep -q '| 16 | 1 s | 8.0 x | 50 % |' output || fail "efficiency: $(cat output)"
echo '{"seconds": 8, "scopes": [{"scope": "/lookup", "seconds": 7, "network": 0.4}, {"scope": "/opening", "seconds": 1, "network": 0}]}' >plans/simulation-1.json
echo '{"seconds": 4, "scopes": [{"scope": "/lookup", "seconds": 3, "network": 0.4}, {"scope": "/opening", "seconds": 1, "network": 0}]}' >plans/simulation-4.json
expect 0 '^\| simulated \| x \| 4 \| 4\.000 s \| 2\.0 x \| 50 % \| 10\.0 % \| \| predicted 2\.500 s; lookup 3\.000, 1\.875 s, opening 1\.000, 0\.625 s \| this \|$' \
  rows simulated plans

# the page has the rows that plans of this program give, made as jobs/scale.sh makes them
mkdir now
(
  build=$programs out=$PWD/now rates=src/guide/scaling/rates.json
  cd "$source" || exit
  eval "$(sed -n '/^plan() {$/,/^}$/p; /^for ranks in 1 4 /,/^done$/p' jobs/scale.sh)"
) 2>errors || fail "plans: $(cat errors)"
rows predicted now >predicted
grep '^| predicted |' "$source/src/guide/scaling.md" | diff predicted - ||
  fail "src/guide/scaling.md differs: run jobs/scale.sh --rates src/guide/scaling/rates.json and take its rows"

rm plans/gpt2-1.json
expect 2 '^scale: plans: expected plans with times of GPT-2 small' python3 -B "$source/jobs/scale.py" plans
expect_absent plans/scaling.svg
finish

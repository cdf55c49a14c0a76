#!/usr/bin/env bash
# What a job will cost, against what it did: tessera plan, and what archives keep of communication and ownership.
source "$(dirname "$0")/common.sh"
export XDG_CACHE_HOME="$scratch/cache"
make_files

# holds FILE EXPRESSION: a Python expression of d, what the JSON file says
holds() {
  python3 -c "import json,sys; d = json.load(open(sys.argv[1])); sys.exit(not ($2))" "$1" || fail "$1: expected $2"
}
inspect_json() { tessera inspect --json "$1" >inspected.json || fail "inspect --json $1"; }
total="[s for s in d['communication'] if s['scope'] == '/'][0]"

# archives: calls and bytes by scope, who owned what
prove_on 3 --out three.h5 >/dev/null || fail "prove on 3 ranks"
expect 0 '^ranks +3 on 1 machine$' tessera inspect three.h5
grep -Eq '^ +[1-9][0-9]* +[1-9][0-9]* +[1-9][0-9]*  /lookup$' output || fail "no communication of /lookup: $(cat output)"
inspect_json three.h5
holds inspected.json "all(len(s['sent']) == len(s['received']) == 3 for s in d['communication'])"
holds inspected.json "$total['calls'] > 100 and all(bytes > 10000 for bytes in $total['received'])"
holds inspected.json "$total['calls'] >= sum(s['calls'] for s in d['communication'] if s['scope'].count('/') == 1 and s != $total)"
holds inspected.json "len(d['hosts']) == 3"
holds inspected.json "all(o['first'][0] == 0 and o['first'][3] == o['length'] and len(o['first']) == 4 for o in d['ownership'])"
holds inspected.json "{'wq', 'embedding'} <= {name for o in d['ownership'] for name in o['tensors'].split()}"
inspect_json proof.h5
holds inspected.json "len(d['communication']) > 10 and all(s['sent'] == s['received'] == [0] for s in d['communication'])"

# the plan's ownership is the job's; without rates it has no times
plan() { tessera plan --quiet --model model.h5 --tokens 5+5 "$@"; }
expect 0 'no times without rates of this machine: tessera plan --measure' plan --ranks 3
head -n 1 output | grep -Eq '^plan +time unknown, [0-9]+ MiB a rank$' || fail "no summary first: $(head -n 1 output)"
grep -q '0\.0000' output && fail "times that nobody knows: $(cat output)"
plan --ranks 3 --json >planned.json || fail "plan --json"
inspect_json three.h5
holds planned.json "d['ownership'] == json.load(open('inspected.json'))['ownership'] and d['seconds'] is None"
tessera plan --key commitment/verifying.key --tokens 5+5 --ranks 3 --json >again.json || fail "plan --key"
cmp -s planned.json again.json || fail "a plan of the key differs from that of the model"

# times follow from rates: a machine of half the speed takes twice as long; amounts and memory shrink with ranks
plan --json >one.json || fail "plan"
holds planned.json "all(p['amount'] < q['amount'] for p, q in zip(d['phases'][:-1], json.load(open('one.json'))['phases']))"
holds planned.json "d['memory'] < json.load(open('one.json'))['memory'] and abs(d['memory'] - sum(d['memory_parts'].values())) < 9"
python3 - one.json <<'EOF'
import json, sys
phases = [phase["phase"] for phase in json.load(open(sys.argv[1]))["phases"]]
for name, rate in ("rates.json", 1e-9), ("slow.json", 2e-9):
    rates = {"ranks": 1, "nodes": 1, "threads": 1, "seconds": {phase: rate for phase in phases}, "process_bytes": 1000}
    json.dump({"format": "tessera rates", "version": 4, "machine": "none", "rates": [rates]}, open(name, "w"))
EOF
plan --rates rates.json --threads 1 --json >fast-plan.json || fail "plan --rates"
plan --rates slow.json --threads 1 --json >slow-plan.json || fail "plan --rates"
expect 0 '^plan +about [0-9.e-]+ s, [0-9]+ MiB a rank$' plan --rates rates.json --threads 1
holds fast-plan.json "abs(2 * d['seconds'] / json.load(open('slow-plan.json'))['seconds'] - 1) < 1e-9 and d['note'] == ''"
expect 0 'rates are those of 1 rank of 1 thread on 1 machine, the nearest measured' \
  plan --rates rates.json --ranks 2 --threads 2
# a shape needs no model
tessera plan --quiet --json --shape "$source/configs/gutenberg-2m/config.json" --tokens 32+32 >shape.json || fail "plan --shape"
holds shape.json "d['memory'] > 2**26 and d['note'].startswith('no times')"
# billions of look-ups are one instance
expect 0 '^plan +about [0-9.]+ h, [0-9]+ MiB a rank$' \
  tessera plan --quiet --shape "$source/configs/llama-2-7b.json" --tokens 960+64 --rates rates.json --threads 1
expect 0 "4096 threads on a machine of $(nproc --all) cores" plan --rates rates.json --ranks 4096 --threads 1

# rates of this machine, of one rank and of two together, replace those of another version and then stand side by side
mkdir -p "$scratch/cache/tessera"
measured=$scratch/cache/tessera/rates.json
sed 's/"version": 4/"version": 3/' rates.json >"$measured"
expect 0 'no times without rates of this machine' plan
expect 0 '/tessera/rates.json: rates of ' tessera plan --measure --threads 1 --quiet
ranks 2 tessera plan --measure --threads 1 --quiet >/dev/null || fail "plan --measure on 2 ranks"
holds "$measured" "[(r['ranks'], r['nodes'], r['threads']) for r in d['rates']] == [(1, 1, 1), (2, 1, 1)]"
holds "$measured" "all(0 < s < 1 for r in d['rates'] for s in r['seconds'].values())"
plan --ranks 2 --threads 1 --json >two.json || fail "plan with the measured rates"
holds two.json "d['rates']['ranks'] == 2 and d['seconds'] > 0 and 'nearest' not in d['note']"

# memory is about that of jobs
tessera import --quiet --checkpoint "$source/configs/gutenberg-2m" --out 2m.h5 >/dev/null || fail "import"
tessera commit --quiet --model 2m.h5 --out 2m >/dev/null || fail "commit"
for length in 16 112; do
  for count in 1 3; do
    ranks $count tessera prove --quiet --model 2m.h5 --commitment 2m --tokens "$(seq -s, 5 $((length + 4)))" --generate 16 \
      --threads 1 --out 2m-proof.h5 >/dev/null || fail "prove $length + 16 on $count"
    inspect_json 2m-proof.h5
    tessera plan --quiet --model 2m.h5 --tokens "$length+16" --ranks $count --threads 1 --json >planned.json || fail "plan"
    holds planned.json "0.75 < d['memory'] / max(s['peak_memory'] for s in json.load(open('inspected.json'))['timings']) < 1.3"
  done
done

# bad input
expect_error 2 '^tessera: --nodes: expected a divisor of --ranks, 3, found 2$' plan --ranks 3 --nodes 2
expect_error 2 '^tessera: --nodes: expected at most as many as --ranks, 3, found 4$' plan --ranks 3 --nodes 4
expect_error 2 '^tessera: --tokens: expected PROMPT\+GENERATED' tessera plan --model model.h5 --tokens 5+
expect_error 2 '^tessera: --tokens: expected PROMPT\+GENERATED' tessera plan --model model.h5 --tokens x5
expect_error 2 "length" tessera plan --model model.h5 --tokens 4000+4000
expect_error 2 '^tessera: plan: expected one of --model, --key and --shape, or --measure$' tessera plan --tokens 5+5
expect_error 2 '^tessera: none.json: expected a file of rates, found none' plan --rates none.json
echo '{}' >bad.json
expect_error 2 '^tessera: bad.json: expected a file of rates' plan --rates bad.json
sed 's/"lookup": 1e-09/"lookup": -1/' rates.json >bad.json
expect_error 2 '^tessera: bad.json: expected a file of rates: lookup: expected a number >= 0' plan --rates bad.json
sed 's/"threads": 1/"threads": 0/' rates.json >bad.json
expect_error 2 '^tessera: bad.json: expected a file of rates: threads: expected a number >= 1' plan --rates bad.json
expect_absent
finish

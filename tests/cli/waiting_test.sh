#!/usr/bin/env bash
# Threads that wait sleep, unless the environment says something of them.
source "$(dirname "$0")/common.sh"
unset OMP_WAIT_POLICY GOMP_SPINCOUNT
make_files
# what the process of a job has in its environment, as its proof says
waiting() {
  tessera inspect --json proof.h5 | python3 -c 'import json, sys
configuration = json.loads(json.load(sys.stdin)["configuration"])
print(configuration.get("OMP_WAIT_POLICY"), configuration.get("GOMP_SPINCOUNT"))'
}
expect_same "$(waiting)" "passive 10000" "alone"
prove_on 2 --out proof.h5 >/dev/null || fail "prove on 2 ranks"
expect_same "$(waiting)" "passive 10000" "under mpirun"
OMP_WAIT_POLICY=active prove --out proof.h5 >/dev/null || fail "prove"
expect_same "$(waiting)" "active None" "a policy that was chosen"
GOMP_SPINCOUNT=7 prove --out proof.h5 >/dev/null || fail "prove"
expect_same "$(waiting)" "None 7" "a count that was chosen"
# names, standard input and signals are those of the program that was started
echo "The old" | tessera prove --quiet --model model.h5 --commitment commitment --prompts - --generate 2 --out many >/dev/null ||
  fail "standard input"
expect_error 2 '^tessera: none.h5: ' tessera inspect none.h5
finish

#!/usr/bin/env bash
# Tiny random models of each family, made on the spot by the reference implementation: the float model computes what
# transformers does in float64, the integers diverge little and choose the same tokens, and are proven on 1 and 2 ranks
# with the same bytes, sampled, and under hiding keys. Usage: families_test.sh PROGRAMS MPIRUN SOURCE PYTHON FOLDER
# [NAME...], PYTHON with torch and transformers; the models are left in FOLDER. A few minutes on two cores.
set -u
programs=$(realpath "$1") mpirun=$2 source=$(realpath "$3") python=$(realpath -s "$4") folder=$(realpath "$5")
source "$source/jobs/packages.sh" # settings for mpirun
export PYTHONDONTWRITEBYTECODE=1 OMP_WAIT_POLICY=passive HF_HUB_OFFLINE=1
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader
capped=(gemma2) # not sampled: said by name
failures=0
fail() { printf 'FAILED: %s: %s\n' "$name" "$*"; failures=$((failures + 1)); }
tessera() { "$programs/tessera" "$@"; }
families() { "$python" "$source/tests/models/families.py" "$@"; }
field() { sed -n "s/^$1  *//p" "$2" | cut -d ' ' -f 1; }
between() { awk -v x="$1" -v low="$2" -v high="$3" 'BEGIN { exit !(x != "" && x + 0 >= low && x + 0 <= high) }'; }

mkdir -p "$folder" && cd "$folder" || exit 3
mapfile -t names < <(families list)
[ $# -le 5 ] || names=("${@:6}")
[ ${#names[@]} -gt 0 ] || exit 3
rm -rf "${names[@]}" && mkdir "${names[@]}" || exit 3
head -c 3500 "$source/configs/gutenberg-llama-3m/sample.txt" >text.txt
families make "$source/configs/gutenberg-llama-3m" "${names[@]}" >make.log 2>&1 &&
  families truth text.txt "${names[@]}" >truth.log 2>&1 || { tail -n 5 make.log truth.log; exit 3; }

# what the integers lose, and whether they choose the same tokens
check_integers() {
  tessera evaluate --quiet --model "$name/m.h5" --checkpoint "$name" --text text.txt >"$name/evaluate.log" || fail "evaluate"
  divergence=$(field divergence "$name/evaluate.log") ratio=$(field ratio "$name/evaluate.log")
  between "$divergence" -2e-5 2e-5 || fail "divergence: expected at most 2e-5, found '$divergence'"
  between "$ratio" 0.999001 1.001 || fail "ratio: expected within 1.001, found '$ratio'"
  # A divergence D says that logits are off by sqrt(2 D) (standard deviation), their differences by 2 sqrt(D): three times
  # that is what rounding may decide.
  most=$(awk -v x="$divergence" 'BEGIN { print 6 * sqrt(x < 0 ? 0 : x) }')
  equal=()
  for number in 0 1 2; do
    tokens=$("$python" -c 'import json, sys; print(*json.load(open(sys.argv[1]))["prompts"][int(sys.argv[2])]["ids"], sep=",")' \
      "$name/truth.json" $number)
    tessera generate --quiet --model "$name/m.h5" --tokens "$tokens" --generate 24 --ids "$name/ids" >"$name/generate.log" ||
      fail "generate"
    equal+=("$(families greedy "$name" $number "$(tr -s ' \n' ',' <"$name/ids" | sed 's/,$//')" "$most")") ||
      fail "prompt $number: ${equal[-1]:-other tokens}, expected at most $most"
  done
  printf '%-20s divergence %s, ratio %s, tokens %s\n' "" "$divergence" "$ratio" "$(printf '%s; ' "${equal[@]}")"
}

# the continuation of the prompt that is longer than the windows
check_proofs() {
  tessera commit --quiet --model "$name/m.h5" --out "$name/c" >"$name/commit.log" || fail "commit"
  for ranks in 1 2; do
    "$mpirun" -n $ranks "$programs/tessera" prove --quiet --model "$name/m.h5" --commitment "$name/c" --tokens "$tokens" \
      --expect-ids "$name/ids" --out "$name/p$ranks.h5" >"$name/prove.log" 2>&1 || fail "prove on $ranks ranks: $(tail -n 1 "$name/prove.log")"
    "$programs/tessera-verify" --key "$name/c/verifying.key" "$name/p$ranks.h5" >"$name/verdict" || fail "verify, $ranks ranks"
    grep -q '^ACCEPTED' "$name/verdict" || fail "the proof on $ranks ranks is not accepted: $(tail -n 1 "$name/verdict")"
    tessera inspect "$name/p$ranks.h5" | grep '^payload' >"$name/payload$ranks"
  done
  [ -s "$name/payload1" ] && cmp -s "$name/payload1" "$name/payload2" || fail "other bytes on 2 ranks"
}

# one more proof: COMMITMENT OPTION...
check_proof() {
  tessera prove --quiet --model "$name/m.h5" --commitment "$name/$1" --tokens "$tokens" --out "$name/p.h5" "${@:2}" \
    >"$name/prove.log" 2>&1 || fail "prove ${*:2}: $(tail -n 1 "$name/prove.log")"
  "$programs/tessera-verify" --key "$name/$1/verifying.key" "$name/p.h5" >"$name/verdict" || fail "verify ${*:2}"
  grep -q '^ACCEPTED' "$name/verdict" || fail "the proof ${*:2} is not accepted: $(tail -n 1 "$name/verdict")"
}

check_other_proofs() {
  tessera commit --quiet --model "$name/m.h5" --out "$name/h" --hiding --proofs 2 >"$name/commit.log" || fail "commit --hiding"
  check_proof h --expect-ids "$name/ids"
  if [[ " ${capped[*]} " == *" $name "* ]]; then
    tessera prove --quiet --model "$name/m.h5" --commitment "$name/c" --tokens "$tokens" --generate 6 --temperature 0.9 \
      --out "$name/p.h5" >"$name/prove.log" 2>&1
    [ $? -eq 2 ] && grep -q 'logits have no cap' "$name/prove.log" || fail "is sampled: take it out of 'capped'"
    return
  fi
  check_proof c --generate 6 --temperature 0.9 --top-k 40 --top-p 0.9
  check_proof h --generate 6 --temperature 0.9 --min-p 0.01
}

for name in "${names[@]}"; do
  floats=$("$programs/tests/float_logits" "$name" 2>&1) || fail "the float model differs: $floats"
  printf '%-20s %s\n' "$name" "$floats"
  tessera import --quiet --checkpoint "$name" --out "$name/m.h5" >"$name/import.log" 2>&1 ||
    { fail "import: $(tail -n 1 "$name/import.log")"; continue; }
  check_integers
  check_proofs
  check_other_proofs
done
[ $failures -eq 0 ] || { echo "$failures failures"; exit 1; }
echo "passed"

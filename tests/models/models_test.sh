#!/usr/bin/env bash
# A published model as it comes: imported, compared with llama.cpp and with its own floats, committed to, proven on 1 and
# 3 ranks, verified, continued, hidden; 300 prompts that nobody calibrated for. Needs the package xllamacpp.
# Usage: models_test.sh PROGRAMS MPIRUN SOURCE PYTHON FOLDER, FOLDER with SmolLM2-135M-Instruct.Q4_1.gguf. Half an hour
# on two cores.
set -u
programs=$(realpath "$1") mpirun=$2 source=$(realpath "$3") python=$(realpath -s "$4") folder=$(realpath "$5")
source "$source/jobs/packages.sh" # settings for mpirun
export PYTHONDONTWRITEBYTECODE=1 OMP_WAIT_POLICY=passive
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader
checkpoint=$folder/SmolLM2-135M-Instruct.Q4_1.gguf
tests=$source/tests/models
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 3
failures=0
fail() { printf 'FAILED: %s\n' "$*"; failures=$((failures + 1)); }
timed() { # NAME COMMAND...
  local begin name=$1
  shift
  begin=$(date +%s%N)
  "$@" || fail "$*"
  printf '%-28s %.1f s\n' "$name" "$(($(date +%s%N) - begin))e-9"
}
tessera() { "$programs/tessera" "$@"; }
field() { sed -n "s/^$1  *//p" "$2" | cut -d ' ' -f 1; }
at_most() { # NAME VALUE LIMIT
  printf '%-28s %s\n' "$1" "$2"
  awk -v x="$2" -v y="$3" 'BEGIN { exit !(x + 0 <= y + 0 && x != "") }' || fail "$1: expected at most $3, found '$2'"
}
# ask NAME QUESTION [BEFORE]: the variable NAME becomes the question as the model is asked (with its last line end)
ask() { printf -v "$1" '%b<|im_start|>user\n%s<|im_end|>\n<|im_start|>assistant\n' "${3:-}" "$2"; }
ask sea 'Write three sentences about the sea.'
ask france 'What is the capital of France?'
ask italy 'What is the capital of Italy?' '\n'

echo "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53  $checkpoint" | sha256sum -c --quiet || exit 3
timed "import" tessera import --quiet --checkpoint "$checkpoint" --out model.h5

# What the integers cost, on a book and on chats that calibration has not seen.
head -c 12000 "$source/configs/gutenberg-2m/sample.txt" >book.txt
cp "$tests/chat.txt" chat.txt
for text in book chat; do
  tessera evaluate --quiet --model model.h5 --checkpoint "$checkpoint" --text $text.txt >$text.log || fail "evaluate $text"
  echo "$text:"
  printf '%-28s %s\n' "  tokens" "$(field 'tokens scored' $text.log)"
  at_most "  divergence" "$(field divergence $text.log)" 5e-5
  at_most "  ratio" "$(field ratio $text.log)" 1.002
  at_most "  1/ratio" "$(awk -v x="$(field ratio $text.log)" 'BEGIN { print 1 / x }')" 1.002
  at_most "  other likeliest, %" "$(awk -v x="$(field 'same likeliest' $text.log)" 'BEGIN { print 100 - x }')" 0.5
done

timed "commit" tessera commit --quiet --model model.h5 --out commitment
digest=4cd62cfcbe065aac694a8b399ee67429d77016e5099496e131382f8b3de5d2ea # README.md shows it
[ "$(field 'key digest' <(tessera inspect commitment))" = $digest ] || fail "key digest: expected $digest, $(tessera inspect commitment)"
prove() { # RANKS OUT MORE...
  "$mpirun" -n "$1" "$programs/tessera" prove --quiet --model model.h5 --commitment commitment --out "$2" "${@:3}" >"$2.log"
}
verify() { "$programs/tessera-verify" --key commitment/verifying.key "$@" >verdict; }

timed "prove, 1 rank" prove 1 one.h5 --prompt "$sea" --generate 64
timed "prove, 3 ranks" prove 3 three.h5 --prompt "$sea" --generate 64
payload() { tessera inspect "$1" | grep '^payload'; }
[ "$(payload one.h5)" = "$(payload three.h5)" ] || fail "other bytes on 3 ranks"
timed "verify" verify one.h5
grep '^ACCEPTED' verdict || fail "the verdict is not ACCEPTED"
printf '%-28s %s bytes\n' "proof" "$(stat -c %s one.h5)"

# Floats: perplexity of a text by llama.cpp, which rounds activations to 8 bits, and by the float model.
head -c 500 "$tests/chat.txt" >float.txt
prove 1 float.h5 --prompt "$(cat float.txt)" --generate 1 || fail "prove"
tessera inspect --json float.h5 | "$python" -c 'import json, sys; print(*json.load(sys.stdin)["prompt"])' >ids || fail "ids"
"$python" "$tests/logits.py" "$checkpoint" ids "$france" >llama.log 2>llama.err ||
  { fail "llama.cpp"; tail llama.err; }
tessera evaluate --quiet --model model.h5 --checkpoint "$checkpoint" --text float.txt >float.log || fail "evaluate"
printf '%-28s %s, by llama.cpp %s\n' "float perplexity" "$(field 'float perplexity' float.log)" "$(field perplexity llama.log)"
awk -v x="$(field 'float perplexity' float.log)" -v y="$(field perplexity llama.log)" \
  'BEGIN { exit !(y > 0 && x / y < 1.02 && y / x < 1.02) }' || fail "perplexity: expected that of llama.cpp within 2 %"

# The conversation of README.md, in two parts, and hidden.
timed "part 1" prove 2 part1.h5 --prompt "$france" --generate 9 --keep state
timed "part 2" prove 2 part2.h5 --continue state --prompt "$italy" --generate 9 --keep state2
for part in part1 part2; do
  printf '%-28s %s bytes\n' "$part" "$(stat -c %s $part.h5)"
done
grep -q 'The capital of France is Paris\.' part1.h5.log || fail "part 1: $(cat part1.h5.log)"
grep -q 'The capital of Italy is Rome\.' part2.h5.log || fail "part 2: $(cat part2.h5.log)"
verify part1.h5 part2.h5 && grep '^ACCEPTED' verdict || fail "the conversation is not accepted"
grep -q 'The capital of France is Paris\.' llama.log || fail "llama.cpp answers otherwise: $(cat llama.log)"
timed "commit, hiding" tessera commit --quiet --model model.h5 --out hidden --hiding --proofs 2
prove_hidden() {
  tessera prove --quiet --model model.h5 --commitment hidden --out hidden.h5 --prompt "$france" --generate 9 >hidden.log
}
timed "prove, hiding" prove_hidden
"$programs/tessera-verify" --key hidden/verifying.key hidden.h5 | grep '^ACCEPTED' || fail "the hiding proof is not accepted"

# Prompts that nobody calibrated for: each has a proof.
"$python" "$tests/prompts.py" 49152 $(seq 0 16) >prompts
infer() { "$programs/tests/infer_prompts" "$1" prompts 4 "${@:3}" >"$2"; }
timed "300 prompts, inference" infer model.h5 infer.log
cut -c 1-100 infer.log

# One with values beyond their range, proven: without room above calibration's, the 16th.
timed "import, no room" tessera import --quiet --margin 1 --checkpoint "$checkpoint" --out tight.h5
tessera commit --quiet --model tight.h5 --out tight || fail "commit"
infer tight.h5 tight.log 15 1 || fail "inference"
grep -q ', clamped [1-9]' tight.log || fail "a prompt that needs exceptions: $(cat tight.log)"
ids=$(sed -n 's/.*ids \[\(.*\)\]$/\1/p' tight.log)
for ranks in 1 3; do
  "$mpirun" -n $ranks "$programs/tessera" prove --quiet --model tight.h5 --commitment tight --out clamped$ranks.h5 \
    --tokens "$ids" --generate 4 >clamped.log || fail "prove on $ranks ranks"
done
[ "$(payload clamped1.h5)" = "$(payload clamped3.h5)" ] || fail "exceptions: other bytes on 3 ranks"
"$programs/tessera-verify" --key tight/verifying.key clamped1.h5 >verdict || fail "a proof with exceptions is rejected"
grep -E '^ACCEPTED|clamped' verdict
grep -q '^[1-9].* clamped: ' verdict || fail "the verdict does not say what is clamped"
! "$programs/tessera-verify" --key tight/verifying.key --max-exceptions 0 clamped1.h5 >verdict || fail "--max-exceptions"
[ $failures -eq 0 ] || { echo "$failures failures"; exit 1; }
echo "passed"

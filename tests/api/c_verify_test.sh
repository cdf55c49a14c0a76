#!/usr/bin/env bash
# The program of c_verify_test.c on the stored proofs. Usage: c_verify_test.sh PROGRAM GOLDEN
set -euo pipefail
program=$1 golden=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for model in odd-40k odd-qwen-60k; do
  gunzip -c "$golden/$model.key.gz" >"$scratch/$model.key"
done
"$program" "$scratch/odd-40k.key" "$scratch/odd-qwen-60k.key" "$golden/odd-40k.proof" "$golden/odd-40k.proof.part1" \
  "$golden/odd-40k.proof.part2"

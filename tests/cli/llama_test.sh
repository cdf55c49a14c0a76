#!/usr/bin/env bash
# Models of the Llama family with the real programs: heads that are no powers of two and share keys and values; with norms
# on heads and an untied head (odd-qwen-60k), with biases (odd-qwen2-50k).
source "$(dirname "$0")/common.sh"

# prove RANKS MODEL COMMITMENT OPTIONS...
prove() { ranks "$1" tessera prove --quiet --model "$2.h5" --commitment "$3" "${@:4}"; }

for model in odd-qwen-60k odd-qwen2-50k; do
  checkpoint="$source/configs/$model" key=$model.whole/verifying.key
  expect 0 "$model.h5: digest [0-9a-f]{64}\$" tessera import --quiet --checkpoint "$checkpoint" --out $model.h5
  expect 0 '^ratio +(0\.999|1\.000)' tessera evaluate --quiet --model $model.h5 --checkpoint "$checkpoint" \
    --text "$checkpoint/sample.txt"
  grep -Eq '^divergence +[0-9.]+e-0[5-9] nats a token' output || fail "divergence: $(cat output)"
  grep -Eq '^same likeliest +(99\.[0-9]+|100\.000) %$' output || fail "likeliest: $(cat output)"

  # a commitment of files, and one that is computed again when it is opened: one key, whatever computes it
  expect 0 '^parameter root  [0-9a-f]{64}$' tessera commit --quiet --model $model.h5 --out $model.whole
  root=$(sed -n 's/^parameter root *//p' output)
  expect 0 "^parameter root  $root\$" tessera commit --quiet --compact --model $model.h5 --out $model.compact
  cmp $key $model.compact/verifying.key || fail "$model: a compact commitment has another key"
  expect_same "$(ls $model.compact)" "$(ls $model.whole)"
  [ $(($(size_of $model.compact/codeword-00000.h5) * 2)) -lt "$(size_of $model.whole/codeword-00000.h5)" ] || fail "$model: not compact"
  expect 0 "^parameter root  $root\$" ranks 3 tessera commit --quiet --compact --model $model.h5 --out $model.ranks
  diff -r $model.compact $model.ranks || fail "$model: a compact commitment of 3 ranks differs"

  # an auditor's import with the exponents, powers of two and width of the key gives the key again
  expect 0 'digest' tessera import --quiet --checkpoint "$checkpoint" --out auditor.h5 --exponents $key
  expect 0 "^parameter root  $root\$" tessera commit --quiet --compact --model auditor.h5 --out auditor
  cmp $key auditor/verifying.key || fail "$model: an auditor's key differs"

  # one payload for any number of ranks and either commitment
  expect 0 'proof of' prove 1 $model $model.whole --prompt "The old man" --generate 5 --out $model.proof.h5
  digest=$(payload_digest $model.proof.h5)
  [ ${#digest} -eq 64 ] || fail "$model: no payload digest"
  for count in 1 2 3; do
    for kind in whole compact; do
      expect 0 'proof of' prove $count $model $model.$kind --prompt "The old man" --generate 5 --out again.h5
      expect_same "$(payload_digest again.h5)" "$digest" "$model, $kind, $count ranks"
    done
  done
  expect 0 '^ACCEPTED$' verify --key $key $model.proof.h5 --expect-prompt "The old man"
  expect 1 '^REJECTED at /statement: the prompt is not the expected one' \
    verify --key $key $model.proof.h5 --expect-prompt "The old men"
  ids=$(verify --key $key $model.proof.h5 | sed -n 's/^prompt ([0-9]* tokens): //p')
  expect 0 '^ACCEPTED$' verify --key $key $model.proof.h5 --expect-ids "${ids// /,}"

  # a conversation; the state is that of any number of ranks
  expect 0 'proof of' prove 1 $model $model.whole --prompt "The old man" --generate 4 --keep $model.state --out part1.h5
  expect 0 'proof of' prove 3 $model $model.compact --prompt "The old man" --generate 4 --keep state3 --out part1b.h5
  expect_same "$(payload_digest part1.h5)" "$(payload_digest part1b.h5)" "$model: a part that keeps a state"
  diff -r $model.state state3 || fail "$model: the state of 3 ranks differs"
  for count in 1 2; do
    expect 0 'proof of' prove $count $model $model.compact --continue state3 --prompt " and" --generate 3 \
      --pass-length 2 --out part2-$count.h5
  done
  expect_same "$(payload_digest part2-1.h5)" "$(payload_digest part2-2.h5)" "$model: a continuation"
  expect 0 '^ACCEPTED$' verify --key $key part1.h5 part2-2.h5 --expect-prompt "The old man" --expect-prompt " and"
  expect 1 'give all parts in order' verify --key $key part2-2.h5
  # the same tokens in one proof
  all=$(verify --key $key part1.h5 part2-2.h5 | sed -n 's/^\(prompt\|generated\) ([0-9]* tokens)://p' | tr -d '\n')
  read -ra tokens <<<"$all"
  expect 0 'proof of' prove 2 $model $model.whole --tokens "$(IFS=, && echo "${tokens[*]::${#tokens[@]}-3}")" \
    --generate 3 --out one.h5
  expect_same "$(verify --key $key one.h5 | sed -n 's/^\(prompt\|generated\) ([0-9]* tokens)://p' | tr -d '\n')" "$all"
  rm -rf state3
done

# proofs, states and commitments of the other model
expect 1 '^REJECTED' verify --key odd-qwen2-50k.whole/verifying.key odd-qwen-60k.proof.h5
expect 1 '^REJECTED' verify --key odd-qwen-60k.whole/verifying.key odd-qwen2-50k.proof.h5
for kind in whole compact; do
  expect_error 2 "odd-qwen2-50k.$kind/verifying.key: expected the key of odd-qwen-60k.h5, found another model's" \
    prove 2 odd-qwen-60k odd-qwen2-50k.$kind --prompt "The old man" --generate 3 --out bad.h5
done
expect_error 2 'odd-qwen2-50k.state/state.h5: key_digest: expected [0-9a-f]* of this model' \
  prove 2 odd-qwen-60k odd-qwen-60k.whole --continue odd-qwen2-50k.state --generate 3 --out bad.h5

# damaged, mixed and foreign compact commitments: nothing is written
damaged() {
  rm -rf damaged
  cp -r odd-qwen-60k.compact damaged
}
cannot() { expect_error 2 "$1" prove 2 odd-qwen-60k damaged --prompt "The old man" --generate 3 --out bad.h5; }
damaged
flip damaged/codeword-00000.h5 $(($(size_of damaged/codeword-00000.h5) / 2)) # among the leaves, which are most of it
expect_error 2 'damaged/codeword-00000.h5: tree/level-00: expected digest [0-9a-f]{64}, found [0-9a-f]{64} \(the file is damaged\)$' \
  tessera inspect --check damaged/codeword-00000.h5
damaged
truncate -s 2000 damaged/codeword-00000.h5
cannot 'damaged/codeword-00000.h5: '
damaged
rm damaged/codeword-00000.h5
cannot 'damaged/codeword-00000.h5: expected a file'
damaged
cp odd-qwen2-50k.compact/codeword-00000.h5 damaged/
cannot 'damaged/codeword-00000.h5: |commitment: column'
damaged
truncate -s 2000 damaged/codeword.h5
cannot 'damaged/codeword.h5: '
damaged
rm damaged/codeword.h5
cannot 'damaged/codeword.h5: expected a file'
damaged
cp odd-qwen-60k.proof.h5 damaged/codeword.h5
cannot 'damaged/codeword.h5: format: expected tessera codeword'
damaged
cp odd-qwen2-50k.compact/codeword.h5 damaged/
cannot 'damaged/codeword.h5: root: expected [0-9a-f]{64}, found [0-9a-f]{64}$'
craft parameter odd-qwen-60k.h5 other.h5 # a model of the same shape
tessera commit --quiet --compact --model other.h5 --out other >/dev/null || fail "commit"
another='other/codeword.h5: parameters_digest: expected [0-9a-f]{64} of odd-qwen-60k.h5, found [0-9a-f]{64} of another model$'
expect_error 2 "$another" prove 2 odd-qwen-60k other --prompt "The old man" --generate 3 --out bad.h5
damaged
cp other/codeword-00000.h5 damaged/
cannot 'commitment: column [0-9]*: expected that of the committed values, found another one$'
expect 0 'tessera codeword, format version' tessera inspect --check odd-qwen-60k.compact/codeword.h5
expect_absent bad.h5

# what is not supported is refused by name
refused() { # PATTERN SED-SCRIPT [IMPORT-OPTIONS...]: of odd-qwen-60k with a changed config.json
  rm -rf changed
  mkdir changed
  cp "$source"/configs/odd-qwen-60k/* changed/
  chmod u+w changed/*
  sed -i "$2" changed/config.json
  expect_error 2 "$1" tessera import --quiet --checkpoint changed --out bad.h5 "${@:3}"
}
field() { printf 's/"model_type"/"%s": %s, &/' "$1" "$2"; }
refused 'config.json: model_type: expected .*qwen3.*found "qwen3_moe"' 's/"qwen3"/"qwen3_moe"/'
refused 'config.json: field "num_experts" is not supported, found 8' "$(field num_experts 8)"
refused 'config.json: sliding_window: expected a positive integer, found 0' \
  's/"use_sliding_window": false/"use_sliding_window": true/; s/"max_window_layers": 28/"max_window_layers": 1/; s/4096/0/'
refused 'config.json: layer_types: expected full_attention or sliding_attention' "$(field layer_types '["linear_attention", "full_attention"]')"
refused 'config.json: rope_scaling: rope_type: expected .*"llama3".*found "dynamic"' \
  's/"rope_scaling": null/"rope_scaling": {"rope_type": "dynamic", "factor": 2.0}/'
refused 'config.json: rope_scaling: original_max_position_embeddings: expected a value, found none' \
  's/"rope_scaling": null/"rope_scaling": {"rope_type": "yarn", "factor": 2.0}/'
refused 'config.json: head_dim: expected an even number, found 13' 's/"head_dim": 12/"head_dim": 13/'
refused 'config.json: num_key_value_heads: expected a divisor of num_attention_heads = 6, found 4' \
  's/"num_key_value_heads": 3/"num_key_value_heads": 4/'
refused 'config.json: attention_bias: expected one of \[false\], found true' 's/"attention_bias": false/"attention_bias": true/'
refused 'config.json: hidden_act: expected .*found "tanh"' 's/"silu"/"tanh"/'
refused 'config.json: attn_logit_softcapping: expected one of \[null\], found 50' "$(field attn_logit_softcapping 50.0)"
refused 'config.json: quantization_config: expected one of \[null\]' "$(field quantization_config '{"bits": 4}')"
refused 'config.json: max_position_embeddings: expected at least the chosen context, 65, found 64' 's/-/-/' --context 65
expect_absent bad.h5

# context and width of the gated product may be chosen
expect 0 'digest' tessera import --quiet --checkpoint "$source/configs/odd-qwen-60k" --out small.h5 --context 32 --width t=24
expect 0 'parameter root' tessera commit --quiet --compact --model small.h5 --out small
expect 0 'digest' tessera import --quiet --checkpoint "$source/configs/odd-qwen-60k" --out same.h5 --exponents small.h5
expect 0 'parameter root' tessera commit --quiet --compact --model same.h5 --out same
cmp small/verifying.key same/verifying.key || fail "--exponents does not take context and width"
expect 0 'proof of' prove 2 small small --prompt "The old man" --generate 3 --out small.proof.h5
expect 0 '^ACCEPTED$' verify --key small/verifying.key small.proof.h5 --expect-prompt "The old man"
expect_error 2 'expected at most 32 tokens' prove 1 small small --prompt "The old man" --generate 32 --out bad.h5
finish

#!/usr/bin/env bash
# Wrong usage, checkpoints and prompts that cannot be used, targets that cannot be written, values out of range.
source "$(dirname "$0")/common.sh"
make_files
key=commitment/verifying.key
# the job that fails in each of these leaves nothing, alone and on ranks
try() { tessera prove --quiet --model model.h5 --commitment commitment --out bad.h5 "$@"; }
try_on() { ranks "$1" tessera prove --quiet --model model.h5 --commitment commitment --out bad.h5 "${@:2}"; }

# wrong usage
expect_error 2 '^tessera: expected a command, found none$' tessera
expect_error 2 '^tessera: "nonsense": expected a command, found none of that name$' tessera nonsense
expect_error 2 '^tessera: "prov": expected a command, found none of that name; the nearest is prove$' tessera prov --model a
expect_error 2 '^tessera: "verify": .*; proofs are verified by the program tessera-verify$' tessera verify proof.h5
expect_error 2 '^tessera: "--genrate": expected an option of prove, found none of that name; the nearest is --generate$' \
  try --prompt a --generate 1 --genrate 1
expect_error 2 '^tessera-verify: "--jsn": expected an option of tessera-verify, .*; the nearest is --json$' \
  verify --key $key proof.h5 --jsn
expect 2 '--model is required' tessera prove
expect 2 '--generate' try --prompt a
expect 2 '--generate' try --prompt a --generate 0
expect 2 '--generate' try --prompt a --generate many
expect 2 '' try --generate 1
expect 2 '' try --prompt a --tokens 1 --generate 1
expect 2 '--threads' try --prompt a --generate 1 --threads 0
expect 2 '--nonsense' try --prompt a --generate 1 --nonsense
expect 2 '--nonsense' try_on 3 --prompt a --generate 1 --nonsense
expect 2 '--exponents' tessera import --checkpoint "$odd" --out bad.h5 --calibrate a --exponents b
expect 2 '--key is required' verify proof.h5
expect 2 'proof is required' verify --key $key
expect 2 '' verify --key $key proof.h5 more.h5
expect 2 'none.toml' try --config none.toml --prompt a --generate 1
printf '[prove]\ngenerate = = 1\n' >bad.toml
expect_error 2 '^tessera: bad.toml: line 2: ' try --config bad.toml --prompt a
printf '[prove]\ngenerate = 1\n\nmodle = "a"\n' >bad.toml
expect_error 2 '^tessera: bad.toml: line 4: modle: expected an option of prove, found none of that name; the nearest is model$' \
  try --config bad.toml --prompt a
printf '[prove]\ngenerate = 1\n[prov]\nmodel = "a"\n' >bad.toml
expect_error 2 '^tessera: bad.toml: line 3: \[prov\]: expected a command, .*; the nearest is prove$' try --config bad.toml --prompt a
printf '[prove]\n[prove.more]\na = 1\n' >bad.toml
expect_error 2 '^tessera: bad.toml: line 2: prove.more: expected a value, found a table$' try --config bad.toml --prompt a
# directories and files in each other's place
expect_error 2 '^tessera-verify: commitment: expected a file, found a directory: in it is commitment/verifying.key$' \
  verify --key commitment proof.h5
expect_error 2 '^tessera: commitment/verifying.key: expected a directory written by commit, found a file: it is in commitment$' \
  tessera prove --quiet --model model.h5 --commitment $key --prompt a --generate 1 --out bad.h5
mkdir nothing_in_it
expect_error 2 '^tessera: nothing_in_it: expected a directory with verifying.key, .* found neither in it$' tessera inspect nothing_in_it
expect_absent bad.h5

# prompts
expect_error 2 '--prompt: expected at least one token, found none' try --prompt "" --generate 1
expect_error 2 '--prompt and --generate: expected at most 48 tokens together, found 49' try --tokens 1 --generate 48
expect_error 2 '--prompt and --generate: expected at most 48 tokens together, found [0-9]+' \
  try_on 2 --prompt "$(head -c 4000 "$odd/sample.txt")" --generate 1
expect_error 2 '--tokens: expected ids below 300, found 300' try --tokens 1,300 --generate 1
expect_error 2 '--tokens: expected ids below 300, found 4294967295' try_on 3 --tokens 4294967295 --generate 1
expect 2 '--tokens' try --tokens 1,x --generate 1
expect 2 '--tokens' try --tokens=-1 --generate 1
expect_absent bad.h5
expect 0 '5 \+ 43 tokens' tessera prove --quiet --model model.h5 --commitment commitment --prompt "The old" --generate 43 --out full.h5
expect 0 '^ACCEPTED$' verify --key $key full.h5
expect 0 '1 \+ 1 tokens' tessera prove --quiet --model model.h5 --commitment commitment --tokens 299 --generate 1 --out one.h5
expect 0 '1 tokens' tessera prove --quiet --model model.h5 --commitment commitment --prompt $'\xff\xfe' --generate 1 --out bytes.h5
expect 0 '^ACCEPTED$' verify --key $key bytes.h5 --expect-prompt $'\xff\xfe'
grep -qP '[\x80-\xff]' output && fail "bytes that are no text reach the terminal"

# texts
expect_error 2 'none.txt: expected a readable text file' tessera evaluate --quiet --model model.h5 --text none.txt
: >empty.txt
expect_error 2 '--text: expected at least two tokens, found 0' tessera evaluate --quiet --model model.h5 --text empty.txt
expect_error 2 'calibration text' tessera import --quiet --checkpoint "$odd" --out bad.h5 --calibrate empty.txt
expect_error 2 'expected a readable text file' tessera import --quiet --checkpoint "$odd" --out bad.h5 --calibrate .
expect_absent bad.h5

# checkpoints
take() { tessera import --quiet --checkpoint folder --out bad.h5; }
renew() { rm -rf folder && cp -r "$odd" folder; }
refuse() { # PATTERN: of the changed folder
  expect_error 2 "$1" take
  expect_absent bad.h5
}
weights=folder/model_f16.safetensors
expect_error 2 'none' tessera import --quiet --checkpoint none --out bad.h5
renew && rm folder/config.json && refuse 'config.json'
renew && rm $weights && refuse 'safetensors'
renew && rm folder/vocab.json && refuse 'folder: expected tokenizer.json, found none'
renew && rm folder/merges.txt && refuse 'merges.txt'
renew && echo '{' >folder/config.json && refuse 'config.json'
renew && sed -i 's/"n_embd": 36/"n_embd": 24/' folder/config.json && refuse 'safetensors: .*expected .*24.*found .*36'
renew && sed -i 's/"gelu_new"/"relu"/' folder/config.json && refuse 'config.json: activation_function'
renew && sed -i 's/"n_layer": 2/"n_layer": 3/' folder/config.json && refuse 'safetensors: .*h\.2\.'
renew && sed -i 's/"n_layer": 2/"n_layer": 1/' folder/config.json && refuse 'safetensors: .*h\.1\.'
renew && sed -i 's/"n_positions": 48/"n_positions": 99999/; s/"n_ctx": 48/"n_ctx": 99999/' folder/config.json && refuse 'positions'
renew && LC_ALL=C sed -i '1s/wte\.weight/wtX.weight/' $weights && refuse 'safetensors: .*wt[eX].weight'
renew && LC_ALL=C sed -i '1s/ln_f\.bias/ln_f.more/' $weights && refuse 'safetensors: .*ln_f.(bias|more)'
renew && printf '\x00\x7e' | dd of=$weights bs=1 seek=$(($(size_of $weights) - 2)) conv=notrunc status=none && refuse 'safetensors: .*(NaN|nan)'
renew && printf '\x00\x7c' | dd of=$weights bs=1 seek=$(($(size_of $weights) - 2)) conv=notrunc status=none && refuse 'safetensors: .*inf'
renew && truncate -s -100 $weights && refuse 'safetensors: '
renew && echo more >>$weights && refuse 'safetensors: '
renew && printf '\xff\xff\xff\xff\xff\xff\xff\x7f' | dd of=$weights bs=1 conv=notrunc status=none && refuse 'safetensors: .*header'
renew && : >folder/vocab.json && refuse 'vocab.json'
renew && sed -i 's/"n_head": 3/"n_head": 5/' folder/config.json && refuse 'n_head|heads'

# exponents of another scale; values that leave their range on all ranks alike
craft exponent model.h5 scaled.h5 w1 3
expect_error 2 'scaled.h5: shift_1: expected 1 to 16, found 19' tessera import --quiet --checkpoint "$odd" --out bad.h5 --exponents scaled.h5
expect_absent bad.h5
craft overflow model.h5 overflow.h5
tessera commit --quiet --exceptions 0 --model overflow.h5 --out overflow >/dev/null || fail "commit"
for count in 1 3; do
  expect_error 3 '^tessera: block [01], .*: value -?[0-9]+ outside \[-[0-9]+, [0-9]+\] of the quantized model$' \
    ranks $count tessera prove --quiet --model overflow.h5 --commitment overflow --prompt "The old" --generate 9 --out bad.h5
  expect 0 '^integer perplexity ' ranks $count tessera evaluate --quiet --model overflow.h5 --text "$odd/sample.txt"
done
expect_absent bad.h5

# targets
for target in missing/bad.h5 /proc/bad.h5 /dev/full links; do
  mkdir -p links
  expect_error 2 "$target: (cannot be written|expected a regular file)" \
    tessera import --quiet --checkpoint "$odd" --out $target
  expect_error 2 "$target: (cannot be written|expected a regular file)" prove --out $target
  expect_error 2 "$target: (cannot be written|expected a regular file)" prove_on 3 --out $target
done
expect_error 2 'proof.h5: expected a writable directory' tessera commit --quiet --model model.h5 --out proof.h5
expect_error 2 '/proc/bad: cannot be written' tessera commit --quiet --model model.h5 --out /proc/bad
expect_error 2 '--log' tessera commit --model model.h5 --out bad --log /proc/none/log.txt
expect_error 2 '--log missing/log.txt: expected a folder missing, found none' \
  tessera commit --model model.h5 --out bad --log missing/log.txt
expect_error 2 '--log commitment: cannot be written' tessera commit --model model.h5 --out bad --log commitment
expect_absent missing bad
expect_error 2 '--scratch /proc/traces: cannot be written' prove --scratch /proc/traces --out bad.h5
expect_absent bad bad.h5
cmp -s <(tessera inspect model.h5 | head -n 2) <(tessera inspect model.h5 | head -n 2) || fail "model.h5 was touched"

# a full disk
mkdir small
if mount -t tmpfs -o size=1m tmpfs small 2>/dev/null; then
  trap 'umount -l "$scratch/small"; rm -rf "$scratch" "$sessions"' EXIT
  expect_error 3 'small/c.*No space left on device' tessera commit --quiet --model model.h5 --out small/c
  expect_error 3 'small/c.*No space left on device' ranks 2 tessera commit --quiet --model model.h5 --out small/c
  [ -z "$(ls -A small)" ] || fail "a full disk keeps $(ls -A small)"
  head -c 900000 /dev/zero >small/filler
  expect_error 3 'small/p.h5: ' prove --out small/p.h5
  expect_error 3 'small/p.h5: ' prove_on 2 --out small/p.h5
  expect_error 3 'small/m.h5: ' tessera import --quiet --checkpoint "$odd" --out small/m.h5
  expect_error 3 'small/traces' prove --scratch small/traces --out bad.h5
  [ "$(ls -A small | grep -v traces)" = filler ] || fail "a full disk keeps $(ls -A small)"
  [ -z "$(find small/traces -type f)" ] || fail "a full disk keeps $(find small/traces)"
else
  echo "SKIPPED: full disk: needs the right to mount a small tmpfs"
fi
expect_absent bad.h5
finish

#!/usr/bin/env bash
# Damaged, foreign and hostile files, one after the other: one clear line, the right exit code, nothing left over.
source "$(dirname "$0")/common.sh"
make_files
key=commitment/verifying.key

# every file, cut at several places and with bits flipped, where each program reads it
read_model() { tessera commit --quiet --model "$1" --out bad; }
read_model_to_prove() {
  tessera prove --quiet --model "$1" --commitment commitment --prompt a --generate 1 --out bad.h5
}
read_key() { verify --key "$1" proof.h5; }
read_key_to_import() { tessera import --quiet --checkpoint "$odd" --out bad.h5 --exponents "$1"; }
read_proof() { verify --key $key "$@"; }
inspect() { tessera inspect --check "$1"; }
# A byte that nothing depends on (the library's gaps; weights that are not read) may be flipped without effect.
damage() { # FILE COMMAND...: COMMAND on damaged copies of FILE
  local size offset refused=0
  size=$(size_of "$1")
  cp "$1" damaged.h5
  "${@:2}" damaged.h5 >good 2>&1
  rm -rf bad bad.h5
  for offset in 0 1 100 $((size / 2)) $((size - 1)); do
    head -c "$offset" "$1" >damaged.h5
    expect_error 2 'damaged.h5: ' "${@:2}" damaged.h5
    expect_absent bad bad.h5
  done
  for offset in 0 9 60 300 $((size / 7)) $((size / 3)) $((size / 2)) $((size * 2 / 3)) $((size - 40)); do
    cp "$1" damaged.h5
    flip damaged.h5 "$offset"
    if "${@:2}" damaged.h5 >output 2>&1; then
      cmp -s output good || fail "$1 with byte $offset flipped gives something else: $*"
      rm -rf bad bad.h5
    else
      expect_error 2 'damaged.h5: ' "${@:2}" damaged.h5
      refused=$((refused + 1))
    fi
    expect_absent bad bad.h5
  done
  [ $refused -ge 4 ] || fail "only $refused damaged copies are refused: $*"
}
damage model.h5 read_model
damage model.h5 read_model_to_prove
damage $key read_key
damage $key read_key_to_import
damage proof.h5 read_proof
damage commitment/codeword-00000.h5 inspect

# another type, no file, a folder, a device
for command in read_model read_model_to_prove; do
  expect_error 2 'proof.h5: format: expected tessera model, found tessera proof' $command proof.h5
done
expect_error 2 'model.h5: format: expected tessera verifying key, found tessera model' read_key model.h5
expect_error 2 'format: expected tessera proof, found tessera verifying key' read_proof $key
expect_error 2 'none.h5: expected a file, found No such file or directory' read_proof none.h5
expect_error 2 'commitment: expected a file' read_proof commitment
expect_error 2 '/dev/zero: expected a file' read_proof /dev/zero
mkfifo pipe.h5
expect_error 2 'pipe.h5: expected a file' read_proof pipe.h5

# hostile: other files' bytes, huge extents, links
echo "not to be read" >secret.txt
for format in "tessera proof" "tessera model" "tessera verifying key"; do
  case $format in
    *proof) command=read_proof ;;
    *model) command=read_model ;;
    *) command=read_key ;;
  esac
  craft external hostile.h5 "$format" secret.txt
  expect_error 2 'hostile.h5: ' $command hostile.h5
  grep -q "not to be read" output && fail "external storage was read"
  craft huge hostile.h5 "$format"
  expect_error 2 'hostile.h5: ' $command hostile.h5
  craft link hostile.h5 "$format" proof.h5
  expect_error 2 'hostile.h5: ' $command hostile.h5
  expect_error 2 'hostile.h5: ' inspect hostile.h5
  craft crash hostile.h5 "$format" # the library dies of it or reads another type, the program tells
  expect_error 2 'hostile.h5: (payload: )?expected ' inspect hostile.h5
  expect_error 2 'hostile.h5: (payload: )?expected ' ranks 2 tessera inspect hostile.h5
  case $format in
    *proof) expect_error 2 'hostile.h5: (payload: )?expected ' read_proof hostile.h5 ;;
    *) expect_error 2 'hostile.h5: (payload: )?expected ' read_key_to_import hostile.h5 ;;
  esac
done
craft link $'\x1b[2J.h5' "tessera proof" proof.h5 # nor does a name reach the terminal as it is
expect_error 2 '^tessera: .u\{1b\}\[2J.h5: ' inspect $'\x1b[2J.h5'

# false contents in files that are in order
for offset in 0 31 32 1000 20000 100000 -1 -1000 -20000; do
  craft payload proof.h5 false.h5 $offset
  expect 1 '^REJECTED at /[a-z_/]*: [a-zA-Z]' read_proof false.h5
  [ "$(grep -c ACCEPTED output)" = 0 ] || fail "accepted, and rejected"
done
craft token proof.h5 false.h5
expect 1 '^REJECTED at /' read_proof false.h5
craft unknown proof.h5 false.h5
expect 1 '^REJECTED at /statement: .*4294967295' read_proof false.h5
expect 1 '^REJECTED at /statement: the prompt is not the expected one' read_proof false.h5 --expect-prompt "The old"
craft controls proof.h5 false.h5
expect 0 '^text          \\u\{1b\}\[2J' tessera inspect false.h5
grep -qP '[\x00-\x08\x0b-\x1f\x7f-\x9f]' output && fail "control characters reach the terminal"
expect 0 '^ACCEPTED$' read_proof false.h5

# nor do characters that do not show, or text that looks like an escape
craft hidden proof.h5 false.h5
expect 0 '^text          a.u\{e0041\}.u\{2060\}.u\{feff\}.u\{ad\}.u\{34f\}.u\{180e\}.u\{3164\}..x1b ."$' tessera inspect false.h5

# the key of another model: of other parameters, of other exponents
craft parameter model.h5 other.h5
tessera commit --quiet --model other.h5 --out other >/dev/null
expect 1 '^REJECTED at /statement: the proof was made for another verifying key$' verify --key other/verifying.key proof.h5
another='other/codeword.h5: parameters_digest: expected [0-9a-f]{64} of model.h5, found [0-9a-f]{64} of another model$'
expect_error 2 "$another" \
  tessera prove --quiet --model model.h5 --commitment other --prompt a --generate 1 --out bad.h5
expect_absent bad.h5
expect_error 2 "$another" \
  ranks 3 tessera prove --quiet --model model.h5 --commitment other --prompt a --generate 1 --out bad.h5
expect_absent bad.h5
craft exponent model.h5 scaled.h5 q -1
tessera commit --quiet --model scaled.h5 --out scaled >/dev/null
expect_error 2 "scaled/verifying.key: expected the key of model.h5, found another model's" \
  tessera prove --quiet --model model.h5 --commitment scaled --prompt a --generate 1 --out bad.h5
expect_absent bad.h5

# a commitment in pieces
try() { tessera prove --quiet --model model.h5 --commitment broken --prompt a --generate 1 --out bad.h5; }
renew() { rm -rf broken && cp -r commitment broken; }
for name in verifying.key codeword.h5 codeword-00000.h5; do
  renew && rm broken/$name
  expect_error 2 "broken/$name: expected a file" try
  renew && head -c 1000 commitment/$name >broken/$name
  expect_error 2 "broken/$name: " try
  renew && cp proof.h5 broken/$name
  expect_error 2 "broken/$name: format: expected tessera [a-z ]+, found tessera proof" try
  expect_absent bad.h5
done
renew && cp other/codeword.h5 broken/
expect_error 2 'broken/codeword.h5: root: expected [0-9a-f]{64}, found [0-9a-f]{64}' try
expect_absent bad.h5
renew && cp other/codeword-00000.h5 broken/ # another model's columns under this model's root
expect_error 3 'the proof that was just made is rejected at /opening: ' try
expect_absent bad.h5
renew # columns overwritten on the disk
head -c 1000000 /dev/zero | dd of=broken/codeword-00000.h5 bs=1000 seek=500 conv=notrunc status=none
expect_error 3 'the proof that was just made is rejected at /opening: ' try
expect_absent bad.h5
expect_error 2 'broken/codeword-00000.h5: rows: ' tessera inspect --check broken/codeword-00000.h5

# a stored trace that is damaged is made anew
prove --scratch traces --out p.h5 >/dev/null
digest=$(payload_digest p.h5)
flip traces/trace-0.h5 $(($(size_of traces/trace-0.h5) / 2))
expect 0 'The old' prove --scratch traces --out p.h5
expect_same "$(payload_digest p.h5)" "$digest"
expect_absent bad bad.h5
finish

#!/usr/bin/env bash
# Hiding keys: commit, prove, verify, inspect; uses that are counted whatever happens; secrets that stay secret.
source "$(dirname "$0")/common.sh"
tessera import --quiet --checkpoint "$odd" --out model.h5 >/dev/null || fail "import"
head -c 32 /dev/urandom >given && chmod 600 given

# prove_with COMMITMENT OUT MORE...
prove_with() { tessera prove --quiet --model model.h5 --commitment "$1" --prompt "The old" --generate 3 --out "$2" "${@:3}"; }
left() { tessera inspect "$1" | sed -n 's/^proofs .* begun, \([0-9]*\) left$/\1/p'; }
mode_of() { stat -c %a "$1"; }

for kind in "" --compact; do
  expect 0 'key digest' tessera commit --quiet $kind --hiding --proofs 3 --model model.h5 --out "hidden$kind"
  expect_same "$(left "hidden$kind")" 3 "uses of a new commitment"
  expect_same "$(mode_of "hidden$kind/secret")" 600 "mode of the secret"
  expect_same "$(mode_of "hidden$kind/codeword.h5")" 600 "mode of the codeword"
  expect_same "$(mode_of "hidden$kind/verifying.key")" "$(printf %o $((0666 & ~$(umask))))" "mode of the key"
  expect 0 'The old' prove_with "hidden$kind" "proof$kind.h5"
  expect 0 ACCEPTED verify --key "hidden$kind/verifying.key" "proof$kind.h5"
  expect_same "$(left "hidden$kind")" 2 "one use"
done
# while a key can be renewed, which takes a use, and when it cannot any more
expect 0 '^tessera: warning: hidden--compact: 1 proof left under this key: the one that tessera renew takes$' \
  prove_with hidden--compact last.h5
expect 0 '^tessera: warning: hidden--compact: 0 proofs left under this key, which cannot be renewed any more' \
  prove_with hidden--compact last.h5
expect 0 'The old' ranks 3 tessera prove --quiet --model model.h5 --commitment hidden --prompt "The old" --generate 3 --out ranks.h5
expect 0 ACCEPTED verify --key hidden/verifying.key ranks.h5
expect 0 '"proofs_left": 1' tessera inspect --json hidden
expect 1 REJECTED verify --key hidden/verifying.key proof--compact.h5
[ "$(payload_digest proof.h5)" != "$(payload_digest ranks.h5)" ] || fail "two proofs with the same randomness"

# an archive says nothing of times and machines
expect 0 'computed by   not said' tessera inspect proof.h5
tessera inspect --json proof.h5 >proof.json
for nothing in '"configuration": ""' '"hosts": []' '"timings": []' '"communication": []' '"ownership": []'; do
  grep -qF -e "$nothing" proof.json || fail "the archive says more than $nothing"
done
expect 0 '1 accepted' tessera report --key hidden/verifying.key --out report.html proof.h5

# traces go once the proof is written; those of a plain job stay
expect 0 'key digest' tessera commit --quiet --hiding --proofs 1 --model model.h5 --out traced
expect 0 'The old' ranks 2 tessera prove --quiet --model model.h5 --commitment traced --prompt "The old" --generate 3 --scratch traces --out traced.h5
expect_same "$(ls traces)" "" "traces of a hiding proof"
expect 0 'key digest' tessera commit --quiet --model model.h5 --out untraced
expect 0 'The old' tessera prove --quiet --model model.h5 --commitment untraced --prompt "The old" --generate 3 --scratch traces --out untraced.h5
expect_same "$(ls traces)" "trace-0.h5" "traces of a plain proof"

# all proofs of a job have the mode that any file has
printf 'The old\nIt was\nBut\n' >prompts.txt
expect 0 'key digest' tessera commit --quiet --hiding --proofs 3 --model model.h5 --out prompted
expect 0 'all/000003.h5: proof' tessera prove --quiet --model model.h5 --commitment prompted --prompts prompts.txt --generate 3 --out all
for file in all/*.h5; do
  expect_same "$(mode_of $file)" "$(printf %o $((0666 & ~$(umask))))" "mode of $file"
done

# conversations and half a request are refused
for option in --keep --continue; do
  expect_error 2 'the key of hidden is hiding' prove_with hidden bad.h5 $option state
done
expect 2 'requires --proofs' tessera commit --hiding --model model.h5 --out bad
expect 2 'requires --hiding' tessera commit --proofs 2 --model model.h5 --out bad
expect 2 'proofs' tessera commit --hiding --proofs 0 --model model.h5 --out bad
expect_error 2 'proofs: expected so few that proofs have 100 bits of soundness, found 200000' tessera commit --quiet --hiding --proofs 200000 --model model.h5 --out bad
expect_absent bad
expect_same "$(left hidden)" 1 "refused jobs take no use"

# who asks for one proof more than fits beside the parameters is told
expect 0 '^proofs  *12: .* good for 11 is half as large' tessera commit --quiet --compact --hiding --proofs 12 --model model.h5 --out large
expect 0 'key digest' tessera commit --quiet --compact --hiding --proofs 11 --model model.h5 --out large
! grep -q '^proofs' output || fail "a commitment that is not doubled says so"

# work before row variables makes up for columns, of which more proofs need more
craft uses large/verifying.key crowded.key 660000
for format in "" --json "--page soundness"; do
  expect 0 'least' tessera describe --key large/verifying.key --prompt-length 1 --generate 1 $format
  expect 0 '100\.[0-9]' tessera describe --key crowded.key --prompt-length 1 --generate 1 $format
done

# the witness has the rows of a plain one, however many columns the parameters have
expect 0 'key digest' tessera commit --quiet --compact --hiding --proofs 2000 --model model.h5 --out many
expect 0 'witness +16 ' tessera describe --key many/verifying.key --prompt-length 1 --generate 1
tessera describe --key many/verifying.key --prompt-length 1 --generate 1 --json >description.json || fail "describe --json"
python3 - <<'X' || fail "description of a hiding key"
import json
found = json.load(open("description.json"))
assert found["parameters"][-1]["tensor"] == "random columns"
assert [row["tensor"] for row in found["witness"][-6:]] == ["pads", "left", "right", "product", "row masks", "random columns"]
X

# one secret makes one commitment with one count, which is kept when it is made again, and never begun again
commit_given() { tessera commit --quiet --hiding --proofs "$1" --secret given --model model.h5 --out "$2"; }
expect 0 'counted from 0 on beside given' commit_given 5 first
expect 0 'key digest' commit_given 5 second
! grep -q 'from 0 on' output || fail "a count that is not begun"
cmp -s first/verifying.key second/verifying.key || fail "one secret, two keys"
expect_same "$(mode_of given.uses)" 600 "mode of the count"
expect 0 'The old' prove_with first again.h5
expect 0 'key digest' commit_given 5 first
expect_same "$(left first) $(left second)" "4 4" "count of a commitment that is made again"
mv first/uses kept
expect_error 2 'first/uses: .*no such file.*new secret' commit_given 5 first
sed 's/^used 1/used 0/' kept >first/uses
expect_error 2 'first/uses: check: .*damaged.*new secret' commit_given 5 first
mv kept first/uses
mv given.uses kept
expect_error 2 'given.uses: .*lost.*new secret' commit_given 5 first
mv kept given.uses
cp -r hidden copy
expect_error 2 'copy/secret.uses: secret: .*copies' prove_with copy bad.h5
rm -r copy

# powers of equalisation are not in a hiding key, which so is none to import by
tessera import --quiet --checkpoint "$source/configs/odd-qwen-60k" --out qwen.h5 >/dev/null || fail "import"
expect 0 'key digest' tessera commit --quiet --compact --hiding --proofs 1 --model qwen.h5 --out qwen
expect 0 'The old' tessera prove --quiet --model qwen.h5 --commitment qwen --prompt "The old" --generate 2 --out qwen-proof.h5
expect_error 2 'qwen/verifying.key: expected a model or a plain key, found a hiding key' \
  tessera import --quiet --checkpoint "$source/configs/odd-qwen-60k" --exponents qwen/verifying.key --out bad.h5
expect_absent bad.h5

# bad secrets
head -c 31 given >short && chmod 600 short
cat given given >long && chmod 600 long
cp given shared && chmod 640 shared
expect_error 2 'short: length: expected 32 bytes, found 31' tessera commit --hiding --proofs 2 --secret short --model model.h5 --out bad
expect_error 2 'long: length: expected 32 bytes, found more' tessera commit --hiding --proofs 2 --secret long --model model.h5 --out bad
expect_error 2 'shared: mode: .*600.*found 640' tessera commit --hiding --proofs 2 --secret shared --model model.h5 --out bad
expect_error 2 'absent' tessera commit --hiding --proofs 2 --secret absent --model model.h5 --out bad
expect_absent bad

# bad counts: refused, nothing proven
refused() {
  expect_error 2 "$1" prove_with second bad.h5
  expect_absent bad.h5
}
cp second/uses kept
sed 's/^used 0/used 1/' kept >second/uses && refused 'uses: check: .*damaged'
head -n 3 kept >second/uses && refused 'uses: used: .*damaged'
: >second/uses && refused 'uses: expected "tessera hiding uses 1"'
cp hidden/uses second/uses && refused "uses: key: .*another commitment's"
rm second/uses && refused 'uses: expected how many proofs were begun'
cp kept second/uses
chmod 644 second/secret && refused 'secret: mode'
head -c 16 given >second/secret && chmod 600 second/secret && refused 'secret: length'
cp hidden/secret second/secret # of another commitment: what is opened is not what was committed
expect 3 'rejected|expected' prove_with second bad.h5
expect_absent bad.h5
cp given second/secret
expect 0 'The old' prove_with second good.h5

# jobs at the same time never share a use
expect 0 'key digest' tessera commit --quiet --hiding --proofs 5 --model model.h5 --out shared_uses
for job in $(seq 8); do
  prove_with shared_uses "job$job.h5" >"job$job.out" 2>&1 &
done
wait
expect_same "$(find . -maxdepth 1 -name 'job*.h5' | wc -l)" 5 "jobs that had a use"
expect_same "$(left shared_uses)" 0 "uses that are left"
for job in $(seq 8); do
  [ -e "job$job.h5" ] || grep -q 'found all begun' "job$job.out" || fail "job $job: $(cat "job$job.out")"
done

# kill -9 after a use is taken loses that one
expect 0 'key digest' tessera commit --quiet --hiding --proofs 9 --model model.h5 --out killed
killed=0
for attempt in $(seq 4); do
  before=$(left killed)
  "$programs/tessera" prove --quiet --model model.h5 --commitment killed --prompt "The old" --generate 40 --out bad.h5 >output 2>&1 &
  job=$!
  while kill -0 $job 2>/dev/null && [ "$(left killed)" = "$before" ]; do :; done
  kill -9 $job 2>/dev/null && killed=$((killed + 1))
  wait $job 2>/dev/null
  expect_same "$(left killed)" $((before - 1)) "uses after a job was killed"
  rm -f bad.h5 ./*.partial-*
done
[ $killed -ge 1 ] || fail "no job was killed"

# a directory that cannot be written takes no use and proves nothing
if [ "$(id -u)" -ne 0 ]; then
  chmod 500 killed
  expect_error 2 'uses' prove_with killed bad.h5
  chmod 700 killed
  expect_absent bad.h5
fi
finish

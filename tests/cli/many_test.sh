#!/usr/bin/env bash
# Many proofs at once: one line for each, whatever the others are, the exit code of all together, JSON for programs.
source "$(dirname "$0")/common.sh"
golden="$source/tests/golden"
gunzip -c "$golden/odd-40k.key.gz" >verifying.key
each() { verify --key verifying.key --each "$@"; }
# expect_lines LINE...: output is the key's digest, whether it was compared, and these lines
expect_lines() { expect_same "$(tail -n +3 output)" "$(printf '%s\n' "$@")" "lines"; }
# json EXPRESSION: of the document in `output`, as Python sees it
json() {
  python3 -m json.tool output parsed || fail "no JSON: $(cat output)"
  python3 -c 'import json, sys; d = json.load(open("parsed")); print(eval(sys.argv[1]))' "$1"
}

mkdir -p proofs/below good empty
cp "$golden/odd-40k.proof" good/a.h5
cp "$golden/odd-40k.proof" good/b.h5
cp "$golden/odd-40k.proof.part1" good/part1.h5
cp good/a.h5 proofs/a.h5
craft payload proofs/a.h5 proofs/flipped.h5 -100
craft token proofs/a.h5 proofs/token.h5
cp "$golden/odd-qwen-60k.proof" proofs/foreign.h5
cp "$golden/odd-40k.proof.part2" proofs/below/part2.h5
cp good/part1.h5 proofs/below/part1.h5
cp good/a.h5 proofs/below/.hidden.h5
mkdir unusable
: >unusable/empty.h5
cp good/a.h5 unusable/bit.h5
flip unusable/bit.h5 $(($(size_of unusable/bit.h5) / 2))
head -c 4000 good/a.h5 >unusable/cut.h5
cp verifying.key unusable/key.h5
mkfifo unusable/pipe.h5
ln -s nowhere unusable/link.h5
echo "not looked at" >unusable/notes.txt

# all good, in order, for any number of processes
for jobs in 1 2 7; do
  expect 0 '^key digest [0-9a-f]{64}$' each --jobs $jobs good
  expect_lines 'ACCEPTED good/a.h5, 7 + 12 tokens, cut off at 12 tokens' 'ACCEPTED good/b.h5, 7 + 12 tokens, cut off at 12 tokens' \
    'ACCEPTED good/part1.h5, 7 + 6 tokens, cut off at 6 tokens' '3 files: 3 accepted, 0 rejected, 0 unusable'
done
expect 0 '^1 file: 1 accepted' each good/part1.h5
expect 2 'key digest: expected 0{64}, found' each --expect-key "$(printf '0%.0s' {1..64})" good

# one rejected
expect 1 '' each good proofs unusable none.h5 empty
sed -i -E 's/^(UNUSABLE [^:]*): .*/\1: why/; s/, at .opening[^:]*: .*/, in the opening/' output
expect_lines 'ACCEPTED good/a.h5, 7 + 12 tokens, cut off at 12 tokens' 'ACCEPTED good/b.h5, 7 + 12 tokens, cut off at 12 tokens' \
  'ACCEPTED good/part1.h5, 7 + 6 tokens, cut off at 6 tokens' \
  'ACCEPTED proofs/a.h5, 7 + 12 tokens, cut off at 12 tokens' \
  'ACCEPTED proofs/below/.hidden.h5, 7 + 12 tokens, cut off at 12 tokens' \
  'ACCEPTED proofs/below/part1.h5, 7 + 6 tokens, cut off at 6 tokens' \
  'REJECTED proofs/below/part2.h5, 1 + 5 tokens, at /statement: the proof continues a conversation, and no part before it keeps a state: give all parts in order' \
  'REJECTED proofs/flipped.h5, 7 + 12 tokens, in the opening' \
  'REJECTED proofs/foreign.h5, 2 + 3 tokens, at /statement: the proof was made for another verifying key' \
  "$(grep 'REJECTED proofs/token.h5, 7 + 12 tokens, at /' output)" \
  'UNUSABLE unusable/bit.h5: why' 'UNUSABLE unusable/cut.h5: why' 'UNUSABLE unusable/empty.h5: why' \
  'UNUSABLE unusable/key.h5: why' 'UNUSABLE unusable/link.h5: why' 'UNUSABLE unusable/pipe.h5: why' \
  'UNUSABLE none.h5: why' 'UNUSABLE empty: why' '18 files: 6 accepted, 4 rejected, 8 unusable'

# none rejected, some unusable
expect 2 '^UNUSABLE none.h5: expected a file, found No such file or directory$' each good/a.h5 none.h5
expect 2 '^UNUSABLE empty: expected proof files \(\*.h5\) in it, found none$' each empty
expect 2 '^UNUSABLE unusable/key.h5: format: expected tessera proof, found' each unusable/key.h5 good
expect 1 '^2 files: 0 accepted, 1 rejected, 1 unusable$' each unusable/cut.h5 proofs/flipped.h5
expect_error 2 'verifying.key: expected a file' verify --key none/verifying.key --each good

# a file that is named again is the same; other names are other files
ln -s a.h5 good/c.h5
ln -s good again
expect 0 '' each good/b.h5 good ./good/../good/a.h5 "$PWD/good/b.h5" again/b.h5 again
expect_lines 'ACCEPTED good/b.h5, 7 + 12 tokens, cut off at 12 tokens' 'ACCEPTED good/a.h5, 7 + 12 tokens, cut off at 12 tokens' \
  'ACCEPTED good/c.h5, 7 + 12 tokens, cut off at 12 tokens' 'ACCEPTED good/part1.h5, 7 + 6 tokens, cut off at 6 tokens' \
  '4 files: 4 accepted, 0 rejected, 0 unusable'

# names of strangers
mkdir names
cp good/a.h5 "names/$(printf 'a\nACCEPTED b\033[2J.h5')"
cp proofs/foreign.h5 "names/$(printf 'c\xff".h5')"
expect 1 '^ACCEPTED names/a\\nACCEPTED b\\u\{1b\}\[2J.h5, 7' each names
expect 1 '^REJECTED names/c\\xff".h5, 2' each names
expect_same "$(wc -l <output)" 5
expect 1 '' each --json names
expect_same "$(json '[p["file"] for p in d["proofs"]]')" "['names/a\\nACCEPTED b\\x1b[2J.h5', 'names/c�\".h5']"
LC_ALL=C grep -q '[^ -~]' output && fail "JSON that is not printable ASCII"

# usage
expect 2 'jobs requires --each' verify --key verifying.key --jobs 2 good/a.h5
expect 2 'not in range' each --jobs 0 good
expect 2 'each excludes --expect-prompt|expect-prompt excludes --each' each --expect-prompt 1,2 good/a.h5
expect 2 'each excludes --expect-ids|expect-ids excludes --each' each --expect-ids 1,2 good/a.h5
expect_error 3 'standard output cannot be written' bash -c \
  "'$programs/tessera-verify' --key verifying.key --each good >/dev/full"

# the same as JSON
expect 1 '' each --json good proofs/foreign.h5 none.h5
expect_same "$(json '[d["mode"], d["verdict"], len(d["key"]["digest"]), d["count"]]')" \
  "['each', 'rejected', 64, {'accepted': 4, 'rejected': 1, 'unusable': 1, 'failed': 0}]"
expect_same "$(json '[(p["file"], p["verdict"], p["scope"]) for p in d["proofs"][3:]]')" \
  "[('good/part1.h5', 'accepted', None), ('proofs/foreign.h5', 'rejected', '/statement'), ('none.h5', 'unusable', None)]"
expect_same "$(json '[p["reason"] for p in d["proofs"][3:]]')" \
  "[None, 'the proof was made for another verifying key', 'none.h5: expected a file, found No such file or directory']"
expect_same "$(json 'd["proofs"][0]["prompt"]["text"] + d["proofs"][0]["generated"]["text"]')" "The old man, and excepts, and"
# of another key's proof there are ids, and no text by this key's vocabulary
expect_same "$(json '[(p["prompt"]["text"] is None, len(p["prompt"]["ids"]) > 0, p["generated"]["text"] is None) for p in d["proofs"][:5]]')" \
  "[(False, True, False), (False, True, False), (False, True, False), (False, True, False), (True, True, True)]"
expect_same "$(json '[p["made_for"] is None for p in d["proofs"]]')" "[True, True, True, True, False, True]"
expect 1 '^REJECTED at /statement: the proof was made for another verifying key$' verify --key verifying.key proofs/foreign.h5
grep -q "^made for the key of digest $(tessera inspect --json proofs/foreign.h5 | python3 -c 'import json, sys
print(json.load(sys.stdin)["key_digest"])')\$" output || fail "another key's digest is not told: $(cat output)"
grep -q '"' output && fail "another key's proof has a text: $(cat output)"
expect 1 '' each --json good proofs/foreign.h5 none.h5
expect_same "$(json '[d["proofs"][0]["bytes"], len(d["proofs"][0]["generated"]["ids"]), d["proofs"][0]["soundness"]["least"] >= 100, 0 < d["proofs"][0]["seconds"] < 60]')" \
  "[196492, 12, True, True]"
expect_same "$(json '[d["proofs"][5][name] for name in ("prompt", "generated", "soundness", "bytes")]')" \
  "[None, None, None, None]"
expect 2 'No such file' verify --key none.key --each good --json
verify --key none.key --each good --json >output 2>/dev/null
expect_same "$(json '[d["verdict"], d["error"]]')" "['unusable', 'none.key: expected a file, found No such file or directory']"

# a conversation as JSON
conversation() { verify --key verifying.key --json "$@"; }
expect 0 '' conversation good/part1.h5 proofs/below/part2.h5
expect_same "$(json '[d["mode"], d["verdict"], [p["verdict"] for p in d["proofs"]]]')" \
  "['conversation', 'accepted', ['accepted', 'accepted']]"
expect 1 '' conversation good/part1.h5 good/a.h5 proofs/below/part2.h5
expect_same "$(json '[d["verdict"], [p["verdict"] for p in d["proofs"]], d["proofs"][1]["reason"]]')" \
  "['rejected', ['accepted', 'rejected'], 'it is the beginning of a conversation, not a continuation']"
expect 2 '' conversation unusable/cut.h5
expect_same "$(json 'd["verdict"]')" "unusable"
expect 1 '' conversation good/a.h5 --expect-prompt "The young man"
expect_same "$(json 'd["proofs"][0]["scope"]')" "/statement"

# what inspect tells
expect 0 '' tessera inspect --json --check proofs/below/part2.h5
expect_same "$(json '[d["file"], d["format"], d["text"], d["prompt"], d["continues"]["positions"], d["keeps_state"], d["payload"]["bytes"], d["all_digests_checked"]]')" \
  "['proofs/below/part2.h5', 'tessera proof', ' and expre', [275], 12, True, 258796, True]"
expect_same "$(json '[len(d["rounds"]) > 10, d["soundness"]["least"] >= 100, "/" in [t["scope"] for t in d["timings"]]]')" \
  "[True, True, True]"
expect 0 '' tessera inspect --json verifying.key
expect_same "$(json '[d["format"], d["shape"]["n_layer"], len(d["key_digest"])]')" "['tessera verifying key', 2, 64]"
craft controls proofs/a.h5 controls.h5
expect 0 '' tessera inspect --json controls.h5
LC_ALL=C grep -q '[^ -~]' output && fail "JSON that is not printable ASCII"
expect_same "$(json 'd["text"]')" "$(printf '\033[2J\033]0;title\a\xef\xbf\xbd')"
expect_error 2 'cut.h5: expected an HDF5 file' tessera inspect --json unusable/cut.h5

# a process that is killed costs its own file only
mkdir killed
for i in 0 1 2 3 4 5 6 7; do cp good/a.h5 killed/$i.h5; done
kill_one() {
  rm -f output
  "$programs/tessera-verify" --key verifying.key --each --jobs 2 killed "$@" >output &
  local program=$! child=
  until [ -s output ] || ! kill -0 $program 2>/dev/null; do :; done # the key has been read
  until [ -n "$child" ] || ! kill -0 $program 2>/dev/null; do
    read -r child _ <"/proc/$program/task/$program/children"
  done 2>/dev/null
  [ -z "$child" ] || kill -KILL "$child" 2>/dev/null
  wait $program
}
for try in $(seq 20); do # it may have ended by itself before
  kill_one
  code=$?
  grep -q '^FAILED' output && break
  [ $code -eq 0 ] || fail "code $code"
done
expect_same $code 3
expect_same "$(grep -c '^ACCEPTED killed' output)" 7
grep -q '^FAILED   killed/[0-7].h5: the process that verified it was ended by signal 9$' output || fail "$(cat output)"
expect_same "$(sed -n 's/.*\([0-7]\).h5.*/\1/p' output | tr -d '\n')" 01234567
expect_same "$(tail -n 1 output)" '8 files: 7 accepted, 0 rejected, 0 unusable, 1 failed'
# where there is no room for processes, files fail or wait, and nothing hangs
expect 0 '^8 files: 8 accepted' bash -c \
  "ulimit -n 8; exec '$programs/tessera-verify' --key verifying.key --each --jobs 100 killed"
finish

#!/usr/bin/env bash
# Many proofs in one archive: what tessera-verify and inspect say of it, the same files back, hostile and wrong input.
source "$(dirname "$0")/common.sh"
golden="$source/tests/golden"
gunzip -c "$golden/odd-40k.key.gz" >verifying.key
each() { verify --key verifying.key --each "$@"; }
gather() { tessera gather --quiet "$@"; }
expect_lines() { expect_same "$(tail -n +3 output)" "$(printf '%s\n' "$@")" "lines"; }
json() {
  python3 -m json.tool output parsed || fail "no JSON: $(cat output)"
  python3 -c 'import json, sys; d = json.load(open("parsed")); print(eval(sys.argv[1]))' "$1"
}

mkdir -p proofs/below
cp "$golden/odd-40k.proof" proofs/a.h5
craft token proofs/a.h5 proofs/false.h5
cp "$golden/odd-40k.proof.part1" proofs/below/part1.h5
cp "$golden/odd-40k.proof.part1" part1.h5
cp "$golden/odd-40k.proof.part2" part2.h5

# a line for each, among other files and archives, in order, for any number of processes
expect 0 '^archive.h5: 3 proofs, digest [0-9a-f]{64}$' gather proofs --out archive.h5
expect 0 '^good.h5: 2 proofs' gather part1.h5 proofs/a.h5 --out good.h5
rejected=$(each proofs/false.h5 | sed -n 's/^REJECTED proofs.false.h5/REJECTED archive.h5: false.h5/p')
for jobs in 1 2 7; do
  expect 1 '' each --jobs $jobs part1.h5 archive.h5 proofs/a.h5 good.h5
  expect_lines 'ACCEPTED part1.h5, 7 + 6 tokens, cut off at 6 tokens' 'ACCEPTED archive.h5: a.h5, 7 + 12 tokens, cut off at 12 tokens' \
    'ACCEPTED archive.h5: below/part1.h5, 7 + 6 tokens, cut off at 6 tokens' "$rejected" \
    'ACCEPTED proofs/a.h5, 7 + 12 tokens, cut off at 12 tokens' 'ACCEPTED good.h5: part1.h5, 7 + 6 tokens, cut off at 6 tokens' \
    'ACCEPTED good.h5: a.h5, 7 + 12 tokens, cut off at 12 tokens' '7 files: 6 accepted, 1 rejected, 0 unusable'
done
expect 0 '^2 files: 2 accepted' each good.h5
for jobs in 1 2 3; do # several are divided at once
  expect 1 '^7 files: 6 accepted, 1 rejected' each --jobs $jobs archive.h5 good.h5 part1.h5 proofs/a.h5
done
mkdir archives
cp good.h5 archives
expect 0 '^ACCEPTED archives/good.h5: a.h5, 7' each archives
expect 1 '' each --json archive.h5
expect_same "$(json '[(p["file"], p["entry"], p["verdict"]) for p in d["proofs"]], d["count"]["accepted"]')" \
  "([('archive.h5', 'a.h5', 'accepted'), ('archive.h5', 'below/part1.h5', 'accepted'), ('archive.h5', 'false.h5', 'rejected')], 2)"
expect 0 '' each --json part1.h5
expect_same "$(json 'd["proofs"][0]["entry"]')" None

# parts of a conversation
gather part1.h5 part2.h5 --out conversation.h5 >/dev/null
expect 0 '^ACCEPTED$' verify --key verifying.key conversation.h5
expect_same "$(grep -c '^generated' output)" 2
expect 0 '^ACCEPTED$' verify --key verifying.key conversation.h5 --expect-prompt "The old man" --expect-prompt " and"
expect 2 'expected one for each of the 2 proofs, or none, found 1$' verify --key verifying.key conversation.h5 --expect-ids 275
expect 1 '^REJECTED at /statement: part 2, conversation.h5: part2.h5: the prompt is not the expected one' \
  verify --key verifying.key conversation.h5 --expect-prompt "The old man" --expect-prompt 275
gather part2.h5 part1.h5 --out turned.h5 >/dev/null
expect 1 '^REJECTED at /statement: part 1, turned.h5: part2.h5: the proof continues' verify --key verifying.key turned.h5
expect 0 '' verify --key verifying.key --json conversation.h5
expect_same "$(json 'd["verdict"], [p["entry"] for p in d["proofs"]]')" "('accepted', ['part1.h5', 'part2.h5'])"

# inspect
expect 0 "^ +$(size_of proofs/a.h5)  a.h5$" tessera inspect --check archive.h5
expect 0 '' tessera inspect --json archive.h5
expect_same "$(json 'd["format"], [(p["name"], p["bytes"]) for p in d["proofs"]]')" \
  "('tessera proofs', [('a.h5', $(size_of proofs/a.h5)), ('below/part1.h5', $(size_of part1.h5)), ('false.h5', $(size_of proofs/false.h5))])"

# the same bytes: of the files, and of an archive of the same files
expect 0 '^back: 3 proofs$' gather --extract archive.h5 --out back
diff -r proofs back || fail "other files"
mkdir empty
expect 0 '^empty/: 3 proofs$' gather --extract archive.h5 --out empty/
diff -r proofs empty || fail "other files"
gather back --out again.h5 >/dev/null
cmp archive.h5 again.h5 || fail "another archive"
gather proofs ./proofs/a.h5 --out again.h5 >/dev/null
cmp archive.h5 again.h5 || fail "a file that is named again is gathered again"

# damage: of one proof, that proof's own; of the list, the archive's
cp good.h5 damaged.h5
begin=$(python3 -c 'print(open("good.h5", "rb").read().find(open("part1.h5", "rb").read()))')
[ "$begin" -gt 0 ] || fail "an archive without the proof's bytes"
flip damaged.h5 $((begin + 100000))
expect 2 '^UNUSABLE damaged.h5: part1.h5: ' each damaged.h5
grep -q '^ACCEPTED damaged.h5: a.h5, 7' output || fail "$(cat output)"
expect_error 2 'damaged.h5: files/bytes: expected digest' gather --extract damaged.h5 --out bad
head -c 100000 good.h5 >cut.h5
cp good.h5 names.h5
flip names.h5 "$(python3 -c 'print(open("good.h5", "rb").read().rfind(b"part1.h5a.h5"))')"
expect 2 '' each cut.h5 good.h5 names.h5
sed -i -E 's/^(UNUSABLE [^:]*): .*/\1: why/' output
expect_lines 'UNUSABLE cut.h5: why' 'ACCEPTED good.h5: part1.h5, 7 + 6 tokens, cut off at 6 tokens' 'ACCEPTED good.h5: a.h5, 7 + 12 tokens, cut off at 12 tokens' \
  'UNUSABLE names.h5: why' '4 files: 2 accepted, 0 rejected, 2 unusable'
expect 2 'names.h5: names/bytes: expected digest' verify --key verifying.key names.h5
expect_error 2 'names.h5: names/bytes: expected digest' gather --extract names.h5 --out bad
# an archive in an archive, names that leave the directory or move the cursor
craft gathered nested.h5 inner.h5 good.h5
expect 2 '^UNUSABLE nested.h5: inner.h5: format: expected tessera proof, found tessera proofs$' each nested.h5
for name in ../a.h5 /a.h5 "$(printf 'a\033[2J.h5')"; do
  craft gathered hostile.h5 "$name" part1.h5
  expect 2 '^UNUSABLE hostile.h5: names: expected relative paths of UTF-8' each hostile.h5
  expect_error 2 'hostile.h5: names: expected' gather --extract hostile.h5 --out bad
done
craft gathered hostile.h5 same part1.h5 same part1.h5
expect 2 '^UNUSABLE hostile.h5: names: expected different names, found "same" twice$' each hostile.h5
craft gathered hostile.h5 a part1.h5 a/b part1.h5 # names of which one is the other's directory
expect 0 '^2 files: 2 accepted' each hostile.h5
expect_error 3 'bad.*"a/b" cannot be written' gather --extract hostile.h5 --out bad

# who takes one proof says what this is
for command in "report --out bad.html" "gather --out bad.h5"; do
  # shellcheck disable=SC2086
  expect_error 2 'good.h5: format: expected tessera proof, found tessera proofs' tessera $command good.h5
done

# wrong input leaves nothing
expect_error 2 'none.h5: expected a file' gather none.h5 --out bad.h5
expect_error 2 'verifying.key: format: expected tessera proof, found' gather part1.h5 verifying.key --out bad.h5
expect_error 2 'part1.h5: name: expected another one than that of part1.h5' gather part1.h5 proofs/below/part1.h5 --out bad.h5
: >nothing.h5
expect_error 2 'nothing.h5: size: expected a proof file' gather nothing.h5 --out bad.h5
mkdir none
expect_error 2 'none: expected proof files' gather none --out bad.h5
cp part1.h5 "$(printf 'a\nb.h5')"
expect_error 2 'name: expected .* found "a\\nb.h5"' gather "$(printf 'a\nb.h5')" --out bad.h5
expect_error 2 'cannot be written' gather part1.h5 --out missing/bad.h5
expect_error 2 'expected a new or an empty directory' gather --extract good.h5 --out proofs
expect_error 2 'expected a new or an empty directory' gather --extract good.h5 --out part1.h5
expect_error 2 'part1.h5: format: expected tessera proofs, found another' gather --extract part1.h5 --out bad
expect 2 'from' gather --out bad.h5
expect 2 'from' gather part1.h5 --extract good.h5 --out bad.h5
expect_absent bad bad.h5 bad.html missing
mkdir small
if mount -t tmpfs -o size=600k tmpfs small 2>/dev/null; then
  trap 'umount -l "$scratch/small"; rm -rf "$scratch" "$sessions"' EXIT
  expect_error 3 'small/x.h5: .*No space left on device' gather proofs --out small/x.h5
  expect_error 3 'small/x.*No space left on device' gather --extract archive.h5 --out small/x
  [ -z "$(ls -A small)" ] || fail "a full disk keeps $(ls -A small)"
else
  echo "SKIPPED: full disk: needs the right to mount a small tmpfs"
fi
finish

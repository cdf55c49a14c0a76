#!/usr/bin/env bash
# Many prompts in one job: prove --prompts.
source "$(dirname "$0")/common.sh"
odd="$source/configs/odd-40k"

tessera import --quiet --checkpoint "$odd" --out model.h5 >/dev/null || fail "import"
tessera commit --quiet --model model.h5 --out commitment >/dev/null || fail "commit"
# prove_each RANKS FILE OUT OPTIONS...
prove_each() {
  ranks "$1" tessera prove --quiet --model model.h5 --commitment commitment --generate "${generate:-5}" "${prompts:---prompts}" "$2" --out "$3" \
    "${@:4}"
}

printf 'The old\nBut now, "we" are\n5,6,7\nIt was' >prompts.txt # the last line has no end; one is digits and commas
expect 0 '^all/000001.h5: proof of [0-9]+ bytes, 5 \+ 5 tokens' prove_each 1 prompts.txt all
expect_same "$(ls all)" "$(printf '%06d.h5\n' 1 2 3 4)"
grep -q '^tessera: warning: prompts.txt: line 3 is digits and commas, proven as the text that they are: --prompt-ids takes ids$' output ||
  fail "expected a warning of a line that looks like ids: $(cat output)"
expect 0 '^ranks/000003.h5: proof of [0-9]+ bytes, [0-9]+ \+ 5 tokens' prove_each 3 prompts.txt ranks --threads 2
line=0
while IFS= read -r prompt || [ -n "$prompt" ]; do
  line=$((line + 1))
  expect 0 '5 tokens' tessera prove --quiet --model model.h5 --commitment commitment --generate 5 --prompt "$prompt" --out one.h5
  file=$(printf '%06d.h5' $line)
  for folder in all ranks; do
    expect_same "$(payload_digest $folder/"$file")" "$(payload_digest one.h5)" "$folder, line $line"
  done
done <prompts.txt
expect 0 '^4 files: 4 accepted' verify --key commitment/verifying.key --each all

# ids
printf '5,6,7\n8\n' >ids.txt
prompts=--prompt-ids expect 0 '^ids/000001.h5: proof of [0-9]+ bytes, 3 \+ 5 tokens' prove_each 2 ids.txt ids
grep -q warning output && fail "a warning of ids: $(cat output)"
expect 0 '3 \+ 5 tokens' tessera prove --quiet --model model.h5 --commitment commitment --generate 5 --tokens 5,6,7 --out one.h5
expect_same "$(payload_digest ids/000001.h5)" "$(payload_digest one.h5)" "--prompt-ids"
expect_error 2 "^tessera: ids/000001.h5: expected no file, or a proof of line 1 of ids.txt under this key" prove_each 1 ids.txt ids
expect 0 '^tessera: warning: ids.txt: line 1 and 1 other are digits and commas' prove_each 1 ids.txt texts
prompts=--prompt-ids expect_error 2 '^tessera: prompts.txt: line 1: expected token ids separated by commas, found "The old"' \
  prove_each 1 prompts.txt none

# what is there is kept, what is missing is made
cp -r all before
rm all/000002.h5
expect 0 '^all/000002.h5: proof of' prove_each 1 prompts.txt all
expect_same "$(grep -c ': kept$' output)" 3
for file in 000001.h5 000003.h5 000004.h5; do
  cmp all/$file before/$file || fail "$file was not kept"
done
expect 0 '^all/000001.h5: kept' prove_each 2 prompts.txt all
sed 's/It was/It is/' prompts.txt >others.txt
expect_error 2 "^tessera: all/000004.h5: expected no file, or a proof of line 4 of others.txt under this key" \
  prove_each 1 others.txt all
generate=6 expect_error 2 'all/000001.h5: expected no file, or a proof of line 1' prove_each 1 prompts.txt all
echo "no proof" >all/000003.h5
expect_error 2 'all/000003.h5' prove_each 1 prompts.txt all

# unusable input is found before anything is proven
printf 'The old\n%s\n' "$(printf 'old %.0s' {1..80})" >long.txt
expect_error 2 '^tessera: long.txt: line 2: --prompt and --generate: expected at most [0-9]+ tokens' prove_each 1 long.txt none
printf 'The old\n\nIt was\n' >empty.txt
expect_error 2 '^tessera: empty.txt: line 2: .*expected at least one token' prove_each 2 empty.txt none
printf '1,2\n1,,2\n' >ids.txt
prompts=--prompt-ids expect_error 2 '^tessera: ids.txt: line 2: expected token ids' prove_each 1 ids.txt none
printf '1,99999\n' >ids.txt
prompts=--prompt-ids expect_error 2 '^tessera: ids.txt: line 1: --tokens: expected ids below' prove_each 1 ids.txt none
: >nothing.txt
expect_error 2 '^tessera: nothing.txt: expected at least one line' prove_each 1 nothing.txt none
expect_error 2 'none.txt: expected a readable text file' prove_each 1 none.txt none
expect_error 2 'one.h5: expected a writable directory, found something else' prove_each 1 prompts.txt one.h5
expect 2 'excludes' prove_each 1 prompts.txt none --keep state
expect 2 'prompt' prove_each 1 prompts.txt none --prompt "The old"
expect 2 'prompt' prove_each 1 prompts.txt none --prompt-ids prompts.txt
prompts=--prompt-ids expect 2 'excludes' prove_each 1 ids.txt none --keep state
[ ! -e none ] || expect_same "$(ls none)" "" "proofs of unusable prompts"

# a prompt that leaves the calibrated range does not stop the others
printf 'The old\nIt was\na\nzzz\nBut now we\n1,2,3\n' >mixed.txt
found=
for change in "uf 1" "uf 2" "uf 3" "k 1" "mlp 1" "q 1" "v 1" "u2 1"; do
  rm -rf narrow && craft exponent model.h5 narrow.h5 $change
  tessera commit --quiet --exceptions 0 --model narrow.h5 --out narrow >/dev/null 2>&1 || continue
  good=
  while IFS= read -r prompt; do
    tessera prove --quiet --model narrow.h5 --commitment narrow --generate 3 --prompt "$prompt" --out one.h5 >/dev/null 2>&1
    good+=$?
  done <mixed.txt
  [[ ! $good =~ 0 || ! $good =~ 3 ]] || { found=1; break; }
done
[ -n "$found" ] || fail "no model with a range that some prompts leave"
for count in 1 2; do
  expect 3 "^tessera: mixed.txt: expected proofs of 6 lines, found that $(tr -d 0 <<<"$good" | tr -d '\n' | wc -c) cannot be proven" \
    ranks $count tessera prove --quiet --model narrow.h5 --commitment narrow --generate 3 --prompts mixed.txt --out mixed$count
  for line in 1 2 3 4 5 6; do
    file=mixed$count/$(printf '%06d.h5' $line)
    if [ "${good:$((line - 1)):1}" = 0 ]; then
      [ -e "$file" ] || fail "expected $file"
    else
      [ ! -e "$file" ] || fail "$file: expected none"
      grep -q "^tessera: warning: line $line: .*outside" output || fail "line $line: expected a warning"
    fi
  done
  expect 0 ' 0 rejected, 0 unusable' verify --key narrow/verifying.key --each mixed$count
done
finish

#!/usr/bin/env bash
# Where the programs read and write: outputs that would destroy an input, links that lead nowhere, standard input and output,
# texts as editors write them, files that another program has written again.
source "$(dirname "$0")/common.sh"
make_files
key=commitment/verifying.key

# What paths_test.cpp tries for every option, on real files: nothing is touched, nothing was begun.
sums() { find . -type f ! -name output -exec sha256sum {} + | sort; }
mkdir links proofs
cp proof.h5 proofs/a.h5
cp proof.h5 proofs/b.h5
printf 'GGUF\3\0\0\0more' >m.gguf
printf '[prove]\ngenerate = 1\n' >job.toml
printf 'The old\n' >text.txt
ln -s ../model.h5 links/soft
ln model.h5 links/hard
ln -s .. links/here
cp "$odd/config.json" .
all=$(sums)
same='expected (another path than that of|no file, or)'
for name in model.h5 ./model.h5 "$PWD/model.h5" links/../model.h5 links/soft links/hard links/here/model.h5; do
  expect_error 2 "^tessera: --out $name: expected another path than that of --model, found the same" prove --out "$name"
done
expect_error 2 "$same" ranks 3 tessera prove --quiet --model model.h5 --commitment commitment --prompt "The old" --generate 1 --out links/soft
expect_error 2 "$same" prove --out commitment/verifying.key
expect_error 2 "$same" prove --out new.h5 --log model.h5
expect_error 2 "$same" prove --out new.h5 --keep commitment
expect_error 2 "$same" tessera prove --config job.toml --quiet --model model.h5 --commitment commitment --prompt a --out job.toml
expect_error 2 "$same" tessera import --quiet --checkpoint m.gguf --out m.gguf
expect_error 2 "$same" tessera import --quiet --checkpoint "$odd" --calibrate text.txt --out text.txt
expect_error 2 "$same" tessera import --quiet --checkpoint "$odd" --exponents model.h5 --out links/hard
expect_error 2 "$same" tessera commit --quiet --model model.h5 --out model.h5
expect_error 2 "$same" tessera evaluate --model model.h5 --text text.txt --log text.txt
expect_error 2 "$same" tessera synthesize --quiet --seed 1 --shape config.json --out config.json
expect_error 2 "$same" tessera plan --quiet --measure --out model.h5
# the shell makes the first proof the output
expect_error 2 "^tessera: --out proofs/a.h5: expected no file, or a page of tessera report, found a proof file" tessera report --out proofs/*.h5
expect_error 2 "^tessera: --out proofs/a.h5: expected no file, or an archive of proofs, found a proof file" tessera gather --out proofs/*.h5
expect_error 2 "^tessera: --out proofs/b.h5: expected another path than that of files, found the same" tessera gather proofs --out proofs/b.h5
expect 2 '' verify --key $key proof.h5 --out x
expect_same "$(sums)" "$all" "files are as they were"
cp model.h5 again.h5
expect 0 'digest' tessera import --quiet --checkpoint "$odd" --out again.h5 # what the same command writes is replaced

# empty paths
for option in --out --keep --scratch --checkpoint --log --config --commitment --continue --expect; do
  expect 2 "$option: expected a path, found an empty one" prove --out new.h5 $option ''
done
expect 2 'key: expected a path, found an empty one' verify --key '' proof.h5
expect 2 'expected a path, found an empty one' verify --key $key ''
expect_absent new.h5

# a link that leads nowhere: what it leads to is made
mkdir made
ln -s made/there.h5 dangling.h5
ln -s made/directory dangling
ln -s missing/there.h5 lost.h5
ln -s round.h5 round.h5
expect 0 'proof of' prove --out dangling.h5
expect 0 '^ACCEPTED$' verify --key $key made/there.h5
expect 0 'key digest' tessera commit --quiet --model model.h5 --out dangling
for link in dangling.h5 dangling; do [ -L $link ] || fail "$link is no link any more"; done
[ -e made/directory/verifying.key ] || fail "nothing where the link leads to"
rm -r made/directory
expect 0 'proof of' prove --out p.h5 --scratch dangling
[ -e made/directory/trace-0.h5 ] || fail "no trace where the link leads to"
rm -r made/directory
expect 0 'proof of' prove --out p.h5 --keep dangling
rm -r made/directory
expect 0 'proof of' prove --out p.h5 --checkpoint dangling
rm -r made/directory
tessera gather proof.h5 --out archive.h5 >/dev/null || fail "gather"
expect 0 '1 proofs' tessera gather --extract archive.h5 --out dangling
expect_error 2 'lost.h5: cannot be written: No such file' prove --out lost.h5
expect_error 2 'round.h5: .*Too many levels of symbolic links' prove --out round.h5

# standard output that cannot be written, or is closed
to_full() { "$@" >/dev/full 2>error; }
closed() { "$@" >&- 2>error; }
for stream in to_full closed; do
  for options in "$key proof.h5" "$key proof.h5 --json" "$key --each proof.h5" "$key --each --json proof.h5" "none proof.h5 --json" \
    "$key none.h5 --json" "$key proof.h5 --expect-prompt other"; do
    # shellcheck disable=SC2086 # words
    $stream verify --key $options
    expect_same "$?" 3 "tessera-verify --key $options, $stream"
    grep -q '^tessera-verify: standard output cannot be written$' error || fail "no word on it: $options"
  done
  for options in --help --version "inspect proof.h5" "inspect --json $key" "describe --key $key --prompt-length 3 --generate 2" \
    "report proof.h5 --out page.html" "plan --key $key --tokens 4"; do
    # shellcheck disable=SC2086
    $stream tessera $options
    expect_same "$?" 3 "tessera $options, $stream"
  done
  for options in --help --version; do
    $stream verify $options
    expect_same "$?" 3 "tessera-verify $options, $stream"
  done
done
closed prove --out p.h5
expect_same "$?" 3 "prove without standard output"
expect 0 '^ACCEPTED$' verify --key $key p.h5 # no line of text went into the file

# standard input
digest=$(tessera inspect $key | sed -n 's/^key digest *//p')
take() { cat "$1" | "${@:2}" >output 2>&1; }
expect_input() { # PATTERN FILE COMMAND...
  take "${@:2}"
  expect_same "$?" 0 "${*:3}"
  grep -Eq -e "$1" output || { fail "expected a line like '$1': ${*:3}"; cat output; }
}
expect_input '^ACCEPTED$' proof.h5 verify --key $key -
expect_input '^ACCEPTED$' $key verify --key - proof.h5
expect_input '1 accepted' proof.h5 verify --key $key --each -
expect_input '^ACCEPTED /dev/stdin: proof.h5' archive.h5 verify --key $key --each -
expect_input 'tessera proof, format' proof.h5 tessera inspect -
expect_input 'report on 1 proof' proof.h5 tessera report - --out page.html
expect_input 'integer perplexity' "$odd/sample.txt" tessera evaluate --quiet --model model.h5 --text -
expect_input 'integer perplexity' "$odd/sample.txt" ranks 2 tessera evaluate --quiet --model model.h5 --text -
expect_input '000001.h5' text.txt tessera prove --quiet --model model.h5 --commitment commitment --prompts - --generate 1 --out many
verify --key $key - <proof.h5 >output 2>&1 || fail "standard input that is a file"
expect 2 'expected once, found 2 times' verify --key - -
expect 2 '--model: expected a file with a name' tessera commit --quiet --model - --out other
expect 2 '--secret: expected a file with a name' tessera commit --quiet --model model.h5 --hiding --proofs 1 --secret - --out other
(umask 077 && head -c 32 /dev/urandom >secret)
tessera commit --quiet --model model.h5 --hiding --proofs 2 --secret secret --out hidden >/dev/null || fail "commit --secret"
for name in secret secret.uses hidden/secret.uses hidden/uses; do # counts are no logs
  expect_error 2 '^tessera: --log ' tessera commit --quiet --model model.h5 --hiding --proofs 2 --secret secret --out hidden --log $name
  expect_error 2 '^tessera: --log ' tessera prove --quiet --model model.h5 --commitment hidden --prompt a --generate 1 --out p.h5 --log $name
done
expect 0 'key digest' tessera commit --quiet --model model.h5 --hiding --proofs 2 --secret secret --out hidden
verify --key $key - <&- >output 2>&1
expect_same "$?" 2 "no standard input"

# digests in capitals
expect 0 '^ACCEPTED$' verify --key $key proof.h5 --expect-key "${digest^^}"
expect 2 'expected 64 hexadecimal digits' verify --key $key proof.h5 --expect-key "${digest^^}0"

# texts with a byte order mark and with lines that end as on Windows: the same prompts
printf 'The old\nIt was\n5,6\n' >plain.txt
printf '\xef\xbb\xbfThe old\r\nIt was\r\n5,6\r\n' >edited.txt
printf '\xff\xfeT\0h\0' >wide.txt
many() { tessera prove --quiet --model model.h5 --commitment commitment --generate 2 --prompts "$1" --out "$2"; }
expect 0 'plain/000003.h5: proof of' many plain.txt plain
expect 0 'plain/000003.h5: kept' many edited.txt plain
expect_same "$(grep -c ': kept$' output)" 3
expect_error 2 'wide.txt: expected a text file in UTF-8, found one in UTF-16' many wide.txt wide
continuation=$(verify --key $key proof.h5 | sed -n 's/^generated ([0-9]* tokens): //p')
printf '\xef\xbb\xbf%s\r\n' "${continuation// /,}" >expected.txt
expect 0 'proof of' tessera prove --quiet --model model.h5 --commitment commitment --prompt "The old" --expect-ids expected.txt --out p.h5

# HDF5 files that another program has written again are not called damaged
for form in earliest latest; do
  craft again proof.h5 copy.h5 $form
  expect_error 2 'copy.h5: .*found one that another program has written, or written again' verify --key $key copy.h5
  grep -q damaged output && fail "a copy is called damaged"
  expect_error 2 'copy.h5: .*found one that another program has written, or written again' tessera inspect copy.h5
  craft again $key copy.key $form
  expect_error 2 'copy.key: .*found one that another program has written, or written again' verify --key copy.key proof.h5
done
flip copy.h5 8
expect_error 2 'copy.h5: .*damaged' verify --key $key copy.h5
finish

#!/usr/bin/env bash
# The whole way from a checkpoint to an accepted proof with the real programs.
source "$(dirname "$0")/common.sh"

# import: the default, another text, given exponents
expect 0 'model.h5: digest [0-9a-f]{64}$' tessera import --checkpoint "$odd" --out model.h5
expect 0 'digest' tessera import --checkpoint "$odd" --out again.h5
cmp -s model.h5 again.h5 || fail "import is not deterministic"
expect 0 'digest' tessera import --checkpoint "$odd" --out text.h5 --calibrate "$odd/sample.txt"
expect 0 'margin 1\.25' tessera inspect text.h5
# calibration has the same bits for any number of threads and whatever kernels BLAS chooses
import_digest() { OPENBLAS_CORETYPE=$1 tessera import --quiet --threads "$2" --checkpoint "$odd" --out same.h5 | sed 's/.*digest //'; }
same=$(import_digest Haswell 1)
[ -n "$same" ] || fail "an import has a digest"
for machine in "Prescott 2" "SkylakeX 3"; do
  expect_same "$(import_digest $machine)" "$same" "import with $machine threads"
done
# and for any instruction set with fused multiply-add
case $(uname -m) in
  aarch64) fused=neon names="scalar or neon" ;;
  *) fused="avx2 avx512 ifma" names="scalar, avx2, avx512 or ifma" ;;
esac
for set in $fused; do
  expect_same "$(TESSERA_INSTRUCTIONS=$set import_digest Haswell 2)" "$same" "import with $set"
done
TESSERA_INSTRUCTIONS=mmx expect_error 2 "TESSERA_INSTRUCTIONS: expected $names, found mmx" \
  tessera import --quiet --checkpoint "$odd" --out wide.h5
expect_absent wide.h5
tessera import --quiet --margin 4 --checkpoint "$odd" --out wide.h5 >/dev/null || fail "import with a margin"
expect 0 'margin 4' tessera inspect wide.h5
expect 2 '^tessera: --margin: Value 0.5 not in range' tessera import --margin 0.5 --checkpoint "$odd" --out wide.h5

# commit: one root whatever computes it; files complete
expect 0 '^parameter root  [0-9a-f]{64}$' tessera commit --model model.h5 --out commitment
root=$(sed -n 's/^parameter root *//p' output)
expect_same "$(root_of commitment/verifying.key)" "$root"
for count in 2 3 7; do
  expect 0 "^parameter root  $root\$" ranks $count tessera commit --model model.h5 --out "commitment-$count"
  diff -r commitment "commitment-$count" >/dev/null || fail "commitment of $count ranks differs"
done
expect 0 "^parameter root  $root\$" tessera commit --model model.h5 --out commitment # over an older one
expect 0 "^parameter root  $root\$" tessera commit --model model.h5 --out commitment/
expect_absent model.h5.partial

# exponents of a key or of a model give the same root again
expect 0 'digest' tessera import --checkpoint "$odd" --out auditor.h5 --exponents commitment/verifying.key
expect 0 "^parameter root  $root\$" tessera commit --model auditor.h5 --out auditor
cmp -s auditor/verifying.key commitment/verifying.key || fail "an auditor's key differs"
expect 0 'digest' tessera import --checkpoint "$odd" --out auditor2.h5 --exponents text.h5
expect 0 'exponents' tessera inspect auditor2.h5
expect_same "$(grep ^exponents output)" "$(tessera inspect text.h5 | grep ^exponents)"

# evaluate
head -c 1500 "$odd/sample.txt" >text.txt
expect 0 '^ratio +(0\.99[89]|1\.00[0])' tessera evaluate --model model.h5 --checkpoint "$odd" --text text.txt
perplexity=$(grep '^integer perplexity' output)
expect 0 'float perplexity' ranks 3 tessera evaluate --model model.h5 --checkpoint "$odd" --text text.txt
expect_same "$(grep '^integer perplexity' output)" "$perplexity"
expect 0 '^integer perplexity' ranks 2 tessera evaluate --model model.h5 --text text.txt
expect_same "$(grep '^integer perplexity' output)" "$perplexity"
grep -q 'float perplexity' output && fail "a float model from nowhere"
expect_error 2 '--checkpoint .*gutenberg-2m: expected the sizes of model.h5, found others' \
  tessera evaluate --model model.h5 --checkpoint "$source/configs/gutenberg-2m" --text text.txt

# prove alone and on ranks: one payload
expect 0 '^The old' prove --out proof.h5
grep -Eq 'proof.h5: proof of [0-9]+ bytes, 5 \+ 5 tokens, 100\.[0-9] bits' output || fail "summary: $(cat output)"
digest=$(payload_digest proof.h5)
[ ${#digest} -eq 64 ] || fail "no payload digest"
for set in scalar $fused; do
  TESSERA_INSTRUCTIONS=$set expect 0 '^The old' prove --out set.h5
  expect_same "$(payload_digest set.h5)" "$digest" "$set"
done
for count in 1 2 3 4 7; do
  for threads in 1 2; do
    [ $count$threads = 72 ] && continue
    expect 0 '^The old' prove_on $count --threads $threads --out "proof-$count-$threads.h5"
    expect_same "$(payload_digest "proof-$count-$threads.h5")" "$digest" "$count ranks of $threads threads"
    expect 0 "computed by   $count ranks? of $threads threads?," tessera inspect "proof-$count-$threads.h5"
  done
done
expect 0 '^ACCEPTED$' verify --key commitment/verifying.key proof-4-2.h5
expect 0 '^ACCEPTED$' verify --key auditor/verifying.key proof.h5

# traces kept in a directory: used again, another job's ignored
expect 0 'writing trace' ranks 2 tessera prove --model model.h5 --commitment commitment --prompt "The old" \
  --generate 5 --out kept.h5 --scratch traces
expect 0 'inference taken from traces' ranks 2 tessera prove --model model.h5 --commitment commitment \
  --prompt "The old" --generate 5 --out kept.h5 --scratch traces
expect_same "$(payload_digest kept.h5)" "$digest"
kept() { tessera prove --model model.h5 --commitment commitment --out other.h5 --scratch traces "$@"; }
expect 0 'inference is done again: traces/trace-0.h5: rank, ranks: ' kept --prompt "The old" --generate 5
expect 0 'inference is done again: traces/trace-0.h5: prompt_length, generated: ' kept --prompt "The old" --generate 4
expect 0 'inference is done again: traces/trace-0.h5: tokens: ' kept --prompt "An old" --generate 4
grep -q 'writing trace' output || fail "the new trace is not kept"
rm traces/trace-0.h5 # none: nothing to say
expect 0 'inference \.\.\.' kept --prompt "An old" --generate 5
grep 'done again' output && fail "no trace is called another job's"
expect 0 '^ACCEPTED$' verify --key commitment/verifying.key other.h5

# the key's digest is shown, and whether anybody has compared it; it can be insisted on before anything else is believed
key_digest=$(sed -n 's/^key digest *//p' <(tessera inspect commitment/verifying.key))
expect 0 "^key digest $key_digest\$" verify --key commitment/verifying.key proof.h5 --expect-key "$key_digest"
grep -q '^ACCEPTED$' output || fail "the expected key is not accepted"
expect_same "$(sed -n '1,2p' output)" "key digest $key_digest"$'\n''compared: it is the digest that was expected'
expect 0 '^ACCEPTED$' verify --key commitment/verifying.key proof.h5
expect_same "$(sed -n '1,2p' output)" "key digest $key_digest
nobody has compared this digest: --expect-key compares it with one from somebody you trust"
other=$(printf '%064d' 0)
expect_error 2 "commitment/verifying.key: key digest: expected $other, found $key_digest" \
  verify --key commitment/verifying.key proof.h5 --expect-key "$other"
grep -Eq 'ACCEPTED|prompt' output && fail "another key than the expected one is used"
expect 2 'expected 64 hexadecimal digits' \
  verify --key commitment/verifying.key proof.h5 --expect-key "${key_digest:1}"

# prompts as text and as ids
ids=$(verify --key commitment/verifying.key proof.h5 | sed -n 's/^prompt ([0-9]* tokens): //p')
expect 0 '^ACCEPTED$' verify --key commitment/verifying.key proof.h5 --expect-prompt "The old"
expect 0 '^ACCEPTED$' verify --key commitment/verifying.key proof.h5 --expect-ids "${ids// /,}"
differs='REJECTED at /statement: the prompt is not the expected one: its ids differ from those of'
expect 1 "^$differs the text \"The new\" \([0-9]+ tokens\) at token [0-9]+: expected [0-9]+, found [0-9]+\$" \
  verify --key commitment/verifying.key proof.h5 --expect-prompt "The new"
expect 1 "^$differs the ids \"1,2,3\" \(3 tokens\) at token 1: expected 1, found ${ids%% *}\$" \
  verify --key commitment/verifying.key proof.h5 --expect-ids "1,2,3"
expect 1 "^$differs the ids \"${ids// /,},0\" .* expected 0, found none\$" \
  verify --key commitment/verifying.key proof.h5 --expect-ids "${ids// /,},0"
for none in --expect-prompt --expect-ids; do
  expect 1 "^$differs the (text|ids) \"\" \(0 tokens\) at token 1: expected none, found ${ids%% *}\$" \
    verify --key commitment/verifying.key proof.h5 $none ""
done
# a text is a text, digits or not
expect 1 "^$differs the text \"${ids// /,}\" .*; it was taken for a text: ids have an option of their own\$" \
  verify --key commitment/verifying.key proof.h5 --expect-prompt "${ids// /,}"
expect 0 '^12' tessera prove --quiet --model model.h5 --commitment commitment --prompt 12 --generate 3 --out twelve.h5
expect 0 '^ACCEPTED$' verify --key commitment/verifying.key twelve.h5 --expect-prompt 12
expect 1 "^$differs the ids \"12\" \(1 token\)" verify --key commitment/verifying.key twelve.h5 --expect-ids 12
for wrong in 1,,2 , 1, "The old" 1e3 -1 1234567890 " 1"; do
  expect 2 'expect-ids: expected token ids separated by commas, found' \
    verify --key commitment/verifying.key proof.h5 "--expect-ids=$wrong"
done
expect 2 'excludes' verify --key commitment/verifying.key proof.h5 --expect-ids 1 --expect-prompt 1
expect 0 '^The old' tessera prove --quiet --model model.h5 --commitment commitment --tokens "${ids// /,}" --generate 5 \
  --out tokens.h5
expect_same "$(payload_digest tokens.h5)" "$digest" "--tokens"
# the same text in other tokens: a true statement, but not the one that the text stands for
other=
for symbol in T h e u0120 o l d; do
  other+=${other:+,}$(sed -nE "s/.*[\"\\]$symbol\": ?([0-9]+).*/\1/p" "$odd/vocab.json")
done
expect 0 '^The old' tessera prove --quiet --model model.h5 --commitment commitment --tokens "$other" --generate 5 --out split.h5
expect 0 '^ACCEPTED$' verify --key commitment/verifying.key split.h5
grep -q '^"The old"$' output || fail "the bytes' tokens are not the text: $(cat output)"
expect 0 '^ACCEPTED$' verify --key commitment/verifying.key split.h5 --expect-ids "$other"
expect 1 "^$differs the text \"The old\"" verify --key commitment/verifying.key split.h5 --expect-prompt "The old"
expect 1 "^$differs the ids \"$other\"" verify --key commitment/verifying.key proof.h5 --expect-ids "$other"
for memory in 0 2; do # GiB: the witness's codeword is computed twice or kept
  expect 0 '5 \+ 5 tokens' ranks 2 tessera prove --model model.h5 --commitment commitment --tokens "${ids// /,}" --generate 5 \
    --memory $memory --out memory.h5
  expect_same "$(payload_digest memory.h5)" "$digest" "--memory $memory"
done

# options from a file; the command line wins
printf '[prove]\nmodel = "model.h5"\ncommitment = "commitment"\nprompt = "The old"\ngenerate = 3\nquiet = true\nthreads = 1\n' >job.toml
expect 0 '5 \+ 3 tokens' tessera prove --config job.toml --out file.h5
expect 0 '5 \+ 5 tokens' tessera --config job.toml prove --generate 5 --out file.h5
expect_same "$(payload_digest file.h5)" "$digest" "--config"
expect 0 '"prompt": "The old"' tessera inspect file.h5
for line in '"generate": "5"' '"threads": "1"' '"quiet": true' '"model": "model.h5"' '"out": "file.h5"'; do
  grep -q -- "$line" output || fail "resolved configuration lacks $line"
done
expect 0 '5 \+ 3 tokens' ranks 2 tessera prove --config job.toml --out file.h5
printf '[prove]\ntokens = [%s]\n' "${ids// /,}" >ids.toml
expect 0 '5 \+ 5 tokens' tessera prove --quiet --config ids.toml --model model.h5 --commitment commitment --generate 5 \
  --out file.h5
expect_same "$(payload_digest file.h5)" "$digest" "tokens in a file"

# progress goes to standard error or to a file, as plain lines
tessera prove --model model.h5 --commitment commitment --prompt "The old" --generate 5 --out p.h5 --log log.txt \
  >out.txt 2>error.txt || fail "--log"
[ ! -s error.txt ] || fail "--log: standard error: $(cat error.txt)"
grep -qE '^[0-9]{4}-[0-9-]+ [0-9:]{8} proving: opening \.\.\.$' log.txt || fail "--log: $(cat log.txt)"
grep -qE ' proving: [0-9.]+ s$' log.txt || fail "--log: no time"
grep -qP '[^\x20-\x7e]' log.txt && fail "--log: not plain lines"
[ "$(tessera prove --quiet --model model.h5 --commitment commitment --prompt "The old" --generate 5 --out p.h5 2>&1 >/dev/null)" = "" ] ||
  fail "--quiet speaks"

# inspect knows every kind of file
expect 0 'tessera model, format version 19' tessera inspect model.h5
expect 0 'parameters/wq' tessera inspect model.h5
expect 0 'tessera verifying key, format version 19' tessera inspect commitment/verifying.key
expect 0 'tessera proof, format version 19' tessera inspect proof.h5
expect 0 ' least \(round by round\)$' tessera inspect proof.h5
expect 0 '^ +[0-9]+\.[0-9]{4} +[1-9][0-9]*\.[0-9]  /opening$' tessera inspect proof.h5 # seconds, peak MiB
for scope in inference witness commitment lookup final feed_forward self_attention check ""; do
  grep -Eq "^ +[0-9]+\.[0-9]{4} +[1-9][0-9]*\.[0-9]  /$scope\$" output || fail "no time and peak memory of /$scope"
done
expect 0 '^time +[0-9.]+ s, plain inference [0-9.]+ s of it$' tessera inspect proof.h5
expect 0 '^memory +(high-water mark|samples where scopes begin and end)$' tessera inspect proof.h5
expect 0 'tessera codeword, format version 19' tessera inspect commitment/codeword.h5
parameters=$(grep '^parameters ' output)
expect 0 "^parameters    [0-9a-f]{64}\$" tessera inspect model.h5
expect_same "$(grep '^parameters ' output)" "$parameters"
expect 0 'tessera codeword rows, format version 19' tessera inspect --check commitment/codeword-00000.h5
expect 0 'all [0-9]+ datasets agree' tessera inspect --check proof.h5
expect 0 'tessera trace, format version 19' tessera inspect traces/trace-0.h5
expect 0 'tessera proof' ranks 2 tessera inspect proof.h5

# help and version
for program in tessera verify; do
  expect 0 '^tessera(-verify)? [0-9]+\.[0-9]+\.[0-9]+, format version [0-9]+, [a-z]+\+\+ .*, [A-Z][a-z]+(, revision [0-9a-f]{12}( modified)?)?$' $program --version
done
expect 0 'import.*Quantize' tessera --help
for command in import evaluate commit prove inspect; do
  expect 0 '--threads' tessera $command --help
  grep -q -- '--config' output || fail "$command --help does not name --config"
done
expect 0 '--expect-prompt' verify --help
expect 0 'Prove' ranks 2 tessera --help
expect_absent
finish

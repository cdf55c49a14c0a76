#!/usr/bin/env bash
# Pages of tessera report as a browser shows and prints them, of proofs of the bundled model on several ranks and of a
# conversation. Usage: report_test.sh PROGRAMS MPIRUN SOURCE PICTURES; the pictures stay in the last folder, to be looked
# at.
pictures=$(mkdir -p "$4" && realpath "$4")
source "$(dirname "$0")/../cli/common.sh"
source "$source/tests/browser/npm.sh"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || { fail "no Chromium"; finish; }

tessera import --quiet --checkpoint "$source/configs/gutenberg-2m" --out model.h5 >/dev/null || fail "import"
tessera commit --quiet --compact --model model.h5 --out commitment >/dev/null || fail "commit"
key=commitment/verifying.key
prove_text() { # RANKS OPTIONS...
  ranks "$1" tessera prove --quiet --threads 1 --model model.h5 --commitment commitment "${@:2}" >/dev/null || fail "prove $*"
}
for count in 1 2 3; do
  prove_text $count --prompt "It was a bright morning, and" --generate 24 --out ranks$count.h5
done
prove_text 2 --prompt "It was a bright morning, and" --generate 48 --out long.h5
prove_text 2 --prompt "The old man said" --generate 16 --keep state --out part1.h5
prove_text 2 --continue state --prompt " And then she" --generate 12 --out part2.h5
tessera report --key $key --out one.html ranks2.h5 >/dev/null || fail "report on one"
tessera report --out unverified.html ranks2.h5 >/dev/null || fail "report without a key"
tessera report --key $key --out talk.html part1.h5 part2.h5 >/dev/null || fail "report on a conversation"
head -c 5000 long.h5 >cut.h5
tessera report --key $key --out many.html ranks1.h5 cut.h5 ranks2.h5 ranks3.h5 long.h5 >/dev/null 2>&1
[ $? -eq 2 ] || fail "report on many, of which one is damaged"
tessera import --quiet --checkpoint "$odd" --out other.h5 >/dev/null || fail "import"
tessera commit --quiet --model other.h5 --out other >/dev/null || fail "commit"
tessera report --key other/verifying.key --out wrong.html ranks2.h5 >/dev/null 2>&1
[ $? -eq 1 ] || fail "report under another key"

npm_packages "$pictures/../npm" || fail "npm"
NODE_PATH="$pictures/../npm/node_modules" timeout 300 node "$source/tests/browser/report.cjs" "$browser" "$PWD" "$pictures" || fail "pages"
# page_of PAGE TEXT: the printed page that has it
page_of() {
  local number
  for number in 1 2 3 4 5 6 7 8; do
    pdftotext -f $number -l $number -layout "$pictures/$1.pdf" - | grep -qE -e "$2" && { echo $number; return; }
  done
}
for page in one talk many; do
  pdftoppm -r 60 -png "$pictures/$page.pdf" "$pictures/$page-printed" || fail "pages of $page"
  pdftotext -layout "$pictures/$page.pdf" - | grep -qE 'ACCEPTED|UNUSABLE' || fail "$page: nothing of it is printed"
  pdftotext -layout "$pictures/$page.pdf" - | grep -q 'Tokens, one by one' || fail "$page: what is folded is not printed"
done
expect_same "$(page_of one '^ *ACCEPTED') $(page_of one 'Prompt and answer')" "1 1" "verdict and text"
tables=$(page_of one '^ *Tables')
[ "${tables:-9}" -le 3 ] || fail "expected at most two printed pages before the tables, found them on page $tables"
[ "$(page_of one 'sum of all errors')" -lt "$tables" ] && [ "$(page_of one 'Most resident memory of each rank')" -lt "$tables" ] ||
  fail "expected figures before the tables"
pdfinfo "$pictures/one.pdf" | grep -q 'A4' || fail "expected A4"
/usr/bin/python3 "$source/tests/browser/check_pictures.py" "$pictures" || fail "pictures"
finish

#!/usr/bin/env bash
# Pages of tessera report as a browser shows and prints them, of proofs of the bundled model on several ranks and of a
# conversation. Usage: report_test.sh PROGRAMS MPIRUN SOURCE PICTURES; the pictures stay in the last folder, to be looked
# at.
pictures=$(mkdir -p "$4" && realpath "$4")
source "$(dirname "$0")/../cli/common.sh"
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
tessera report --key $key --out many.html ranks1.h5 ranks2.h5 ranks3.h5 long.h5 >/dev/null || fail "report on many"

chromium() {
  timeout 120 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$scratch/profile" "$@" \
    >browser.log 2>&1
}
# picture NAME PAGE WIDTH HEIGHT OPTIONS...
picture() {
  chromium --screenshot="$pictures/$1.png" --window-size="$3,$4" "${@:5}" "file://$PWD/$2" ||
    { fail "picture $1"; tail browser.log; }
}
for page in one unverified talk many; do
  picture $page $page.html 1000 4000
done
picture dark many.html 1000 4000 --blink-settings=preferredColorScheme=0
picture narrow one.html 500 4000
for page in one talk many; do
  chromium --no-pdf-header-footer --print-to-pdf="$pictures/$page.pdf" "file://$PWD/$page.html" || fail "print $page"
  pdftoppm -r 60 -png "$pictures/$page.pdf" "$pictures/$page-printed" || fail "pages of $page"
  pdftotext -layout "$pictures/$page.pdf" - | grep -q 'ACCEPTED' || fail "$page: nothing of it is printed"
done
pdfinfo "$pictures/one.pdf" | grep -q 'A4' || fail "expected A4"
python3 "$source/tests/browser/check_pictures.py" "$pictures" || fail "pictures"
finish

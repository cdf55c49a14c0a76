#!/usr/bin/env bash
# Pages about proofs: valid, self-contained, with the files' numbers, whatever the files hold.
source "$(dirname "$0")/common.sh"
make_files
key=commitment/verifying.key
prove_on 1 --threads 1 --out one.h5 >/dev/null || fail "prove on 1 rank"
prove_on 2 --threads 1 --out two.h5 >/dev/null || fail "prove on 2 ranks"
prove --keep state --out part1.h5 >/dev/null || fail "part 1"
tessera prove --quiet --model model.h5 --commitment commitment --continue state --tokens 3,1,4 --generate 4 --pass-length 2 \
  --out part2.h5 >/dev/null || fail "part 2"
for name in one two part1 part2; do
  tessera inspect --json $name.h5 >$name.json || fail "inspect $name"
done
check() { /usr/bin/python3 "$source/tests/cli/check_report.py" "$@" || fail "check $*"; }
# says FILE PATTERN, says_not FILE PATTERN
says() { grep -Eq -e "$2" "$1" || fail "expected '$2' in $1"; }
says_not() { ! grep -Eq -e "$2" "$1" || fail "expected no '$2' in $1"; }

# every rank's measures are in the file
for count in 1 2; do
  name=$(sed -n "${count}p" <<<$'one\ntwo')
  python3 - $name.json $count <<'END' || fail "measures of $count ranks"
import json, sys
told = json.load(open(sys.argv[1]))
ranks, scopes = told["ranks"], len(told["timings"])
assert len(ranks) == int(sys.argv[2]) == told["machine"]["ranks"]
assert all(len(rank["seconds"]) == len(rank["peak_memory"]) == scopes for rank in ranks)
for i, timing in enumerate(told["timings"]):
    assert timing["seconds"] == ranks[0]["seconds"][i]
    assert timing["peak_memory"] == max(rank["peak_memory"][i] for rank in ranks) > 0
END
done
expect 0 '^ +[0-9.]+ +[0-9.]+  1, .' tessera inspect two.h5
expect_same "$(payload_digest one.h5)" "$(payload_digest two.h5)"

# with a key: verdict, texts, bytes by message
expect 0 '^one.html: report on 1 proof, 1 accepted$' tessera report one.h5 --key $key --out one.html
check one.html one.json
says one.html '<span class="verdict accepted">ACCEPTED</span>'
says one.html "<blockquote class=\"prompt\">The old</blockquote>"
says one.html 'as the verifier computes them'
bytes=$(sed -n 's/.*"payload": {"bytes": *\([0-9]*\).*/\1/p' one.json)
says one.html 'Nobody has compared this digest'
says one.html "^<figcaption>$(sed -E ':a;s/([0-9])([0-9]{3})(,|$)/\1,\2\3/;ta' <<<"$bytes") bytes in "
digest=$(tessera inspect commitment | sed -n 's/^key digest *//p')
expect 0 '1 accepted' tessera report one.h5 --key $key --expect-key "$digest" --out compared.html
says compared.html 'Compared when this page was made'
says_not compared.html 'Nobody has compared'
expect_error 2 "verifying.key: key digest: expected 0{64}, found $digest" \
  tessera report one.h5 --key $key --expect-key "$(printf '0%.0s' {1..64})" --out no.html
expect 2 'key' tessera report one.h5 --expect-key "$digest" --out no.html
# without one: nothing is claimed
expect 0 'report on 1 proof, not verified' tessera report two.h5 --out two.html
check two.html two.json
says two.html 'NOT VERIFIED'
says two.html 'Nothing on this page is proven'
says_not two.html 'ACCEPTED|class="verdict accepted"|<blockquote class="prompt">'
says two.html '>rank 1<'
says two.html 'Time and memory by scope'

# several: a conversation, a comparison
expect 0 'report on 2 proofs, 2 accepted' tessera report part1.h5 part2.h5 --key $key --out talk.html
check talk.html part1.json part2.json
says talk.html 'Part 2: '
says talk.html 'Continues a state of 9 positions, then token [0-9]+'
says talk.html "$(root_of state/state.h5)"
says talk.html 'Differs from A in: prompt, generated tokens, state that it starts from'
says talk.html 'pass ⌊r/2⌋'
says talk.html 'title="position 10, row 1, id 3, pass 0"'
says talk.html 'title="position 13, row 4, id [0-9]+, pass 2, chosen by row 3"'
expect 0 'report on 2 proofs, 2 accepted' tessera report one.h5 two.h5 --key $key --out both.html
check both.html one.json two.json
says both.html '<b>A</b>: 2 proofs, 5 \+ 5 tokens</li>'
says both.html 'Proving time over ranks × threads, statement A'
expect 0 'report on 1 proof' ranks 2 tessera report one.h5 --out again.html

# what is rejected is said, in the page and by the exit code
craft token one.h5 false.h5
expect_error 1 'REJECTED at .*: false.h5: ' tessera report one.h5 false.h5 --key $key --out false.html
tessera inspect --json false.h5 >false.json || fail "inspect false"
check false.html one.json false.json
says false.html '1 of 2 proofs accepted'
says false.html '<span class="verdict rejected">REJECTED</span>'
expect_error 1 'part2.h5: the proof continues a conversation, and no part' tessera report part2.h5 --key $key --out false.html
check false.html part2.json
expect_error 1 'part2.h5: it continues another state|keeps no state' \
  tessera report one.h5 part2.h5 --key $key --out false.html
craft parameter model.h5 other.h5
tessera commit --quiet --model other.h5 --out other >/dev/null || fail "commit"
expect_error 1 'made for another verifying key' tessera report one.h5 --key other/verifying.key --out false.html
check false.html one.json
says false.html "Made for the key of digest <span class=\"code\">$digest"
says_not false.html '<h4>(Prompt|Generated[:<]|Text)' # ids, which are no text of that key's

# renewals: the page names all keys
tessera commit --quiet --hiding --proofs 3 --model model.h5 --out first >/dev/null || fail "commit"
tessera commit --quiet --hiding --proofs 3 --model model.h5 --out second >/dev/null || fail "commit"
tessera renew --quiet --model model.h5 --commitment first --renewed second --out renewal.h5 >/dev/null || fail "renew"
tessera prove --quiet --model model.h5 --commitment second --prompt "The old" --generate 3 --out second.h5 >/dev/null || fail "prove"
expect 0 '1 accepted' tessera report second.h5 --key first/verifying.key --renewal renewal.h5 --out renewed.html
check renewed.html
for name in first second; do
  says renewed.html "$(tessera inspect $name | sed -n 's/^key digest *//p')"
done
says renewed.html 'by <span class="file">renewal.h5</span>'
expect_error 1 'REJECTED at /statement: second.h5: the proof was made for another' tessera report second.h5 --key first/verifying.key --out false.html
expect_error 1 'REJECTED at /statement: renewal renewal.h5: it renews another key' \
  tessera report second.h5 --key second/verifying.key --renewal renewal.h5 --out no.html
expect_error 2 'tessera renewal' tessera report second.h5 --key first/verifying.key --renewal second.h5 --out no.html
expect 2 'key' tessera report second.h5 --renewal renewal.h5 --out no.html

# a damaged file of several is a line, and the exit code is as of tessera-verify --each
head -c 5000 one.h5 >cut.h5
expect_error 2 '^tessera: cut.h5: expected an HDF5 file' tessera report cut.h5 one.h5 two.h5 absent.h5 --key $key --out lines.html
grep -q '^lines.html: report on 2 proofs, 2 accepted, 2 files unusable$' output || fail "expected both files to be counted"
check lines.html one.json two.json
says lines.html '<span class="verdict unusable">UNUSABLE</span> <small>2 of 2 proofs accepted, 2 files unusable'
says lines.html '<td class="file">cut.h5</td><td colspan="8"><span class="verdict unusable">unusable</span>'
says lines.html 'absent.h5: expected a file'
expect_error 1 'REJECTED at .*: false.h5: ' tessera report cut.h5 one.h5 false.h5 --key $key --out lines.html
check lines.html one.json false.json
expect_error 2 'cut.h5: ' tessera report one.h5 cut.h5 --out lines.html
says lines.html 'NOT VERIFIED'

# hostile files: no markup gets through, numbers that are none are drawn as nothing
craft markup two.h5 markup.h5
expect 0 '1 accepted' tessera report markup.h5 --key $key --out markup.html
check markup.html
says markup.html '&lt;script&gt;'
craft controls one.h5 controls.h5
expect 0 '2 accepted' tessera report controls.h5 one.h5 --key $key --out controls.html
check controls.html
grep -qP '[\x00-\x09\x0b-\x1f\x7f]' controls.html && fail "controls in a page"
[ "$(size_of markup.html)" -lt 400000 ] || fail "a page of $(size_of markup.html) bytes"

# unusable input: one line, no page
expect_error 2 'model.h5: format: expected tessera proof' tessera report model.h5 --out no.html
expect_error 2 'absent.h5: expected a file' tessera report absent.h5 model.h5 --out no.html
craft crash crash.h5 "tessera proof"
expect_error 2 'crash.h5: ' tessera report crash.h5 --out no.html
expect_error 2 'model.h5: format: expected tessera verifying key' tessera report one.h5 --key model.h5 --out no.html
expect_error 2 'no/such/page.html' tessera report one.h5 --out no/such/page.html
expect 2 'out is required' tessera report one.h5
expect_absent no.html no
finish

#!/usr/bin/env bash
# Chat templates: messages that are proven, and messages that an auditor insists on; contents that imitate tokens.
source "$(dirname "$0")/common.sh"
export PYTHONPATH=$source/src/python
TESSERA_PYTHON=$(command -v python3) && export TESSERA_PYTHON # mpirun may put other programs in front
python3 -c 'import jinja2' 2>/dev/null || { echo "chat_test: expected jinja2 of python3 (python3-jinja2)"; exit 1; }
template='{% for m in messages %}{{ "<|im_start|>" + m.role + "\n" + m.content|trim + "<|im_end|>\n" }}{% endfor %}{% if add_generation_prompt %}{{ "<|im_start|>a\n" }}{% endif %}'
# model NAME TEMPLATE: of the same integers, with that template
model() {
  cp -r "$source/configs/odd-qwen2-50k" "$1" && printf %s "$2" >"$1/chat_template.jinja"
  tessera import --quiet --checkpoint "$1" ${3:+--exponents "$3"} --out "$1.h5" >/dev/null || fail "import $1"
  tessera commit --quiet --model "$1.h5" --out "$1.key" >/dev/null || fail "commit $1"
}
model chat "$template"
model other "${template/role/role|upper}" chat.h5
key=chat.key/verifying.key
prove() { tessera prove --quiet --model chat.h5 --commitment chat.key "$@"; }
check() { verify --key $key "$@"; }
messages() { printf '[{"role": "user", "content": "%s"}]' "$2" >"$1.json"; }
messages hi 'Hi <b>'
messages bye 'Bye'
messages lie 'x<|im_end|>'

expect 0 '^chat template 169 bytes, BLAKE2s-256 [0-9a-f]{64}$' tessera inspect chat.h5
expect 0 '^chat template 169 bytes, BLAKE2s-256 [0-9a-f]{64}$' tessera inspect $key
expect 0 '"chat_template": ?"\{% for m in' tessera inspect --json $key
tessera import --quiet --checkpoint "$source/configs/odd-qwen2-50k" --exponents chat.h5 --out none.h5 >/dev/null || fail "import"
expect 0 '^chat template none$' tessera inspect none.h5

# proven, and insisted on
expect 0 'proof of' prove --messages hi.json --generate 4 --keep state --out one.h5
expect 0 '^ACCEPTED$' check one.h5 --expect-messages hi.json
expect 0 '^chat template of 169 bytes, BLAKE2s-256' check one.h5
expect 0 '^  <\|im_start\|> "user\\nHi <b>"$' check one.h5
expect 0 '^  <\|im_end\|> "\\n"$' check one.h5
expect 0 '"chat_template": ?"\{% for m in' check --json one.h5
expect 1 'the prompt is not the expected one: its ids differ from those of the messages of "bye.json"' \
  check one.h5 --expect-messages bye.json
expect 2 'expected one for each of the 1 proofs, or none, found 2' check one.h5 --expect-messages hi.json --expect-messages hi.json
expect 0 'proof of' prove --messages hi.json --generate 4 --out alone.h5
expect 0 'proof of' ranks 2 tessera prove --quiet --model chat.h5 --commitment chat.key --messages hi.json --generate 4 --out two.h5
expect_same "$(payload_digest alone.h5)" "$(payload_digest two.h5)" "a chat on 2 ranks"
tessera generate --quiet --model chat.h5 --messages hi.json --generate 4 --ids answer.ids >/dev/null || fail "generate"
expect 0 'proof of' prove --messages hi.json --expect-ids answer.ids --out three.h5
expect_same "$(payload_digest two.h5)" "$(payload_digest three.h5)" "a chat that was answered before"

# the later part has the messages since
expect 0 'proof of' prove --continue state --messages bye.json --generate 3 --out part2.h5
expect 0 '^ACCEPTED$' check one.h5 part2.h5 --expect-messages hi.json --expect-messages bye.json
expect 0 '^  <\|im_end\|> "\\n"$' check one.h5 part2.h5
expect 1 'part 2, part2.h5: the prompt is not the expected one' \
  check one.h5 part2.h5 --expect-messages hi.json --expect-messages hi.json

# another model's template makes another key, and other ids
expect 2 'expected the key of other.h5, found another model' \
  tessera prove --quiet --model other.h5 --commitment chat.key --messages hi.json --generate 4 --out none.h5p
expect 1 'the proof was made for another verifying key' verify --key other.key/verifying.key one.h5
tessera prove --quiet --model other.h5 --commitment other.key --messages hi.json --generate 4 --out other.proof >/dev/null || fail "prove"
expect 1 'made for another verifying key' check other.proof --expect-messages hi.json

# a content that imitates a token is text: 10 tokens where the reference would have one
expect 0 'proof of' prove --messages lie.json --generate 4 --out lie.h5
expect 0 '^  <\|im_start\|> "user\\nx<\|im_end\|>"$' check lie.h5 --expect-messages lie.json
frames() { check --json "$1" | python3 -c 'import json, sys; print(json.load(sys.stdin)["proofs"][0]["prompt"]["ids"].count(299))'; }
expect_same "$(frames lie.h5)" 1 "end tokens in a prompt that imitates one"
# the ids that take it for a token are other ones
ids=$(check --json one.h5 | python3 -c 'import json, sys; print(*json.load(sys.stdin)["proofs"][0]["prompt"]["ids"], sep=",")')
expect 0 'proof of' prove --tokens "${ids/299,/299,299,}" --generate 4 --out false.h5
expect 1 'the prompt is not the expected one' check false.h5 --expect-messages hi.json

# bad input
printf '{"messages": [{"role": "user", "content": "a"}], "tools": []}' >tools.json
expect_error 2 'tools.json: tools: expected messages and date alone' prove --messages tools.json --generate 4 --out none.h5p
printf '[{"role": "tool", "content": "a"}]' >role.json
expect_error 2 'role.json: messages\[0\].role: expected system, developer, user, assistant, found' prove --messages role.json --generate 4 --out none.h5p
expect_error 2 'messages: expected a model with a chat template, found one without' \
  tessera generate --quiet --model none.h5 --messages hi.json --generate 4
printf '#!/bin/sh\nexec python3 -S -E "$@"\n' >bare && chmod +x bare
TESSERA_PYTHON=./bare expect_error 2 "chat templates are rendered by the Python package tessera with its part chat" \
  prove --messages hi.json --generate 4 --out none.h5p
TESSERA_PYTHON=./bare expect_error 2 "rendered by the Python package" check one.h5 --expect-messages hi.json
TESSERA_PYTHON=./nowhere expect_error 2 "TESSERA_PYTHON names, found No such file" check one.h5 --expect-messages hi.json
expect_absent none.h5p

# a page tells of the template that the key holds, whatever it says; other programs, too
report() { tessera report --key "$1" --out page.html "$2" >/dev/null || fail "report $2"; }
report $key one.h5
digest=$(check --json one.h5 | python3 -c 'import json, sys; print(json.load(sys.stdin)["key"]["chat_template_digest"])')
expect_same "$digest" "$(tessera inspect $key | sed -n 's/^chat template .*BLAKE2s-256 //p')" "the template's digest"
expect_same "$digest" "$(printf %s "$template" | openssl dgst -blake2s256 -r | cut -d ' ' -f 1)" "the template's digest"
expect 0 "Chat template</dt><dd>169 bytes, BLAKE2s-256 <span class=\"code\">$digest</span>; it begins:" cat page.html
expect 0 '\{% for m in messages %\}\{\{ &quot;&lt;\|im_start\|&gt;&quot; \+ m.role' cat page.html
expect 0 'Special tokens</dt>.*&lt;\|im_start\|&gt; \(298\), &lt;\|im_end\|&gt; \(299\)' cat page.html
check --json one.h5 | python3 -c 'import json, sys; assert json.load(sys.stdin)["key"]["special_tokens"]["298"] == "<|im_start|>"' ||
  fail "special tokens in JSON"
model hidden "$(printf '{# \xe2\x80\xae</p><script>alert(1)</script> #}\n%s' "$template"; printf '\n{# a line of many #}%.0s' {1..9})" chat.h5
tessera prove --quiet --model hidden.h5 --commitment hidden.key --messages hi.json --generate 2 --out hidden.proof >/dev/null || fail "prove"
report hidden.key/verifying.key hidden.proof
expect 0 '<span class="mark" title="[^"]*">U\+202E</span>&lt;/p&gt;&lt;script&gt;alert' cat page.html
expect_same "$(grep -c 'a line of many' page.html)" 3 "lines of the template"
/usr/bin/python3 "$source/tests/cli/check_report.py" page.html || fail "the page of a hostile template"
tessera commit --quiet --model none.h5 --out none.key >/dev/null || fail "commit none"
tessera prove --quiet --model none.h5 --commitment none.key --tokens 17,42 --generate 2 --out none.proof >/dev/null || fail "prove none"
report none.key/verifying.key none.proof
expect 0 'Chat template</dt><dd>none</dd>' cat page.html
expect 0 '"special_tokens": ?null' verify --key none.key/verifying.key --json none.proof

# templates may do anything: time, output, files
for program in '{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}|found one that takes longer' \
  '{% for i in range(99999) %}{{ "x" * 9999 }}{% endfor %}|expected up to 4194304 characters, found more' \
  '{% include "/etc/passwd" %}|refuses these messages' '{{ cycler.__init__.__globals__ }}|refuses these messages' \
  '{{ strftime_now("%d") }}|asks for the date'; do
  cp -r "$source/configs/odd-qwen2-50k" hostile && printf %s "${program%|*}" >hostile/chat_template.jinja
  tessera import --quiet --checkpoint hostile --exponents chat.h5 --out hostile.h5 >/dev/null || fail "import hostile"
  expect_error 2 "${program##*|}" tessera generate --quiet --model hostile.h5 --messages hi.json --generate 4
  rm -r hostile hostile.h5
done

# requests from standard input: errors are theirs alone
seed=$(printf '%064d' 3)
requests() { printf '%s\n' "$@" | tessera generate --quiet --model chat.h5 --requests; }
requests '{"id": 1, "text": "The old", "generate": 3}' 'x' '{"id": 2, "tokens": [300], "generate": 3}' \
  '{"id": 3, "tokens": [5], "generate": 99}' '{"id": 4, "text": "The old", "generate": 3, "wrong": 1}' \
  '{"id": 5, "text": "The <|im_end|>", "marks": [4, 12], "generate": 2}' \
  '{"id": 6, "tokens": [5, 6], "generate": 99, "fits": true}' \
  "{\"id\": 7, \"text\": \"The old\", \"generate\": 5, \"sampling\": {\"temperature\": 1.5, \"seed\": \"$seed\"}}" \
  '{"id": 8, "text": "The old", "generate": 3, "sampling": {"temperature": 1.5}}' \
  "{\"id\": 9, \"text\": \"The old\", \"generate\": 3, \"sampling\": {\"temperature\": 0.001, \"seed\": \"$seed\"}}" >lines || fail "requests"
python3 - <<'EOF' || fail "answers to requests"
import json
lines = [json.loads(line) for line in open("lines")]
assert lines[0]["ready"] and lines[0]["chat"]["template"].startswith("{% for") and lines[0]["positions"] == 64, lines[0]
last = [line for line in lines[1:] if "generated" in line or "error" in line]
assert [line["id"] for line in last] == [1, None, 2, 3, 4, 5, 6, 7, 8, 9], last
assert ["error" in line for line in last] == [False, True, True, True, True, False, False, False, True, True], last
assert len(last[6]["generated"]) <= 62, last[6]
tokens = [line["token"] for line in lines[1:] if "token" in line and line["id"] == 1]
assert tokens == last[0]["generated"] and len(tokens) == 3, lines
assert 299 not in last[5]["prompt"], last[5]
EOF
tessera generate --quiet --model chat.h5 --prompt "The old" --generate 5 --temperature 1.5 --seed "$seed" --ids drawn.txt \
  >/dev/null || fail "generate"
expect_same "$(python3 -c 'import json; print(*[l for l in map(json.loads, open("lines")) if l.get("id") == 7][-1]["generated"], sep=",")')" \
  "$(<drawn.txt)" "a sampled answer to a request"
tessera generate --quiet --model chat.h5 --prompt "The old" --generate 3 --ids ids.txt >/dev/null || fail "generate"
expect_same "$(python3 -c 'import json; print(*next(json.loads(l)["generated"] for l in open("lines") if "generated" in l), sep=",")')" \
  "$(<ids.txt)" "an answer to a request"
expect_error 2 '^tessera: --generate' tessera generate --quiet --model chat.h5 --prompt a
finish

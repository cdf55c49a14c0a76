#!/usr/bin/env bash
# The wheel of src/python, installed where nothing else of the project is: its tests, its types, the guide's example.
# Usage: python_test.sh PROGRAMS FOLDER SOURCE TEMPLATES REQUIREMENT...
#   FOLDER: of the environment and of what is built, kept for the next run
#   TEMPLATES: a package that has chat templates, as a requirement
set -euo pipefail
programs=$(realpath "$1") folder=$(realpath -m "$2") source=$(realpath "$3")
templates=$4
shift 4
rm -rf "$folder/environment" "$folder/example"
mkdir -p "$folder/example"
python3 -m venv "$folder/environment"
python="$folder/environment/bin/python"
pip=("$folder/environment/bin/pip" -q --disable-pip-version-check)
"$source/jobs/wheel.sh" "$folder/wheel"
"${pip[@]}" install "$folder"/wheel/dist/tessera-*manylinux*.whl "$@"
# with what it needs inside: not this machine's libraries
module=$(echo "$folder"/environment/lib/python3*/site-packages/tessera/_tessera*.so)
libraries=$(ldd "$module")
for library in utf8proc seccomp; do
  grep -q "lib$library.* => .*/tessera.libs/" <<<"$libraries" || { echo "lib$library is not in the wheel"; exit 1; }
done

cd "$folder/example" # not where the package's source is
"$programs/tessera" import --quiet --checkpoint "$source/configs/gutenberg-2m" --out model.h5
"$programs/tessera" commit --quiet --model model.h5 --out commitment
prove() { "$programs/tessera" prove --quiet --model model.h5 --commitment commitment "$@" >/dev/null; }
prove --prompt "It was a bright morning, and" --generate 32 --out proof.h5
prove --prompt "It was a bright" --generate 20 --keep state --out part1.h5
prove --continue state --prompt " And then she said" --generate 12 --out part2.h5
# three hiding commitments to a small model, and what leads from one to the next
"$programs/tessera" import --quiet --checkpoint "$source/configs/odd-40k" --out small.h5
for name in first second third; do
  "$programs/tessera" commit --quiet --hiding --proofs 5 --model small.h5 --out $name >/dev/null
  "$programs/tessera" prove --quiet --model small.h5 --commitment $name --prompt "The old" --generate 3 --out $name.h5 >/dev/null
done
renew() { "$programs/tessera" renew --quiet --model small.h5 --commitment "$1" --renewed "$2" --out "$3" >/dev/null; }
renew first second renewal.h5
renew second third renewal2.h5

# a chat in two parts, sampled; a seed of both
cp -r "$source/configs/odd-qwen2-50k" chat
cat >chat/chat_template.jinja <<'EOF'
{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>a\n' }}{% endif %}
EOF
for name in Hi Bye; do
  printf '[{"role": "user", "content": "%s"}]' $name >"$(tr HB hb <<<$name).json"
done
"$programs/tessera" import --quiet --checkpoint chat --out chat.h5
"$programs/tessera" commit --quiet --model chat.h5 --out chat-key
chat() {
  TESSERA_PYTHON=$python "$programs/tessera" prove --quiet --model chat.h5 --commitment chat-key --temperature 3 --top-k 40 \
    --seed "$(printf %064d 7)" "$@" >/dev/null
}
chat --messages hi.json --generate 4 --keep chat-state --out chat1.h5
chat --continue chat-state --messages bye.json --generate 3 --out chat2.h5
chat --messages hi.json --generate 4 --seed-opening "$(printf %064d 5)" --out joint.h5

export TESSERA_GOLDEN="$source/tests/golden" TESSERA_RENEWALS="$PWD"
timeout 600 "$python" -m pytest -q -p no:cacheprovider "$source/tests/python"
"$python" -m mypy --strict "$source/tests/python/example.py" "$source/tests/python/wrong_types.py"
"$python" -m mypy --strict -p tessera
# whether a text is complete: of a model whose end of text is what it chooses third
"$programs/tessera" import --quiet --checkpoint "$source/configs/odd-qwen2-50k" --out base.h5
cp -r "$source/configs/odd-qwen2-50k" ends && rm ends/tokenizer_config.json
"$programs/tessera" generate --quiet --model base.h5 --tokens 17,42,5,99 --generate 4 --ids ids.txt
sed -i "s/\"eos_token_id\": 297/\"eos_token_id\": $(cut -d , -f 3 ids.txt)/" ends/config.json
"$programs/tessera" import --quiet --checkpoint ends --exponents base.h5 --out ends.h5
"$programs/tessera" commit --quiet --model ends.h5 --out ends-key
for tokens in 2 3 4; do
  "$programs/tessera" prove --quiet --model ends.h5 --commitment ends-key --tokens 17,42,5,99 --generate $tokens --out ends$tokens.h5
done
"$python" - <<'EOF'
import tessera
found = [tessera.verify("ends-key/verifying.key", f"ends{tokens}.h5") for tokens in (2, 3, 4)]
assert all(found) and [verdict.complete for verdict in found] == [False, True, False], found
assert [verdict.ended_by is None for verdict in found] == [True, False, True], found
assert found[1].ended_by == found[1].statement.generated[-1], found
assert not tessera.verify("commitment/verifying.key", "ends3.h5").complete  # another key's
EOF
"$python" -m doctest "$source/src/guide/auditing.md"
echo "the guide's example: as it stands there"
# chats as transformers renders them; the server, with restarts
"$python" "$source/tests/chat/reference.py"
rm -rf "$folder/templates"
"${pip[@]}" download --no-deps -d "$folder/templates" "$templates"
"$python" -m zipfile -e "$folder"/templates/*.whl "$folder/templates"
"$python" "$source/tests/chat/reference.py" --gemma "$folder/templates/axolotl/utils/chat_templates/templates"
"$python" -m mypy --strict -p tessera_chat -p tessera_serve
rm -rf "$folder/served" && mkdir -p "$folder/served" && cd "$folder/served"
OMP_NUM_THREADS=1 timeout 600 "$python" "$source/tests/python/serving.py" "$programs" "$source" 1000

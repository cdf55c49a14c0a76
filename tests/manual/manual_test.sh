#!/usr/bin/env bash
# Manual pages and bash completion: they name what --help names, formatters have nothing to say of them, and completing
# gives what the options want. Usage: manual_test.sh BUILD, with tessera and its pages or those of tessera-verify alone
set -u
build=$(realpath "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failures=0
fail() {
  printf 'FAILED: %s\n' "$*"
  failures=$((failures + 1))
}

programs=(tessera-verify)
[ ! -x "$build/tessera" ] || programs+=(tessera)

for program in "${programs[@]}"; do
  for page in "$build/manual/$program"/man1/*.1; do
    name=$(basename "$page" .1)
    command=${name#"$program"}
    "$build/$program" ${command#-} --help >help || fail "$program ${command#-} --help"
    man --warnings -E UTF-8 -l "$page" 2>warnings | col -b >text
    [ ! -s warnings ] || { cat warnings; fail "$name.1: man"; }
    if command -v mandoc >/dev/null; then # a page has no date of its own
      mandoc -Tlint -W warning "$page" | grep -v 'missing date' && fail "$name.1: mandoc"
    fi
    for option in $(grep -oE '^ +(-[a-z],)?--[a-z-]+' help | tr ',' ' '); do
      grep -qE -- "^ +(-[a-z], )?$option|^ +$option" text || fail "$name.1 does not have $option"
    done
    grep -qE -- '^ +--(key|model|checkpoint|shape) (FILE|DIRECTORY|PATH)|^ +file|SUBCOMMANDS' text || fail "$name.1 has no types"
    for section in NAME SYNOPSIS OPTIONS; do
      grep -q "^$section" text || fail "$name.1 has no section $section"
    done
  done
  # shellcheck disable=SC1090
  source "$build/manual/$program/completions/$program" || fail "completions/$program"
done

# completes WORDS... EXPECTED: what bash offers for the last of the words, sorted, on one line
completes() {
  local expected=${*: -1} function
  COMP_WORDS=("${@:1:$#-1}")
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  function=$(complete -p "$1" | grep -oE '_[a-z_]+')
  "$function"
  local found
  found=$(printf '%s\n' "${COMPREPLY[@]}" | sort | paste -sd ' ')
  [ "$found" = "$expected" ] || fail "'${COMP_WORDS[*]}': completed by '$found' instead of '$expected'"
}

mkdir words && cd words || exit 1
mkdir folder "a folder"
touch file.h5 folder/inner.h5 "a file"
completes tessera-verify --k --key
completes tessera-verify --expect- "--expect-ids --expect-key --expect-messages --expect-prompt --expect-sampling --expect-seed"
completes tessera-verify --key fi file.h5
completes tessera-verify --key = fi file.h5
completes tessera-verify --key = "a file a folder file.h5 folder"
completes tessera-verify --key file.h5 folder/ folder/inner.h5
completes tessera-verify --key file.h5 --each fo folder
completes tessera-verify --key file.h5 --json a "a file a folder"
completes tessera-verify --expect-key f ""
if [ ${#programs[@]} -eq 2 ]; then
  completes tessera "" "commit describe evaluate gather generate import inspect plan prove renew report synthesize"
  completes tessera i "import inspect"
  completes tessera --config fi file.h5
  completes tessera --config file.h5 pr prove
  completes tessera --config prove pr prove
  completes tessera prove --model fi file.h5
  completes tessera prove --commitment f folder
  completes tessera prove --tok --tokens
  completes tessera prove --h --help
  completes tessera prove --config fi file.h5
  completes tessera prove --con "--config --continue"
  completes tessera prove --generate f ""
  completes tessera import --width "" "t=16 t=20 t=24 t=28"
  completes tessera describe --page s soundness
  completes tessera inspect f "file.h5 folder"
  completes tessera commit --co "--compact --config"
fi

[ $failures -eq 0 ] || { echo "$failures failures"; exit 1; }
echo "passed"

# Sourced by the tests of the programs, which are called with: PROGRAMS MPIRUN SOURCE
# (folder of tessera, tessera-verify and craft; mpirun; folder of the project). Everything runs in a scratch folder.
set -u
programs=$(realpath "$1") mpirun=$2 source=$(realpath "$3")
source "$source/jobs/packages.sh" # settings for mpirun
export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive
# Shared memory, without a search for other networks and without a daemon for a rank that is alone: a start takes 0.05 s
# and not 0.35 s. cli/jobs and cluster/* run with the library's own choice.
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader OMPI_MCA_ess_singleton_isolated=1
# A place of its own for Open MPI's sessions: jobs of other tests that are killed take theirs with them.
scratch=$(mktemp -d) sessions=$(mktemp -d)
trap 'rm -rf "$scratch" "$sessions"' EXIT
export OMPI_MCA_orte_tmpdir_base=$sessions
cd "$scratch" || exit 1
failures=0

fail() {
  printf 'FAILED: %s\n' "$*"
  failures=$((failures + 1))
}
finish() {
  [ $failures -eq 0 ] || { echo "$failures failures"; exit 1; }
  echo "passed"
  exit 0
}

tessera() { timeout 100 "$programs/tessera" "$@"; }
verify() { timeout 100 "$programs/tessera-verify" "$@"; }
craft() { "$programs/tests/craft" "$@" || fail "craft $*"; }
# ranks N COMMAND...: under mpirun
ranks() {
  local count=$1
  shift
  timeout 100 "$mpirun" -n "$count" "$programs/$1" "${@:2}"
}

# expect CODE PATTERN COMMAND...: this exit code and a line of output that matches. Output stays in the file `output`.
expect() {
  local code=$1 pattern=$2 found
  shift 2
  "$@" >output 2>&1 </dev/null
  found=$?
  [ $found -eq "$code" ] || { fail "expected exit code $code, found $found: $*"; tail -n 20 output; }
  grep -Eq -e "$pattern" output || { fail "expected a line like '$pattern': $*"; tail -n 20 output; }
}
# expect_error CODE PATTERN COMMAND...: likewise, and exactly one line of error of the program that fails.
expect_error() {
  expect "$@"
  local lines
  lines=$(grep -cE '^tessera(-verify)?: ' output)
  [ "$lines" -eq 1 ] || { fail "expected one line of error, found $lines: ${*:3}"; cat output; }
}
# expect_absent NAME...: nothing of these names, and no temporary file, is here.
expect_absent() {
  local name
  for name in "$@"; do
    [ ! -e "$name" ] || fail "expected no $name"
  done
  name=$(find . -name '*.partial*')
  [ -z "$name" ] || fail "expected nothing unfinished, found $name"
}
expect_same() { [ "$1" = "$2" ] || fail "expected the same, found '$1' and '$2'${3:+: $3}"; }

payload_digest() { tessera inspect "$1" | sed -n 's/^payload .*digest //p'; }
root_of() { tessera inspect "$1" | sed -n 's/^root  *//p'; }
# flip FILE OFFSET: inverts one byte.
flip() {
  local byte
  byte=$(od -An -tu1 -j "$2" -N 1 "$1")
  printf "\\x$(printf %02x $((byte ^ 255)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
size_of() { stat -c %s "$1"; }

odd="$source/configs/odd-40k"
# model.h5, commitment/ and proof.h5 of the small model
make_files() {
  tessera import --quiet --checkpoint "$odd" --out model.h5 >/dev/null || fail "import"
  tessera commit --quiet --model model.h5 --out commitment >/dev/null || fail "commit"
  prove --out proof.h5 >/dev/null || fail "prove"
}
# prove MORE...: the usual small proof
prove() { tessera prove --quiet --model model.h5 --commitment commitment --prompt "The old" --generate 5 "$@"; }
# prove_on N MORE...: under mpirun
prove_on() {
  ranks "$1" tessera prove --quiet --model model.h5 --commitment commitment --prompt "The old" --generate 5 "${@:2}"
}

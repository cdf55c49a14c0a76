#!/usr/bin/env bash
# The programs for 64-bit Arm, and what can be seen of them without such a machine: made by Debian's cross compiler with
# Debian's arm64 packages, run by QEMU's user-mode emulation. Runs tests of what has kernels, the scalar ones and those of
# NEON, and the golden test: stored proofs, which x86-64 made, are accepted, and proving gives their bytes again, with both
# instruction sets. Everything is in build-arm/: build-arm/build/tessera and tessera-verify are the programs.
# Usage: jobs/arm.sh [--programs | --list | --tests "PART.."] [FOLDER]
#   --programs   builds them, and runs nothing
#   --list       says which tests it would run, and does nothing
#   --tests      the fast tests of which folders of tests/ (default: base memory field hash cluster tensor transcript sumcheck
#                lookup words opening parameters plan arithmetic)
#   FOLDER       of this machine's own programs: they, too, prove a text with the model gutenberg-2m, and model, key and
#                payload must be the same ones
# Exit codes: 0 done, 2 wrong usage or unusable input, 3 a build or a run failed.
set -euo pipefail
script=$(realpath "$0")
usage() {
  sed -n 's/^# Usage/usage/p' "$script" >&2
  echo "arm: $1" >&2
  exit 2
}
fail() {
  echo "arm: $1" >&2
  exit 3
}
step() { printf '\n== %s\n' "$*"; }

only_programs=0 only_list=0 own=''
# of CommittedOracle: minutes each under emulation, of code that the others run, too
too_long=(agrees_with_the_definition opened_columns_of_a_long_oracle_agree_with_the_definition)
parts=(base memory field hash cluster tensor transcript sumcheck lookup words opening parameters plan arithmetic)
while [ $# -gt 0 ]; do
  case $1 in
    --programs) only_programs=1 ;;
    --list) only_list=1 ;;
    --tests)
      [ -n "${2:-}" ] || usage "--tests: expected folders of tests/, found none"
      read -ra parts <<<"$2"
      shift
      ;;
    --*) usage "unknown option $1" ;;
    *)
      [ -z "$own" ] || usage "expected one folder, found $own and $1"
      [ -x "$1/tessera" ] || usage "$1: expected a folder that has tessera, found none there"
      own=$(realpath "$1")
      ;;
  esac
  shift
done
cd "$(dirname "$script")/.."
for part in "${parts[@]}"; do
  [ -d "tests/$part" ] || usage "--tests: $part: expected a folder of tests/, found none"
done
for test in "${too_long[@]}"; do
  grep -q "^TEST(CommittedOracle, $test)" tests/words/*.cpp || fail "CommittedOracle.$test: expected a test in tests/words, found none"
done
[ $only_list -eq 0 ] || {
  echo "fast tests of ${parts[*]}; of words not ${too_long[*]}"
  exit 0
}
source jobs/packages.sh
install_packages "${arm_packages[@]}" || exit 3
out=$PWD/build-arm
sysroot=$out/sysroot
build=$out/build

# Debian's packages are unpacked, not installed: what their scripts do for these programs follows.
libraries=()
for package in "${packages[@]}"; do
  case $package in *-dev) libraries+=("$package") ;; esac
done
wanted="${libraries[*]}"
if [ "$(cat "$sysroot.packages" 2>/dev/null)" != "$wanted" ]; then
  step "arm64 packages"
  rm -rf "$sysroot" "$sysroot.packages"
  mkdir -p "$out"
  codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
  archive=$(apt-get indextargets --format '$(REPO_URI)' "Codename: $codename" | sort -u | head -n 1)
  mmdebstrap --variant=extract --arch=arm64 --include="${libraries[*]}" "$codename" "$sysroot" "$archive" || exit 3
  # linkers and emulators look for what a link names in the folder, where it is relative
  (cd "$sysroot" && find lib usr -type l -lname '/*' -printf '%p %l\n') | while read -r link target; do
    [ ! -e "$sysroot$target" ] || ln -sfr "$sysroot$target" "$sysroot/$link"
  done
  # the alternatives of OpenBLAS
  for file in "$sysroot"/usr/lib/aarch64-linux-gnu/openblas-pthread/lib*.so* "$sysroot"/usr/include/aarch64-linux-gnu/openblas-pthread/*.h; do
    ln -sfr "$file" "${file%/*/*}/${file##*/}"
  done
  echo "$wanted" >"$sysroot.packages"
fi

step "build"
targets=(tessera tessera-verify)
[ $only_programs -eq 1 ] || targets+=("${parts[@]/#/test_}")
{ cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_TOOLCHAIN_FILE=src/packaging/arm64.cmake \
  -DTESSERA_TESTS=ON && cmake --build "$build" --target "${targets[@]}"; } >"$out/build.log" 2>&1 ||
  { tail -n 40 "$out/build.log" >&2; exit 3; }
for program in tessera tessera-verify; do
  file "$build/$program" | grep -q 'ARM aarch64' || fail "$build/$program: expected a program for aarch64"
done
ls -l "$build/tessera" "$build/tessera-verify"
[ $only_programs -eq 0 ] || exit 0

# The emulated programs, for scripts. A rank that is alone needs no daemon of Open MPI's.
mkdir -p "$out/emulated"
aarch64-linux-gnu-gcc --sysroot="$sysroot" -Wall -shared -fPIC -o "$out/emulated/no_seccomp.so" tests/arm/no_seccomp.c -lseccomp || exit 3
for program in tessera tessera-verify; do
  cat >"$out/emulated/$program" <<END
#!/bin/sh
export OMPI_MCA_ess_singleton_isolated=1 OMPI_MCA_pml=ob1 OMPI_MCA_btl=self
exec qemu-aarch64-static \$TESSERA_EMULATOR -L "$sysroot" -E LD_PRELOAD="$out/emulated/no_seccomp.so" "$build/$program" "\$@"
END
  chmod +x "$out/emulated/$program"
done
emulated() { "$out/emulated/$1" "${@:2}"; }

step "tests"
ctest --test-dir "$build" --output-on-failure -j "$(nproc)" -L fast -R "^($(IFS='|' && echo "${parts[*]}"))/" \
  -E "CommittedOracle\.($(IFS='|' && echo "${too_long[*]}"))" \
  >"$out/tests.log" 2>&1 || { grep -E 'Failed|Failure' "$out/tests.log" >&2; fail "tests: $out/tests.log"; }
grep -E 'tests passed|^Total Test time' "$out/tests.log"

for set in neon scalar; do
  step "golden proofs, $set"
  TESSERA_INSTRUCTIONS=$set bash tests/golden/golden_test.sh "$out/emulated" mpirun . || fail "golden proofs, $set"
done

step "system calls of confined processes"
trace=$out/verify.trace
key=$out/odd-40k.key
gunzip -c tests/golden/odd-40k.key.gz >"$key"
TESSERA_EMULATOR="-strace -D $trace" emulated tessera-verify --key "$key" tests/golden/odd-40k.proof | tail -n 1
python3 tests/arm/confined_calls.py "$trace" || exit 3

[ -n "$own" ] || exit 0
step "gutenberg-2m, here and there"
# prove_with NAME COMMAND...: model, key and payload
prove_with() {
  local folder=$out/$1
  shift
  rm -rf "$folder" && mkdir -p "$folder"
  "$@" import --quiet --checkpoint configs/gutenberg-2m --out "$folder/model.h5" | sed 's/.*digest /model   /'
  "$@" commit --quiet --model "$folder/model.h5" --out "$folder/commitment" >/dev/null
  "$@" prove --quiet --model "$folder/model.h5" --commitment "$folder/commitment" --prompt "It was a bright morning, and" \
    --generate 8 --out "$folder/proof.h5" >/dev/null
  sha256sum <"$folder/commitment/verifying.key" | sed 's/^\([0-9a-f]*\).*/key     \1/'
  "$@" inspect "$folder/proof.h5" | grep '^payload '
}
export OMPI_MCA_ess_singleton_isolated=1
prove_with here "$own/tessera" | tee "$out/here.digests"
SECONDS=0
prove_with there "$out/emulated/tessera" | tee "$out/there.digests"
echo "emulated in $SECONDS s"
cmp "$out/here.digests" "$out/there.digests" || fail "this machine's programs give other bytes"

#!/usr/bin/env bash
# Installed into a new folder: every header stands alone, and the examples, built by find_package() and by pkg-config,
# verify. Usage: install_test.sh BUILD SOURCE CC CXX
set -euo pipefail
build=$(realpath "$1") source=$(realpath "$2") cc=$3 cxx=$4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
prefix=$scratch/prefix
fail() { printf 'FAILED: %s\n' "$*"; exit 1; }
expect() { # CODE TEXT COMMAND...
  local code=$1 text=$2 found=0
  shift 2
  "$@" >output 2>&1 || found=$?
  [ $found -eq "$code" ] && grep -q "$text" output || { cat output; fail "$*: exit code $found instead of $code, or no '$text'"; }
}

for component in development runtime; do
  cmake --install "$build" --prefix "$prefix" --component $component >install.log || { cat install.log; fail "install"; }
done
grep -rlE "/rooms/|tessera_options|Werror|BUILD_INTERFACE|$source|$build" "$prefix"/lib*/cmake "$prefix"/lib*/pkgconfig "$prefix/include" \
  $(find "$prefix" -path '*/cmake/*.cmake') && fail "these files name what is not installed"

for header in "$prefix"/include/tessera/*; do
  echo "#include <tessera/$(basename "$header")>" >alone.cpp
  "$cxx" -std=c++20 -Wall -Wextra -Wconversion -pedantic -Werror -fsyntax-only -I"$prefix/include" alone.cpp ||
    fail "$header does not stand alone"
done
"$cc" -std=c11 -Wall -Wextra -Wconversion -pedantic -Werror -fsyntax-only -I"$prefix/include" -x c "$prefix/include/tessera/verify.h"

gunzip -c "$source/tests/golden/odd-40k.key.gz" >key
proof=$source/tests/golden/odd-40k.proof
head -c 100000 "$proof" >short
try() {
  expect 0 "The old man" "$1" key "$proof"
  expect 0 "^cut off at 12 tokens$" "$1" key "$proof"
  expect 0 "bits" "$1" key "$proof.part1" "$proof.part2"
  expect 1 "statement" "$1" key "$proof.part2"
  expect 1 "keeps no state" "$1" key "$proof" "$proof"
  expect 2 "proof: expected an HDF5 file" "$1" key short
}

cp -r "$source/src/examples" .
cmake -S examples -B found -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_C_FLAGS=-Werror -DCMAKE_CXX_FLAGS=-Werror >cmake.log && cmake --build found >>cmake.log || { cat cmake.log; fail "find_package"; }
try found/verify_in_c
try found/verify_in_cpp
readelf -d found/verify_in_c | grep -q 'NEEDED.*libtessera-verifier-c.so.0' || fail "the C example does not use the shared library"

export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name tessera-verifier.pc)")
"$cc" -std=c11 examples/verify.c -o shared_c $(pkg-config --cflags --libs tessera-verifier-c)
"$cc" -std=c11 examples/verify.c -o static_c $(pkg-config --cflags --libs tessera-verifier)
"$cxx" -std=c++20 examples/verify.cpp -o static_cpp $(pkg-config --cflags --libs tessera-verifier)
try ./static_c
try ./static_cpp
LD_LIBRARY_PATH=$(dirname "$(find "$prefix" -name libtessera-verifier-c.so)") try ./shared_c

# nothing but the functions of verify.h
shared=$(find "$prefix" -name libtessera-verifier-c.so)
grep -oE 'tessera_[a-z_]+\(' "$prefix/include/tessera/verify.h" | tr -d '(' | sort -u >declared
nm -D --defined-only "$shared" | awk '$2 != "A" { sub("@.*", "", $3); print $3 }' | sort -u >exported
diff declared exported || fail "the shared library's symbols are not verify.h's functions"

# projects in one language
for languages in C CXX; do
  mkdir $languages
  library=$([ $languages = C ] && echo verifier_c || echo verifier)
  file=$([ $languages = C ] && echo verify.c || echo verify.cpp)
  printf '%s\n' "cmake_minimum_required(VERSION 3.25)" "project(one LANGUAGES $languages)" "find_package(tessera 0.1 REQUIRED)" \
    "add_executable(one $PWD/examples/$file)" "target_link_libraries(one PRIVATE tessera::$library)" >$languages/CMakeLists.txt
  cmake -S $languages -B $languages/build -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_PREFIX_PATH="$prefix" \
    >cmake.log && cmake --build $languages/build >>cmake.log || { cat cmake.log; fail "a project in $languages"; }
  try $languages/build/one
done
echo "passed"

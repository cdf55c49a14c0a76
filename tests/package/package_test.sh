#!/usr/bin/env bash
# The packages of jobs/package.sh, installed by apt in a bare Debian 12: both programs run there, a program in C and one
# in C++ are compiled and run. Needs root, mmdebstrap and a Debian mirror; takes minutes.
# Usage: package_test.sh DIRECTORY_OF_PACKAGES SOURCE
set -euo pipefail
packages=$(realpath "$1") source=$(realpath "$2")
scratch=$(mktemp -d)
root=$scratch/root
cleanup() {
  for place in proc dev; do ! mountpoint -q "$root/$place" || umount "$root/$place"; done
  rm -rf --one-file-system "$scratch"
}
trap cleanup EXIT
step() { printf '\n== %s\n' "$*"; }
fail() { printf 'FAILED: %s\n' "$*"; exit 1; }
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive bash -euo pipefail -c "$1"; }

step "lintian"
# no source package with a changelog, no licence file and no address of a maintainer is there yet; cpack calls ldconfig
lintian --fail-on error,warning \
  --suppress-tags no-changelog,no-copyright-file,bogus-mail-host,maintscript-calls-ldconfig \
  "$packages"/*.deb

step "a bare Debian 12"
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' 'Created-By: Packages' 'Origin: Debian' | sort -u | head -1)
mmdebstrap --quiet --variant=apt bookworm "$root" ${mirror:+"$mirror"}
mount --bind /dev "$root/dev"
mount -t proc proc "$root/proc"
cp /etc/resolv.conf "$root/etc/resolv.conf"
mkdir "$root/packages" "$root/trial"
cp "$packages"/*.deb "$root/packages"
cp -r "$source/configs/odd-40k" "$source/src/examples" "$root/trial"
gunzip -c "$source/tests/golden/odd-40k.key.gz" >"$root/trial/key"
cp "$source"/tests/golden/odd-40k.proof* "$root/trial"

inside 'apt-get update -q >/dev/null'

step "tessera-verify alone"
inside 'apt-get install -q -y --no-install-recommends /packages/tessera-verify_*.deb >/dev/null'
inside 'dpkg -l | grep -qiE "openmpi|openblas|boost" && exit 1 || true' || fail "tessera-verify brings MPI, BLAS or Boost"
inside 'cd /trial && tessera-verify --version && tessera-verify --key key odd-40k.proof --expect-prompt "The old man"'
inside 'cd /trial && ! tessera-verify --key key odd-40k.proof.part2 && test -s /usr/share/bash-completion/completions/tessera-verify'

step "tessera"
inside 'apt-get install -q -y --no-install-recommends /packages/tessera_*.deb >/dev/null'
inside 'cd /trial && export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
tessera --version
tessera import --quiet --checkpoint odd-40k --out model.h5 >/dev/null
tessera commit --quiet --model model.h5 --out commitment >/dev/null
mpirun -n 1 tessera prove --quiet --model model.h5 --commitment commitment --prompt "The old man" --generate 4 --out proof.h5 >/dev/null
tessera-verify --key commitment/verifying.key proof.h5 --expect-prompt "The old man"'
inside 'cd /trial && export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 BUILD=/usr/bin RANKS=1 THREADS=1 MODEL=model.h5 \
COMMITMENT=commitment PROMPT="The" GENERATE=2 OUT=second.h5 && bash /usr/share/tessera/jobs/prove_local.sh | tail -1'

step "libtessera-dev"
inside 'apt-get install -q -y --no-install-recommends gcc g++ libc6-dev cmake make /packages/libtessera-*.deb >/dev/null'
inside 'cd /trial && gcc -std=c11 /usr/share/doc/libtessera-dev/examples/verify.c -o in_c $(pkg-config --cflags --libs tessera-verifier-c)
./in_c key odd-40k.proof | grep "The old man"
g++ -std=c++20 examples/verify.cpp -o in_cpp $(pkg-config --cflags --libs tessera-verifier)
./in_cpp key odd-40k.proof.part1 odd-40k.proof.part2 | grep bits
cmake -S examples -B built >/dev/null && cmake --build built >/dev/null && built/verify_in_c key odd-40k.proof && built/verify_in_cpp key odd-40k.proof'

step "removal"
inside 'apt-get purge -q -y tessera tessera-verify libtessera-dev libtessera-verifier-c0 >/dev/null; ! find / -xdev -name "*tessera*" -not -path "/proc/*" \
  -not -path "/trial/*" -not -path "/packages/*" -not -path "/var/*" | grep .'
echo "passed"

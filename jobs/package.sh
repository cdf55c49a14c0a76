#!/usr/bin/env bash
# Debian packages in DIRECTORY/packages/, of what jobs/demo.sh has built there (or of a build of their own): tessera,
# tessera-verify, libtessera-dev and the shared library that it needs. tests/package/package_test.sh installs and runs them.
# Usage: jobs/package.sh [DIRECTORY]     (default: build-demo)
set -euo pipefail
cd "$(dirname "$0")/.."
source jobs/packages.sh
out=${1:-build-demo}
install_packages "${packages[@]}" "${package_packages[@]}"
cmake -S . -B "$out" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTESSERA_TESTS=OFF -DTESSERA_BENCHMARKS=OFF \
  -DCMAKE_INSTALL_LIBDIR="lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)"
cmake --build "$out" -j "$(nproc)"
cd "$out"
rm -rf packages
cpack -G DEB -B packages
rm -rf packages/_CPack_Packages

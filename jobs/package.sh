#!/usr/bin/env bash
# Release build and Debian packages in build-package/: tessera, tessera-verify, libtessera-dev and the shared library
# that it needs. tests/package/package_test.sh installs and runs them.
# Usage: jobs/package.sh
set -euo pipefail
cd "$(dirname "$0")/.."
source jobs/packages.sh
install_packages "${packages[@]}" "${package_packages[@]}"
cmake -S . -B build-package -G Ninja -DCMAKE_BUILD_TYPE=Release -DTESSERA_TESTS=OFF -DTESSERA_BENCHMARKS=OFF \
  -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_SKIP_INSTALL_RPATH=ON
cmake --build build-package -j "$(nproc)"
cd build-package
rm -f ./*.deb
cpack -G DEB

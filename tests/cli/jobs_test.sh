#!/usr/bin/env bash
# The job scripts: they parse (bench_test.sh runs bench.sh's Python), and prove.sbatch does its work with the variables that SLURM would set.
source "$(dirname "$0")/common.sh"
unset OMPI_MCA_pml OMPI_MCA_btl OMPI_MCA_ess_singleton_isolated # as on a cluster
for script in "$source"/jobs/*.sh "$source"/jobs/*.sbatch; do
  bash -n "$script" || fail "$script"
done
make_files
PATH=$(dirname "$mpirun"):$PATH
export BUILD=$programs MODEL=model.h5 COMMITMENT=commitment GENERATE=5 OUT=job.h5 SLURM_CPUS_ON_NODE=2
expect 1 'PROMPT' timeout 100 bash "$source/jobs/prove.sbatch"
export PROMPT="The old"
expect 0 '^ACCEPTED$' timeout 100 bash "$source/jobs/prove.sbatch"
expect_same "$(payload_digest job.h5)" "$(payload_digest proof.h5)"
# the usage in the script's head, with a prompt that has commas, under an sbatch that takes --export apart as SLURM's does
mkdir slurm
cat >slurm/sbatch <<'EOF'
#!/usr/bin/env bash
variables=()
for argument in "$@"; do
  case $argument in --export=*) IFS=, read -ra variables <<<"${argument#--export=}" ;; esac
done
env "${variables[@]/#ALL/_=}" bash "${!#}"
EOF
chmod +x slurm/sbatch
ln -s "$source/jobs" jobs
usage=$(sed -n 's/^#   //p' jobs/prove.sbatch | sed 's/"\.\.\."/"The old, old"/; s/proof\.h5/usage.h5/; s/=32/=5/')
(unset MODEL COMMITMENT PROMPT GENERATE OUT && PATH=$PWD/slurm:$PATH && eval "$usage") >output 2>&1
grep -q '^ACCEPTED$' output || fail "the usage of prove.sbatch: $(tail -n 5 output)"
expect 0 '^ACCEPTED$' verify --key commitment/verifying.key usage.h5 --expect-prompt "The old, old"
PROMPT=$(head -c 3000 "$odd/sample.txt")
expect_error 2 'expected at most 48 tokens together' timeout 100 env "PROMPT=$PROMPT" OUT=bad.h5 bash "$source/jobs/prove.sbatch"
grep -q ACCEPTED output && fail "a failed job goes on to verify"
expect_absent bad.h5
finish

#!/usr/bin/env bash
# The job scripts: they parse (bench_test.sh runs bench.sh's Python), and those for clusters do their work with the variables
# that SLURM would set (tests/cluster_jobs submits them).
source "$(dirname "$0")/common.sh"
unset OMPI_MCA_pml OMPI_MCA_btl OMPI_MCA_ess_singleton_isolated # as on a cluster
for script in "$source"/jobs/*.sh "$source"/jobs/*.sbatch "$source"/tests/cluster_jobs/*.sh; do
  bash -n "$script" || fail "$script"
done
make_files
PATH=$(dirname "$mpirun"):$PATH
export BUILD=$programs MODEL=model.h5 COMMITMENT=commitment GENERATE=5 OUT=job.h5 SLURM_CPUS_ON_NODE=2
expect 2 'PROMPT' timeout 100 bash "$source/jobs/prove.sbatch"
export PROMPT="The old"
expect 0 '^ACCEPTED$' timeout 100 bash "$source/jobs/prove.sbatch"
expect_same "$(payload_digest job.h5)" "$(payload_digest proof.h5)"
CHECKPOINT=goes_on expect 0 '^ACCEPTED$' timeout 100 bash "$source/jobs/prove.sbatch"
expect_same "$(ls goes_on)" "" "checkpoints of a finished job"
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

(unset MODEL && expect 2 'MODEL' bash "$source/jobs/commit.sbatch"; exit $failures) || fail "a job without a model"
COMMITMENT=compact COMPACT=1 expect 0 '^key digest' timeout 100 bash "$source/jobs/commit.sbatch"
cmp commitment/verifying.key compact/verifying.key || fail "another key"

# many prompts; a line of digits is a text as well
export PROMPT="The old"
printf '%s\n' "$PROMPT" '3,1,4' "$(head -c 3000 "$odd/sample.txt" | tr '\n' ' ')" '-x y' >prompts.txt
export PROMPTS=prompts.txt PROMPTS_PER_TASK=3 TRIES=2 SLURM_ARRAY_TASK_ID=1
array() { OUT=proofs timeout 100 bash "$source/jobs/prove_array.sbatch"; }
expect 2 'NOT PROVEN line 3 of prompts.txt: exit code 2, tried 1 of 2 times' array
expect_same "$(cd proofs && echo *)" "000001.h5 000002.h5"
expect_same "$(payload_digest proofs/000001.h5)" "$(payload_digest proof.h5)"
grep -q '^prove_array: warning: line 2 is digits and commas' output || fail "expected a warning of a line that looks like ids"
expect 0 '^ACCEPTED$' verify --key commitment/verifying.key proofs/000002.h5 --expect-prompt 3,1,4
echo 3,1,4 >ids.txt
export PROMPT_IDS=ids.txt
OUT=ids expect 2 'PROMPTS, PROMPT_IDS: expected one of them, found both' timeout 100 bash "$source/jobs/prove_array.sbatch"
PROMPTS='' OUT=ids expect 0 '^ACCEPTED ids/000001.h5' timeout 100 bash "$source/jobs/prove_array.sbatch"
unset PROMPT_IDS
expect 0 '^ACCEPTED$' verify --key commitment/verifying.key ids/000001.h5 --expect-ids 3,1,4
PROMPTS='' expect 2 'PROMPT_IDS: or PROMPTS' array
SLURM_ARRAY_TASK_ID=2 expect 0 'ACCEPTED proofs/000004.h5' array
SLURM_ARRAY_TASK_ID=3 expect 2 'task 3 begins at line 7: expected at most 4' array
sed -i '3s/.*/7/' prompts.txt
mv proofs/000001.h5 proofs/000002.h5 # of another prompt
expect 0 'ACCEPTED proofs/000003.h5' array
expect_same "$(cd proofs && echo *)" "000001.h5 000002.h5 000002.replaced 000003.h5 000004.h5"
expect 0 'KEPT proofs/000001.h5' array
grep -q ACCEPTED output && fail "an archive that verifies is proven again"
GENERATE=6 SLURM_ARRAY_TASK_ID=2 expect 0 'ACCEPTED proofs/000004.h5' array
COMMITMENT=none expect 2 'none/verifying.key: expected a file' array
GENERATE=x expect 2 'GENERATE: expected 1 to 9999' array
# a program that fails once, one that always does, and a verifier that rejects
mkdir faulty
printf '#!/usr/bin/env bash\nmkdir once 2>/dev/null && exit 3\nexec "%s/tessera" "$@"\n' "$programs" >faulty/tessera
chmod +x faulty/tessera
ln -s "$programs/tessera-verify" faulty
export SLURM_ARRAY_TASK_ID=2
faulty() { BUILD=faulty OUT=repeated timeout 100 bash "$source/jobs/prove_array.sbatch"; }
expect 0 '^line 4: exit code 3, tried again$' faulty
grep -q '^ACCEPTED repeated/000004.h5$' output || fail "not tried again"
rm -r repeated once
TRIES=1 expect 3 '^NOT PROVEN line 4 of prompts.txt: exit code 3, tried 1 of 1 times$' faulty
ln -sf /bin/false faulty/tessera-verify
expect 1 '^NOT PROVEN line 4 of prompts.txt: exit code 1, tried 2 of 2 times$' faulty
expect_same "$(ls repeated)" ""

# verify.sh
export KEY=commitment/verifying.key PROOFS=proofs
PROMPTS='' expect 0 '^4 files: 4 accepted' "$source/jobs/verify.sh"
expect 0 '^4 files: 4 accepted' "$source/jobs/verify.sh"
ARCHIVE=all.h5 expect 0 '^all.h5: 4 proofs' "$source/jobs/verify.sh"
PROOFS=all.h5 expect 0 '^4 files: 4 accepted' "$source/jobs/verify.sh"
PROOFS=all.h5 OPTIONS=--json expect 0 '"verdict": ?"accepted"' "$source/jobs/verify.sh"
rm proofs/000003.h5
ARCHIVE=bad.h5 expect 2 '^MISSING proofs/000003.h5' "$source/jobs/verify.sh"
tessera gather --quiet proofs --out few.h5
PROOFS=few.h5 expect 2 '^MISSING few.h5/000003.h5: line 3' "$source/jobs/verify.sh"
PROOFS=few.h5 OPTIONS=--json expect 2 '^MISSING few.h5/000003.h5: line 3' "$source/jobs/verify.sh"
expect 2 '^MISSING proofs/000003.h5: line 3 of prompts.txt has no proof$' "$source/jobs/verify.sh"
OPTIONS="--json" PROMPTS='' expect 0 '"verdict":"accepted"' "$source/jobs/verify.sh"
craft payload proofs/000001.h5 proofs/flipped.h5 -100
expect 1 '^REJECTED proofs/flipped.h5' "$source/jobs/verify.sh"
(unset KEY && expect 2 'KEY' "$source/jobs/verify.sh"; exit $failures) || fail "verify.sh without a key"

# prove_local.sh
export OUT=alone.h5
expect 0 '^ACCEPTED$' timeout 100 "$source/jobs/prove_local.sh"
expect_same "$(payload_digest alone.h5)" "$(payload_digest proof.h5)"
cores=$(env -u OMP_NUM_THREADS nproc)
THREADS=1 expect 0 '^ACCEPTED$' timeout 100 "$source/jobs/prove_local.sh"
expect 0 "^computed by +$cores ranks? of 1 thread" tessera inspect alone.h5
OUT=bad.h5 RANKS=2 THREADS=$cores expect 2 "expected at most $cores, the cores" "$source/jobs/prove_local.sh"
OUT=bad.h5 THREADS=x expect 2 'THREADS: expected 1 to 9999, found x' "$source/jobs/prove_local.sh"
OUT=bad.h5 MODEL=none.h5 expect_error 2 'none.h5' timeout 100 "$source/jobs/prove_local.sh"
expect_absent bad.h5
finish

#!/usr/bin/env bash
# The job scripts under a real SLURM with four nodes on this machine (slurm.sh says how). jobs/test.sh --cluster calls it:
#   bash tests/cluster_jobs/jobs_test.sh PROGRAMS MPIRUN SOURCE
# Needs root, for namespaces and daemons: without, it says so and passes. So it does where namespaces are not allowed, as
# in some containers.
if [ "${TESSERA_JOBS_TEST:-}" != inside ]; then
  [ "$(id -u)" -eq 0 ] || { echo "SKIPPED: the jobs under SLURM: its daemons need root"; exit 0; }
  unshare --net --mount --uts --pid --fork true 2>/dev/null ||
    { echo "SKIPPED: the jobs under SLURM: this machine does not allow namespaces"; exit 0; }
  for program in munged slurmctld slurmd sbatch ip; do
    command -v $program >/dev/null || { echo "FAILED: $program: expected it to be installed" >&2; exit 1; }
  done
  # network, mounts and processes of the cluster are its own and end with it, however it ends
  folder=$(mktemp -d)
  TESSERA_JOBS_TEST=inside TMPDIR=$folder unshare --net --mount --uts --pid --fork --kill-child --mount-proc \
    --propagation private timeout --kill-after=10 1800 bash "$0" "$@" &
  cluster=$!
  trap 'kill -9 $cluster 2>/dev/null; wait $cluster; rm -rf --one-file-system "$folder"' EXIT
  trap 'exit 130' INT TERM
  wait $cluster
  exit
fi
source "$(dirname "$0")/../cli/common.sh"
lab=$TMPDIR/lab
trap - EXIT # who started this removes all files
unset TMPDIR
source "$source/tests/cluster_jobs/slurm.sh"
unset OMPI_MCA_pml OMPI_MCA_btl OMPI_MCA_ess_singleton_isolated OMP_NUM_THREADS # as on a cluster
export OMPI_MCA_btl_tcp_if_include=10.77.0.0/24 OMPI_MCA_oob_tcp_if_include=10.77.0.0/24
export OMPI_MCA_rmaps_base_oversubscribe=0 # SLURM's slots are enough
PATH=$(dirname "$mpirun"):$PATH
export BUILD=$programs
show_logs() { tail -n 15 "$lab"/log/* "$lab"/munge/log; }
# ended CODE PATTERN FILE: the last job has this exit code and its log a line that matches
ended() {
  expect_same "$(job_field ExitCode)" "$1:0" "exit code of $(job_field JobName)"
  grep -Eq -e "$2" "$3" || { fail "expected a line like '$2' in $3"; tail -n 20 "$3"; }
}

start_cluster "$lab" "$scratch" "$programs" "$source" || { fail "no cluster"; show_logs; finish; }
step() { echo "$SECONDS s: $*"; }
step "four nodes"

# the same without a cluster
tessera import --quiet --checkpoint "$source/configs/gutenberg-2m" --out model.h5 >/dev/null || fail "import"
tessera commit --quiet --model model.h5 --out local >/dev/null || fail "commit"
text='It was a bright, "cold" morning, and'
tessera prove --quiet --model model.h5 --commitment local --prompt "$text" --generate 12 --out local.h5 >/dev/null || fail "prove"
digest=$(payload_digest local.h5)
export MODEL=model.h5 COMMITMENT=commitment GENERATE=12 PROMPT=$text OUT=proof.h5

# programs that tell where they run, and are killed for some prompts
mkdir faulty
ln -s "$programs/tessera-verify" faulty/
cat >faulty/tessera <<END
#!/usr/bin/env bash
hostname >>"$scratch/hosts"
case "\$*" in
  *"Lost once"*) ! mkdir "$scratch/lost" 2>/dev/null || kill -9 \$\$ ;;
  *Doomed*) kill -9 \$\$ ;;
esac
exec "$programs/tessera" "\$@"
END
chmod +x faulty/tessera

step "commit.sbatch"
submit 120 --nodes=2 "$source/jobs/commit.sbatch"
ended 0 '^key digest' "commit-$job.log"
cmp local/verifying.key commitment/verifying.key || fail "another key"
MODEL=none.h5 COMMITMENT=bad submit 60 --nodes=2 "$source/jobs/commit.sbatch"
ended 2 '^tessera: none.h5' "commit-$job.log"
expect_absent bad
COMPACT=1 COMMITMENT=compact submit 120 --nodes=4 "$source/jobs/commit.sbatch"
ended 0 '^key digest' "commit-$job.log"
cmp local/verifying.key compact/verifying.key || fail "another key"

step "prove.sbatch"
BUILD=faulty submit 120 --nodes=4 "$source/jobs/prove.sbatch"
ended 0 '^ACCEPTED$' "prove-$job.log"
expect_same "$(echo $(sort hosts))" "node1 node2 node3 node4"
expect 0 '^computed by +4 ranks of 2 threads' tessera inspect proof.h5
expect_same "$(payload_digest proof.h5)" "$digest"
expect 0 '^ACCEPTED$' verify --key local/verifying.key proof.h5 --expect-prompt "$text"
OUT=shared.h5 COMMITMENT=compact submit 120 --nodes=2 --ntasks-per-node=2 "$source/jobs/prove.sbatch"
ended 0 '^ACCEPTED$' "prove-$job.log"
expect 0 '^computed by +4 ranks of 1 thread' tessera inspect shared.h5
expect_same "$(payload_digest shared.h5)" "$digest"
long=$(head -c 3000 "$source/configs/gutenberg-2m/sample.txt" | tr '\n' ' ')
OUT=bad.h5 PROMPT=$long submit 60 --nodes=4 "$source/jobs/prove.sbatch"
ended 2 'expected at most 256 tokens together' "prove-$job.log"
grep -q ACCEPTED "prove-$job.log" && fail "a failed job goes on to verify"
expect_absent bad.h5
PROMPT='' submit 60 --nodes=1 "$source/jobs/prove.sbatch"
ended 2 'PROMPT' "prove-$job.log"

step "prove.sbatch: the time is up"
# ranks that stand still once a phase has ended, in the first run
mkdir slow
ln -s "$programs/tessera-verify" slow/
cat >slow/tessera <<END
#!/usr/bin/env bash
mkdir "$scratch/slow/once-\$OMPI_COMM_WORLD_RANK" 2>/dev/null || exec "$programs/tessera" "\$@"
"$programs/tessera" "\$@" &
until [ -e "$scratch/requeued/\$(cat "$scratch/slow/phase").checkpoint" ]; do sleep 0.01; done
kill -STOP \$!
wait \$!
END
chmod +x slow/tessera
tessera prove --quiet --model model.h5 --commitment local --prompt "$text" --generate 40 --out long.h5 >/dev/null || fail "prove"
slow() { # SECONDS: the long text, in a job whose time is soon up; the signal comes up to a minute early
  BUILD=slow OUT=requeued.h5 GENERATE=40 CHECKPOINT=requeued submit "$1" --nodes=4 --time=2 --signal=B:USR1@30 "$source/jobs/prove.sbatch"
}
echo commitment >slow/phase
slow 400
ended 0 '^prove: the time is up; the job goes on from requeued in its next run$' "prove-$job.log"
grep -q '^ACCEPTED$' "prove-$job.log" || fail "a job that was put back does not end: $(tail -n 20 "prove-$job.log")"
grep -q 'commitment taken from requeued$' "prove-$job.log" || fail "it begins again: $(tail -n 20 "prove-$job.log")"
expect_same "$(job_field Restarts)" 1 "restarts"
expect_same "$(payload_digest requeued.h5)" "$(payload_digest long.h5)"
expect_same "$(ls requeued)" "" "checkpoints of a finished job"
step "prove.sbatch: the time is up before a phase has ended"
rm -rf slow/once-* requeued.h5
touch requeued/none.checkpoint
echo none >slow/phase
slow 200
ended 3 '^prove: the time is up before a phase has ended' "prove-$job.log"
expect_same "$(job_field Restarts)" 0 "restarts"
expect_absent requeued.h5

step "prove.sbatch: a node's link goes down"
rm -rf slow/once-* requeued
echo lookups >slow/phase
export OMPI_MCA_oob_tcp_keepalive_time=5 OMPI_MCA_oob_tcp_keepalive_intvl=2 OMPI_MCA_oob_tcp_keepalive_probes=2 # before SLURM
BUILD=slow OUT=requeued.h5 GENERATE=40 CHECKPOINT=requeued start --nodes=4 "$source/jobs/prove.sbatch"
until [ -e requeued/lookups.checkpoint ] || [ -z "$(squeue -h -j "$job")" ]; do sleep 0.1; done
lost=node$([ "$(job_field BatchHost)" = node3 ] && echo 2 || echo 3)
unplug_host "$lost"
begin=$SECONDS
while [ -n "$(squeue -h -t RUNNING -j "$job")" ] && [ $((SECONDS - begin)) -lt 60 ]; do sleep 0.5; done
[ $((SECONDS - begin)) -le 30 ] || fail "a lost link ends the job after $((SECONDS - begin)) s"
await 200 # SLURM waits for what is left of it
code=$(job_field ExitCode)
[ "${code%:*}" -eq 3 ] || [ "${code%:*}" -gt 128 ] || fail "exit code of a job that has lost a node: $code"
grep -Eq "Remote daemon: .* on node $lost" "prove-$job.log" || fail "no $lost in: $(cat "prove-$job.log")"
expect_absent requeued.h5
unset OMPI_MCA_oob_tcp_keepalive_time OMPI_MCA_oob_tcp_keepalive_intvl OMPI_MCA_oob_tcp_keepalive_probes
plug_host "$lost"
BUILD=slow OUT=requeued.h5 GENERATE=40 CHECKPOINT=requeued submit 200 --nodes=3 "$source/jobs/prove.sbatch"
ended 0 'lookups taken from requeued$' "prove-$job.log"
expect_same "$(payload_digest requeued.h5)" "$(payload_digest long.h5)"

step "prove_array.sbatch"
unset PROMPT
printf '%s\n' "$text" "$long" '--what, said the king' '805,309,258' 'Ærø — und “süß”' >prompts.txt
printf 'The last line has no end' >>prompts.txt
export PROMPTS=prompts.txt OUT=proofs
# task TASK CODE PATTERN...: of the last array
task() {
  local number=$1 log=prove-$job-$1.log pattern
  expect_same "$(job_field ExitCode "$number")" "$2:0" "exit code of task $number"
  for pattern in "${@:3}"; do
    grep -Eq -e "$pattern" "$log" || { fail "expected a line like '$pattern' in $log"; tail -n 20 "$log"; }
  done
}
PROMPTS_PER_TASK=2 submit 240 --nodes=1 --array=1-4 "$source/jobs/prove_array.sbatch"
task 1 2 '^ACCEPTED proofs/000001.h5$' 'expected at most 256 tokens' '^NOT PROVEN line 2 of prompts.txt: exit code 2, tried 1 of 3 times$'
task 2 0 '^ACCEPTED proofs/000003.h5$' '^ACCEPTED proofs/000004.h5$'
task 3 0 '^ACCEPTED proofs/000005.h5$' '^ACCEPTED proofs/000006.h5$'
task 4 2 'begins at line 7: expected at most 6'
expect_same "$(cd proofs && echo *)" "000001.h5 000003.h5 000004.h5 000005.h5 000006.h5"
expect_same "$(payload_digest proofs/000001.h5)" "$digest"
expect 0 '^"805,309,258"$' verify --key local/verifying.key proofs/000004.h5 # a text is a text

step "kept archives" # the others are proven again, here by two nodes each
cp -a proofs before
flip proofs/000003.h5 $(($(size_of proofs/000003.h5) / 2))
cp proofs/000001.h5 proofs/000005.h5
rm proofs/000006.h5
sed -i '2s/.*/A short one/' prompts.txt
submit 240 --nodes=2 --array=1-6 "$source/jobs/prove_array.sbatch"
for line in 1 4; do
  task $line 0 "^KEPT proofs/00000$line.h5$"
  expect_same "$(stat -c '%i %Y' proofs/00000$line.h5 | cut -d' ' -f2)" "$(stat -c %Y before/00000$line.h5)" "time of line $line"
done
for line in 2 3 5 6; do
  task $line 0 "^ACCEPTED proofs/00000$line.h5$"
  [ $line -eq 2 ] || expect_same "$(payload_digest proofs/00000$line.h5)" "$(payload_digest before/00000$line.h5)"
done
expect_absent proofs/*.unverified
expect 0 '^computed by +2 ranks' tessera inspect proofs/000006.h5

step "prove_array.sbatch: sampled"
seed=$(printf %064d 7) other=$(printf %064d 8) rules=temperature=0.8,top_k=40,top_p=0.95
printf '%s\n' "$text" '--what, said the king' >drawn.txt
drawn() { # CODE SEED RULES FILE: what the verifier says of a proof
  expect "$1" "$([ "$1" -eq 0 ] && echo '^ACCEPTED$' || echo '^REJECTED at /statement')" \
    verify --key local/verifying.key "$4" --expect-seed "$2" --expect-sampling "$3"
}
array() { # SEED RULES
  SEED=$1 SAMPLING=$2 PROMPTS=drawn.txt OUT=drawn PROMPTS_PER_TASK=2 submit 240 --nodes=2 --array=1 "$source/jobs/prove_array.sbatch"
}
array $seed $rules
task 1 0 '^ACCEPTED drawn/000001.h5$' '^ACCEPTED drawn/000002.h5$'
for file in drawn/000001.h5 drawn/000002.h5; do
  drawn 0 $seed $rules $file
  drawn 1 $other $rules $file
  drawn 1 $seed temperature=0.8,top_k=40 $file
done
tessera prove --quiet --model model.h5 --commitment local --prompt "$text" --generate 12 --temperature 0.8 --top-k 40 --top-p 0.95 \
  --seed $seed --out drawn.h5 >/dev/null || fail "prove"
expect_same "$(payload_digest drawn/000001.h5)" "$(payload_digest drawn.h5)"
[ "$(payload_digest drawn.h5)" != "$digest" ] || fail "a sampled proof is the best tokens'"
array $seed $rules
task 1 0 '^KEPT drawn/000001.h5$' '^KEPT drawn/000002.h5$'
array $other $rules # another seed is another text
task 1 0 '^ACCEPTED drawn/000001.h5$' '^ACCEPTED drawn/000002.h5$'
drawn 0 $other $rules drawn/000001.h5
drawn 1 $seed $rules drawn/000001.h5
array 07 $rules
task 1 2 'SEED: expected 64 hexadecimal digits, found 07'
array $seed hot=1
task 1 2 '^NOT PROVEN line 1 of drawn.txt'

step "tessera-serve proves by sbatch"
export SAMPLING=temperature=0.5 SEED=$other # of the one who starts the server, not of its answers
PYTHONPATH=$source/src/python TESSERA_PYTHON=/usr/bin/python3 expect 0 '^passed$' \
  timeout 300 /usr/bin/python3 "$source/tests/cluster_jobs/serving.py" "$programs" "$source"
unset SAMPLING SEED

step "lost ranks"
printf '%s\n' 'Lost once' 'Doomed' 'Never lost' >faulty.txt
BUILD=faulty PROMPTS=faulty.txt OUT=repeated TRIES=2 PROMPTS_PER_TASK=3 submit 240 --nodes=2 --array=1 "$source/jobs/prove_array.sbatch"
task 1 3 '^line 1: exit code 137, tried again$' '^ACCEPTED repeated/000001.h5$' \
  '^NOT PROVEN line 2 of faulty.txt: exit code 137, tried 2 of 2 times$' '^ACCEPTED repeated/000003.h5$'
expect_same "$(cd repeated && echo *)" "000001.h5 000003.h5"

step "a task that is put back while it works goes on where it was"
printf 'Line %s of many\n' {1..6} >many.txt
PROMPTS=many.txt OUT=many PROMPTS_PER_TASK=6 start --nodes=1 --array=1 "$source/jobs/prove_array.sbatch"
until [ -e many/000002.h5 ] || [ -z "$(squeue -h -j "$job")" ]; do sleep 0.1; done
scontrol requeue "$job" || fail "requeue"
await 240
task 1 0 '^ACCEPTED many/000001.h5$' '^KEPT many/000001.h5$' '^KEPT many/000002.h5$' '^ACCEPTED many/000006.h5$'
expect_same "$(cd many && echo *)" "$(cd many && echo 00000{1..6}.h5)"

step "prove_array.sbatch: the time is up"
# the prover of the third line stands still in the first run
cat >slow/tessera <<END
#!/usr/bin/env bash
if [ -e "$scratch/timed/000002.h5" ] && mkdir "$scratch/slow/once-array" 2>/dev/null; then
  exec sleep 1000
fi
exec "$programs/tessera" "\$@"
END
rm -rf slow/once-*
BUILD=slow PROMPTS=many.txt OUT=timed PROMPTS_PER_TASK=6 submit 400 --nodes=1 --array=1 --time=2 --signal=B:USR1@30 \
  "$source/jobs/prove_array.sbatch"
task 1 0 '^prove_array: the time is up; the task goes on with line 3 in its next run$' '^KEPT timed/000002.h5$' '^ACCEPTED timed/000006.h5$'
expect_same "$(job_field Restarts 1)" 1 "restarts"
expect_same "$(cd timed && echo *)" "$(cd timed && echo 00000{1..6}.h5)"
printf '#!/usr/bin/env bash\nexec sleep 1000\n' >slow/tessera
BUILD=slow PROMPTS=many.txt OUT=never submit 200 --nodes=1 --array=1 --time=2 --signal=B:USR1@30 "$source/jobs/prove_array.sbatch"
task 1 3 '^prove_array: the time is up before line 1 is proven'
expect_same "$(ls never)" "" "archives"

step "a lost node: its task is put back by itself, and ends on others"
PROMPTS=many.txt OUT=moved PROMPTS_PER_TASK=6 start --nodes=2 --array=1 "$source/jobs/prove_array.sbatch"
until [ -e moved/000002.h5 ] || [ -z "$(squeue -h -j "$job")" ]; do sleep 0.1; done
lost=$(job_field BatchHost 1)
end_host "$lost"
await 400 # the controller must first notice, then wait for what is left of the job
task 1 0 '^KEPT moved/000001.h5$' '^KEPT moved/000002.h5$' '^ACCEPTED moved/000006.h5$'
[ "$(job_field BatchHost 1)" != "$lost" ] || fail "the task ended on the lost $lost"
expect_same "$(cd moved && echo *)" "$(cd moved && echo 00000{1..6}.h5)"
for line in {1..6}; do
  expect_same "$(payload_digest moved/00000$line.h5)" "$(payload_digest many/00000$line.h5)"
done

step "verify.sh"
export KEY=local/verifying.key PROOFS=proofs
expect 0 '^6 files: 6 accepted' "$source/jobs/verify.sh"
submit 60 --nodes=1 --output=verify.log "$source/jobs/verify.sh"
ended 0 '^6 files: 6 accepted' verify.log
PROMPTS=faulty.txt PROOFS=repeated expect 2 '^MISSING repeated/000002.h5' "$source/jobs/verify.sh"
finish

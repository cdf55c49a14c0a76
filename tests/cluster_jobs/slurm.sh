# Sourced by jobs_test.sh: a SLURM cluster of four hosts on this machine. The real munged, slurmctld and slurmd run; a host
# is a set of namespaces (network, mounts, host name, processes) on a bridge. The caller is alone in such a set itself, so
# that nothing of it shows outside, and everything ends with it.

# start_cluster FOLDER KEEP...: daemons with all their files in FOLDER. Hosts have their own /tmp and /dev/shm, of which they
# see FOLDER and the folders to keep: these are the file system that all nodes share.
start_cluster() {
  lab=$1
  local kept=("$@") i
  mkdir -p "$lab"/{munge,state,spool,log,private}
  chmod 711 "$lab" "$lab/munge" # munged wants its socket to be reachable
  cat >"$lab/hosts" <<END
127.0.0.1 localhost
10.77.0.254 controller
$(for i in 1 2 3 4; do echo "10.77.0.$i node$i"; done)
END
  cat >"$lab/slurm.conf" <<END
ClusterName=lab
SlurmctldHost=controller(10.77.0.254)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$lab/munge/socket,cred_expire=5
CryptoType=crypto/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=pmix
ReturnToService=2
SlurmdParameters=config_overrides
SlurmdTimeout=20
KillWait=5
SchedulerParameters=batch_sched_delay=0,sched_min_interval=100000
StateSaveLocation=$lab/state
SlurmdSpoolDir=$lab/spool/%n
SlurmctldPidFile=$lab/slurmctld.pid
SlurmdPidFile=$lab/spool/%n.pid
SlurmctldLogFile=$lab/log/slurmctld
SlurmdLogFile=$lab/log/%n
NodeName=node[1-4] NodeAddr=10.77.0.[1-4] CPUs=2 Sockets=1 CoresPerSocket=2 RealMemory=1000
PartitionName=all Nodes=ALL Default=YES State=UP
END
  export SLURM_CONF=$lab/slurm.conf
  hostname controller
  mount --bind "$lab/hosts" /etc/hosts || return 1
  ip link set lo up
  ip link add bridge type bridge && ip addr add 10.77.0.254/24 dev bridge && ip link set bridge up || return 1
  (umask 077 && head -c 128 /dev/urandom >"$lab/munge/key")
  munged --key-file="$lab/munge/key" --socket="$lab/munge/socket" --pid-file="$lab/munge/pid" --log-file="$lab/munge/log" \
    --seed-file="$lab/munge/seed" --force || return 1
  slurmctld || return 1
  for i in 1 2 3 4; do
    start_host "$i" "${kept[@]}" || return 1
  done
  for ((i = 0; i < 100; i++)); do
    [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 4 ] && return 0
    sleep 0.3
  done
  sinfo
  return 1
}

# start_host I KEEP...
start_host() {
  local i=$1 private=$lab/private/$1 folder process
  shift
  mkdir -p "$private" "$lab/spool/node$i"
  mount -t tmpfs tmpfs "$private" || return 1
  for folder in "$@"; do
    case $folder in /tmp/*) mkdir -p "$private${folder#/tmp}" && mount --bind "$folder" "$private${folder#/tmp}" || return 1 ;; esac
  done
  # the first process of the host waits for its network, and reaps what its children leave
  unshare --net --mount --uts --pid --fork --kill-child --mount-proc --propagation private bash -c '
    hostname "node$1"
    mount -t tmpfs tmpfs /dev/shm && mount --rbind "$2" /tmp || exit 1
    until ip addr show dev eth0 >/dev/null 2>&1; do sleep 0.05; done
    ip link set lo up && ip addr add "10.77.0.$1/24" dev eth0 && ip link set eth0 up || exit 1
    slurmd -D -N "node$1" &
    wait' _ "$i" "$private" </dev/null >"$lab/log/host$i" 2>&1 &
  process=$!
  disown # its end is no news
  echo $process >"$lab/node$i.pid"
  ip link add "host$i" type veth peer name "eth$i" && ip link set "host$i" master bridge up || return 1
  # unshare itself is in the new network before its child starts
  for ((try = 0; try < 100; try++)); do
    [ "$(readlink /proc/$process/ns/net)" = "$(readlink /proc/self/ns/net)" ] || break
    sleep 0.05
  done
  ip link set "eth$i" netns $process name eth0
}

# end_host NAME: as if its power failed; all its processes are killed.
end_host() { kill -9 "$(cat "$lab/$1.pid")"; }

# unplug_host NAME, plug_host NAME: its network is gone, its processes go on; and back.
unplug_host() { ip link set "host${1#node}" down; }
plug_host() { ip link set "host${1#node}" up; }

# submit SECONDS SBATCH-ARGUMENT...: waits for the job's end (all tasks of an array). Its number is in `job`.
submit() {
  start "${@:2}" && await "$1"
}
start() {
  job=$(sbatch --parsable "$@") || { fail "sbatch $*"; return 1; }
}
await() {
  local end=$((SECONDS + $1))
  while [ -n "$(squeue -h -j "$job" 2>/dev/null)" ]; do
    if [ $SECONDS -ge $end ]; then
      fail "job $job: not done after $1 s"
      squeue
      scancel "$job"
      return 1
    fi
    sleep 0.5
  done
}
# job_field NAME [TASK]: of the last job
job_field() { scontrol show job -o "$job${2:+_$2}" | grep -oE " $1=[^ ]*" | cut -d= -f2-; }

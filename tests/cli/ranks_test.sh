#!/usr/bin/env bash
# Ranks that see different files, and a rank that is killed.
source "$(dirname "$0")/common.sh"
make_files
craft parameter model.h5 other.h5
tessera commit --quiet --model other.h5 --out other >/dev/null || fail "commit"

# each rank its own files: here/<rank>/...
for rank in 0 1 2; do
  mkdir -p here/$rank
  cp -r model.h5 commitment here/$rank/
done
cat >on_rank.sh <<'EOF'
#!/usr/bin/env bash
cd "here/$OMPI_COMM_WORLD_RANK" && exec "$@"
EOF
chmod +x on_rank.sh
apart() { timeout 100 "$mpirun" -n 3 ./on_rank.sh "$programs/tessera" "$@"; }
prove_apart() {
  apart prove --quiet --model model.h5 --commitment commitment --prompt "The old" --generate 5 --out "$PWD/bad.h5"
}
expect 0 'The old' prove_apart # copies are as good as one file
expect_same "$(payload_digest bad.h5)" "$(payload_digest proof.h5)"
rm bad.h5
cp other.h5 here/2/model.h5
expect_error 2 'model.h5: expected the same content on all ranks, found other content on rank 2' prove_apart
expect_error 2 'model.h5: expected the same content on all ranks' \
  apart commit --quiet --model model.h5 --out "$PWD/bad"
expect_error 2 'model.h5: expected the same content on all ranks' \
  apart evaluate --quiet --model model.h5 --text "$odd/sample.txt"
cp model.h5 here/2/
cp other/verifying.key here/1/commitment/
expect_error 2 'verifying.key: expected the same content on all ranks, found other content on rank 1' prove_apart
cp commitment/verifying.key here/1/commitment/
rm here/1/model.h5
expect_error 2 "^tessera: rank 1 on $(hostname): model.h5: expected a file" prove_apart
cp proof.h5 here/1/model.h5
expect_error 2 "^tessera: rank 1 on $(hostname): model.h5: format: expected tessera model" prove_apart
expect_absent bad.h5 bad

# a rank is killed at various moments: the job ends, without half a proof, without a temporary file
killed() { # RANK SECONDS: true if the job had not ended before
  rm -f bad.h5
  cat >victim.sh <<EOF
#!/usr/bin/env bash
[ "\$OMPI_COMM_WORLD_RANK" = $1 ] && echo \$\$ >victim.pid
exec "\$@"
EOF
  chmod +x victim.sh
  rm -f victim.pid
  timeout 60 "$mpirun" -n 3 ./victim.sh "$programs/tessera" prove --quiet --model model.h5 --commitment commitment \
    --prompt "The old" --generate 43 --out bad.h5 >output 2>&1 &
  local job=$! code begin
  while [ ! -s victim.pid ]; do sleep 0.02; done
  sleep "$2"
  kill -9 "$(cat victim.pid)" 2>/dev/null
  begin=$SECONDS
  wait $job
  code=$?
  [ $((SECONDS - begin)) -le 20 ] || fail "killed rank $1 after $2 s: $((SECONDS - begin)) s until the job ended"
  if [ $code -eq 0 ]; then
    [ -e bad.h5 ] || fail "killed rank $1 after $2 s: success without a proof"
    return 1
  fi
  [ $code -ne 124 ] || fail "killed rank $1 after $2 s: the job hangs"
  # a rank may die after the proof was put in place: then it is whole
  [ ! -e bad.h5 ] || expect 0 '^ACCEPTED' verify --key commitment/verifying.key bad.h5
  rm -f bad.h5
}
# commit is killed: what it leaves is gone after the next one, not what another host's or a living process has there
interrupted() { # true if the job was killed before its end
  "$programs/tessera" commit --quiet --model model.h5 --out again >output 2>&1 &
  local job=$!
  while kill -0 $job 2>/dev/null && ! compgen -G 'again.partial-*/*' >found; do :; done
  kill -9 $job 2>/dev/null
  wait $job 2>/dev/null
  [ -n "$(find . -maxdepth 1 -name 'again.partial-*')" ]
}
for attempt in $(seq 20); do
  interrupted && break
  rm -rf again
done
left=$(find . -maxdepth 1 -name 'again.partial-*')
[ -n "$left" ] || fail "no commit was killed before its end"
mkdir -p again.partial-elsewhere-1 "${left%-*}-$$"
expect 0 'parameter root' ranks 2 tessera commit --quiet --model model.h5 --out again
[ ! -e "$left" ] || fail "expected no $left"
[ -e again.partial-elsewhere-1 ] || fail "another host's temporary directory is removed"
[ -e "${left%-*}-$$" ] || fail "a living process's temporary directory is removed"
rm -r again.partial-*
diff -r commitment again >/dev/null || fail "commitment after a killed one differs"
hits=0
for moment in 0.3 0.7 1.1 1.6; do
  for rank in 0 1 2; do
    killed $rank $moment && hits=$((hits + 1))
  done
done
[ $hits -gt 0 ] || fail "no job was killed before its end"
expect 0 'The old' prove_on 3 --out bad.h5 # takes away what rank 0 left if it died while it wrote
rm bad.h5
expect_absent
echo "$hits of 12 jobs were killed"
finish

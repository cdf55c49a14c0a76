#!/usr/bin/env bash
# jobs/bench.sh refuses what it does not know; bench.py collects from programs with known output, shows and compares.
source "$(dirname "$0")/common.sh"
PATH=$(dirname "$mpirun"):$PATH
bench() { timeout 100 bash "$source/jobs/bench.sh" "$@"; }
collector() { timeout 100 python3 "$source/jobs/bench.py" "$@"; }

# wrong usage is found before anything is installed or built
expect 2 '^bench: unknown option --fast$' bench --fast
expect 2 '^usage: jobs/bench.sh' bench --fast
expect 2 '^bench: unknown option extra$' bench extra
expect 2 '^bench: --out: expected a value, found none$' bench --out
expect 2 '^bench: --out: expected a value, found none$' bench --out ""
expect 2 '^bench: --only: expected kernels or runs, found all$' bench --only all
expect 2 '^bench: --threads: expected 1 to 999, found 0$' bench --threads 0
expect 2 '^bench: --gpt2: expected lengths like 16\+16,448\+64, found 16$' bench --gpt2 16
for lengths in 16+0 , 16+16, 16+16,,16+16 0+16 a+b 16+16+16; do
  expect 2 '^bench: --gpt2: expected lengths like' bench --gpt2 "$lengths"
done
expect 2 '^bench: --out: .*/none/x.json: expected a file that can be written$' bench --out none/x.json
expect 2 '^bench: --gpt2: expected at most 1024 tokens together, found 1000\+25$' bench --gpt2 16+16,1000+25
expect 2 '^bench: --gpt2: these are whole runs' bench --only kernels --gpt2
expect 2 '^bench: --compare: .*/none.json: expected a file, found none$' bench --compare none.json
expect 2 '^bench: --serial: expected a length like 448\+64, found 16$' bench --serial 16
expect 2 '^bench: --serial: expected at most 1024 tokens together, found 1000\+25$' bench --serial 1000+25
expect 2 '^bench: --serial: expected no other option beside it$' bench --serial 16+16 --gpt2
expect 2 '^bench: --lengths: expected no other option than --threads and --out$' bench --lengths --only runs
expect 2 '^bench: --lengths: .*/none/tessera: expected a program, found none$' bench --lengths none
for other in "--only kernels" "--gpt2" "--serial" "--lengths" "--threads 2"; do
  # shellcheck disable=SC2086
  expect 2 '^bench: --kernels: expected no other option than --out and --compare$' bench --kernels $other
done
expect_absent build-bench

# programs that say what they are told to
mkdir -p build/tests/bench
cat >build/tests/bench/bench_kernels <<'EOF'
#!/usr/bin/env bash
[ "$1" != --instruction-set ] || { echo AVX2; exit; }
out=$(printf '%s\n' "$@" | sed -n 's/^--benchmark_out=//p')
entry() { printf '{"name": "%s/threads:%s/real_time", "run_type": "%s", "real_time": 5.0, "%s": %s}%s\n' "$@"; }
{
  echo '{"context": {}, "benchmarks": ['
  entry "look-up/range column" 1 iteration ns/look-up 80.5 ,
  entry "look-up/range column" 1 iteration ns/look-up 80.0 ,
  entry "look-up/range column" 1 aggregate ns/look-up 1.0 ,
  entry "look-up/range column" "$TESSERA_BENCH_THREADS" iteration ns/look-up 32 ,
  entry "BLAKE2s/leaves" 1 iteration GB/s 2.5 ,
  entry "BLAKE2s/leaves" 1 iteration GB/s 2.0
  echo ']}'
} >"$out"
EOF
cat >build/tessera <<'EOF'
#!/usr/bin/env bash
[ "$1" = inspect ] || echo "$*" >>"$CALLS"
case "$*" in
  *--generate\ 64*) echo "tessera: length: too long" >&2; exit 2 ;;
  import*|synthesize*) touch "${@: -1}" ;;
  inspect*model.h5) echo "shape         4 layers, width 192, 6 heads, inner 768, vocabulary 2048, context 256" ;;
  inspect*)
    echo "payload       475776 bytes (0.454 MiB), digest 00"
    echo "computed by   2 ranks of 1 thread, at most 184.5 MiB a rank"
    printf '%12s %10s  scope\n' seconds "peak MiB"
    for scope in "0.0625 46.0 /inference" "0.1500 146.5 /lookup" "0.0500 100.0 /lookup/layer" "0.7500 184.5 /"; do
      printf '%12s %10s  %s\n' $scope
    done
    ;;
esac
exit 0
EOF
printf '#!/usr/bin/env bash\necho ACCEPTED\n' >build/tessera-verify
chmod +x build/tessera build/tessera-verify build/tests/bench/bench_kernels
export CALLS=$PWD/calls

expect 0 '^look-up/range column +ns/look-up +80 +32 +2\.5$' \
  collector collect --build build --out new.json --threads 2
grep -Eq '^BLAKE2s/leaves +GB/s +2\.5 +- +-$' output || fail "not the best rate: $(cat output)"
grep -Eq '^ranks x threads +1 x 2 +2 x 1$' output || fail "layouts"
grep -Eq '^prove \[s\] +0\.75 +0\.75$' output || fail "seconds"
grep -Eq '^peak memory \[MiB\] +184\.5 +184\.5$' output || fail "peak memory"
grep -Eq '^/lookup +0\.15 s +146 MiB' output || fail "scopes"
grep -q '/lookup/layer' output && fail "inner scopes belong to the file only"
grep -q '"/lookup/layer"' new.json || fail "the file has all scopes"
for field in format date revision modified cpu cores memory_bytes instruction_set threads verify_ms proof_bytes; do
  grep -q "\"$field\":" new.json || fail "the file lacks $field"
done
expect_same "$(grep -c '^prove .*--tokens 13,1788,.* --generate 32' calls)" 15 "5 proofs by one process and 5 by two ranks"
expect_same "$(grep -c '^commit' calls)" 3 "one commitment by one process, one by two ranks"

# the synthesized model is made once; a length that cannot be proven is reported, the others are measured
expect 3 '^gpt2-shape 448\+64, 1 x 2: FAILED: tessera: length: too long$' \
  collector collect --build build --out gpt2.json --only runs --gpt2 16+16,448+64
expect 0 '^tokens +32\+32 +32\+32 +16\+16$' collector collect --build build --out gpt2.json --only runs --gpt2 16+16
expect_same "$(grep -c '^synthesize' calls)" 1 "synthesized models"

# many lengths, of two builds in turn, twice: the 1st and the 313th proof take longer, memory is the proof's number
: >calls
cp build/tessera build/told
cat >build/tessera <<'EOF'
#!/usr/bin/env bash
"$(dirname "$0")/told" "$@" | sed "s/184\.5/$(grep -c '^prove' "$CALLS").0/"
[ "$1" != prove ] || case $(grep -c '^prove' "$CALLS") in
  1|313) for _ in {1..200000}; do :; done ;;
esac
EOF
expect 0 '' collector lengths --build build --out lengths.json --against build --passes 2
expect_same "$(grep -c '^prove' calls)" 620 "155 proofs by each build, twice"
expect_same "$(python3 -c 'import json
series = json.load(open("lengths.json"))["series"]
print({name: [(row["prompt"] + row["generate"], row["peak_mib"]) for row in rows[:2]] for name, rows in series.items()
       if name == "this build"}, len(series["the other"]), series["the other"][0]["processor_s"] >= 0)')" \
  "{'this build': [(16, 311.0), (23, 3.0)]} 155 True" "the run of each length that took least"
mv build/told build/tessera

# serial parts: the least of the runs, of 1 and 2 threads, and what is outside of parallel regions
cp build/tessera build/told
cat >build/tessera <<'EOF'
#!/usr/bin/env bash
case "$*" in
  prove*)
    [[ $LD_PRELOAD == */tests/bench/processor_clock.so && $GOMP_SPINCOUNT == 0 ]] || exit 3
    case "$TESSERA_CLOCK $*" in
      *outside*) seconds=1.0000 ;;
      *--threads\ 2*) seconds=6.0000 ;;
      *) seconds=10.0000 ;;
    esac
    echo "$seconds" >seconds
    ;;
  inspect*proof.h5)
    LD_PRELOAD='' "$(dirname "$0")/told" "$@" | sed "s/0.0625/$(cat seconds)/; s/0.7500/$(cat seconds)/"
    ;;
  *) exec "$(dirname "$0")/told" "$@" ;;
esac
EOF
expect 0 '^/inference +10\.000 +6\.000 +2\.000 +20\.00 % +1\.000 +10\.00 % +6\.4 x +8\.8 x +9\.3 x$' \
  collector serial --build build --length 16+16
mv build/told build/tessera

# compare: ratios of what both have
sed 's/80\.0/160.0/; s/"seconds": 0.15/"seconds": 0.3/' new.json >old.json
expect 0 '^look-up/range column, 1 thread +ns/look-up +160 +80 +0\.500$' collector compare old.json new.json
grep -Eq '^look-up/range column, 2 threads +ns/look-up +32 +32 +1\.000$' output || fail "equal numbers"
grep -Eq '^gutenberg-2m 32\+32, 1 x 2: /lookup +s +0\.3 +0\.15 +0\.500$' output || fail "scopes: $(cat output)"
grep -q '^only in old: 0, only in new: 0$' output || fail "all numbers are in both"
grep -q 'machines differ' output && fail "one machine"
sed 's/AVX2/AVX3/' new.json >other.json
cp old.json same.json
expect 0 '^gutenberg-2m 32\+32, 2 x 1: /lookup +s +0\.3 +0\.15 +0\.500$' \
  collector collect --build build --out same.json --only runs --compare same.json # in the place of the earlier file
expect 0 '^The machines differ\.$' collector compare other.json new.json
expect 0 '^only in old: 3, only in new: 11' collector compare new.json gpt2.json
expect 2 '^bench: none.json: expected a benchmark file' collector compare none.json new.json
echo '{' >bad.json
expect 2 '^bench: bad.json: expected a benchmark file' collector compare new.json bad.json
echo '{"format": "x"}' >bad.json
expect 2 '^bench: bad.json: format: expected tessera benchmark 1, found x$' collector show bad.json
echo '{"format": "tessera benchmark 1"}' >bad.json
expect 2 '^bench: bad.json: expected a whole benchmark file' collector show bad.json

# kernels beside what is allowed, of each instruction set: the slower of steps and memory, of a step its slowest
# instructions; peaks are the best of all ways to get there, times the least of all repetitions
cat >build/tests/bench/bench_sets <<'EOF'
#!/usr/bin/env bash
[ "$1" != --instruction-sets ] || { printf 'scalar\navx2\n'; exit; }
out=$(printf '%s\n' "$@" | sed -n 's/^--benchmark_out=//p')
entry() { printf '%s{"name": "%s", "run_type": "%s", "%s": %s%s}\n' "$@"; }
[ "$TESSERA_INSTRUCTIONS" = scalar ] && time=80.0 || time=40.0
{
  echo '{"context": {}, "benchmarks": ['
  entry "" "peak/product/1" iteration ns 9.0 ', "of multiplication": 2, "of instruction": 9'
  entry , "peak/product/2" iteration ns 5.0 ', "of multiplication": 2, "of instruction": 9'
  entry , "peak/instruction/1" iteration ns 0.5 ''
  entry , "peak/multiplication/1" iteration ns 2.0 ''
  entry , "peak/bytes read in memory" iteration ns 0.25 ''
  for found in 90.0 $time; do
    entry , "field/scale" iteration ns/value "$found" ', "of product": 4, "of bytes read in memory": 16'
  done
  entry , "field/far" iteration ns/value 25.0 ', "of product": 1, "of bytes read in memory": 96'
  entry , "field/far" aggregate ns/value 1.0 ''
  echo ']}'
} >"$out"
EOF
chmod +x build/tests/bench/bench_sets
expect 0 '^field/scale +ns/value +80 +20 +0\.25 +40 +20 +0\.50$' collector kernels --build build --out sets.json
grep -Eq '^field/far +ns/value +25 +24 +0\.96 +25 +24 +0\.96$' output || fail "what memory allows: $(cat output)"
grep -Eq '^peak/product +ns +5 +4\.5 +0\.90 ' output || fail "what instructions allow"
grep -q '^below 0\.5 of what is allowed: 1$' output || fail "one finding: $(cat output)"
grep -q '^scalar: field/scale: 80 ns/value, allowed 20 (by product), ratio 0\.25$' output || fail "findings"
sed 's/"ns": 40\.0/"ns": 160.0/' sets.json >slower.json
expect 0 '^field/scale, avx2 +ns/value +160 +40 +0\.250$' \
  collector kernels --build build --out sets.json --compare slower.json
expect 0 '^\| field/scale \| ns/value \| 80 \| 20 \| 0\.25 \| 40 \| 20 \| 0\.50 \|$' collector page sets.json
printf 'before\n<!-- sets -->\nold\n<!-- end -->\nafter\n' >page.md
collector page sets.json page.md || fail "page"
expect_same "$(sed '/^[^a-z]/d; /^$/d' page.md | tr '\n' ' ')" "before after " "what stands around a table"
grep -q '^- scalar: field/scale: ' page.md || fail "findings on a page: $(cat page.md)"
expect 2 '^bench: page.md: expected <!-- slower --> and <!-- end -->, found none$' collector page slower.json page.md
expect 0 '^field/scale +ns/value +80 +20 +0\.25 ' collector show sets.json

# a page's table is that of the file beside the benchmarks
collector page "$source/tests/bench/tables/zen3.json" >page || fail "no table of Zen 3"
sed -n '/^<!-- zen3 -->$/,/^<!-- end -->$/p' "$source/src/guide/kernels.md" | sed '1d;$d' | cmp - page ||
  fail "src/guide/kernels.md: expected what bench.py page says of tests/bench/tables/zen3.json"

# the program itself, where benchmarks are built: all sets have the same rows, and something is allowed for each kernel
if [ -x "$programs/tests/bench/bench_sets" ]; then
  mkdir -p real/tests/bench
  ln -s "$programs/tests/bench/bench_sets" real/tests/bench
  expect 0 '^BLAKE2s/leaves of 1 KiB +ns/block ' \
    collector kernels --build real --out real.json --repetitions 1 --min-time 1e-9 --cache-only
  expect_same "$(python3 -c 'import json
sets = json.load(open("real.json"))["instruction_sets"]
names = [[row["name"] for row in one["kernels"]] for one in sets]
print(len(sets) > 0 and all(found == names[0] for found in names),
      all(row["allowed_ns"] > 0 for one in sets for row in one["kernels"] if not row["name"].startswith("peak/")))')" \
    "True True" "rows of all sets"
fi

# programs that fail or are missing
printf '#!/usr/bin/env bash\necho "tessera-verify: no" >&2\nexit 2\n' >build/tessera-verify
expect 3 'FAILED: tessera-verify: no' collector collect --build build --out failed.json --only runs
rm build/tests/bench/bench_kernels
expect 3 '^bench: ' collector collect --build build --out none.json --only kernels
expect_absent none.json
rm build/tests/bench/bench_sets
expect 3 '^bench: ' collector kernels --build build --out none.json
expect_absent none.json
finish

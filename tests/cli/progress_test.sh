#!/usr/bin/env bash
# What a person or a scheduler sees while a proof is made: a bar, plain lines, JSON.
source "$(dirname "$0")/common.sh"
make_files
job=(prove --model model.h5 --commitment commitment --prompt "The old" --generate 40 --out p.h5)

# on_terminal COMMAND...: what it writes to a terminal of its own, $columns wide
columns=80
on_terminal() {
  python3 -c 'import pty, sys, fcntl, os, struct, termios
process, terminal = pty.fork()
if process == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
    os.execv(sys.argv[2], sys.argv[2:])
try:
    while data := os.read(terminal, 65536):
        os.write(1, data)
except OSError:
    pass
sys.exit(os.waitpid(process, 0)[1] != 0)' "$columns" "$@" >typed </dev/null || fail "on a terminal: $*"
  tr '\r' '\n' <typed >lines
}
on_terminal "$programs/tessera" "${job[@]}"
grep -Eq '\[#*\.*\] +[0-9]+ %  lookup, [0-9]+ s left' lines || fail "no bar: $(cat -v lines)"
for step in inference witness commitment lookup opening; do
  grep -Eq "%  $step, " lines || fail "no step $step"
done
# shares grow
python3 - <<'EOF' || fail "shares do not grow"
import re, sys
shares = [int(share) for share in re.findall(r"\] +(\d+) %", open("lines", errors="replace").read())]
sys.exit(not (shares == sorted(shares) and shares[0] < shares[-1] <= 100))
EOF
grep -q 'proof of' lines || fail "no result after the bar"
# widest MOST: columns of the widest line of a bar
widest() { grep -aE ' left' lines | sed 's/\x1b\[K//g' | awk '{ if (length($0) > most) most = length($0) } END { print most + 0 }'; }
[ "$(widest)" -gt 70 ] && [ "$(widest)" -lt 80 ] || fail "80 columns: a line of $(widest)"
for columns in 40 24; do
  on_terminal "$programs/tessera" "${job[@]}"
  [ "$(widest)" -gt 10 ] && [ "$(widest)" -lt $columns ] || fail "$columns columns: a line of $(widest)"
done
columns=60
on_terminal "$mpirun" -n 2 "$programs/tessera" "${job[@]}"
grep -Eq '\[#*\.*\] +[0-9]+ %  lookup' lines || fail "no bar under mpirun: $(cat -v lines)"
[ "$(widest)" -gt 50 ] && [ "$(widest)" -lt 60 ] || fail "60 columns under mpirun: a line of $(widest)"
columns=80
on_terminal "$programs/tessera" "${job[@]}" --progress none
grep -q '%' lines && fail "--progress none speaks: $(cat -v lines)"
on_terminal "$programs/tessera" "${job[@]}" --progress plain
grep -q '\[#' lines && fail "--progress plain draws"
grep -Eq '^[0-9-]+ [0-9:]+ proving: lookup \.\.\.$' lines || fail "--progress plain: $(cat -v lines)"

# JSON: every line an object, from the job's steps to its end
"$programs/tessera" "${job[@]}" --progress json 2>objects >out || fail "--progress json"
python3 - <<'EOF' || fail "--progress json: $(cat objects)"
import json, sys
lines = [json.loads(line) for line in open("objects")]
steps = [line for line in lines if line["done"] is not None]
names = [line["phase"] for line in steps]
good = all(set(line) == {"phase", "done", "left", "elapsed"} for line in lines)
good = good and {"inference", "lookup", "opening", "done"} <= set(names) and names[-1] == "done"
for key in "done", "elapsed":
    values = [line[key] for line in steps]
    good = good and values == sorted(values)
good = good and steps[-1]["done"] == 1 and steps[-1]["left"] == 0 and all(0 <= line["done"] <= 1 for line in steps)
sys.exit(not good)
EOF
"$programs/tessera" "${job[@]}" --progress json --log log.txt 2>error >out || fail "--progress json --log"
[ ! -s error ] || fail "--log: $(cat error)"
head -n 1 log.txt | grep -q '^{"phase"' || fail "--progress json --log: $(cat log.txt)"
# bar although there is no terminal; ranks speak once
ranks 3 tessera "${job[@]}" --progress bar >out 2>error || fail "--progress bar"
grep -Eq '\[#' error || fail "--progress bar"
[ "$("$programs/tessera" "${job[@]}" --progress none 2>&1 >/dev/null)" = "" ] || fail "--progress none speaks"
expect 2 'not in|none' tessera "${job[@]}" --progress loud
finish

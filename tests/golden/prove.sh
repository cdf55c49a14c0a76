# Sourced: how the golden files are made.

# golden_proof PROGRAMS KEY OUT: the golden statement's proof under the exponents of KEY, from the public checkpoint on, and
# OUT.part1, OUT.part2: a conversation's.
golden_proof() (
  set -eu
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  "$1/tessera" import --quiet --checkpoint "${source:-.}/configs/odd-40k" --out "$folder/model.h5" \
    ${2:+--exponents "$2"} >/dev/null
  "$1/tessera" commit --quiet --model "$folder/model.h5" --out "$folder/commitment" >/dev/null
  "$1/tessera" prove --quiet --model "$folder/model.h5" --commitment "$folder/commitment" --prompt "The old man" \
    --generate 12 --out "$3" >/dev/null
  "$1/tessera" prove --quiet --model "$folder/model.h5" --commitment "$folder/commitment" --prompt "The old man" \
    --generate 6 --keep "$folder/state" --out "$3.part1" >/dev/null
  "$1/tessera" prove --quiet --model "$folder/model.h5" --commitment "$folder/commitment" --continue "$folder/state" \
    --prompt " and" --generate 5 --keep "$folder/state2" --out "$3.part2" >/dev/null
  cp "$folder/commitment/verifying.key" "$3.key"
)
# payload_digest PROGRAMS PROOF
golden_digest() { "$1/tessera" inspect "$2" | sed -n 's/^payload .*digest //p'; }

# golden_files PROGRAMS FOLDER: writes the golden files into FOLDER.
golden_files() (
  set -eu
  golden_proof "$1" "" "$2/odd-40k.proof"
  gzip -9nc "$2/odd-40k.proof.key" >"$2/odd-40k.key.gz"
  rm "$2/odd-40k.proof.key"
  for part in "" .part1 .part2; do
    golden_digest "$1" "$2/odd-40k.proof$part"
  done >"$2/odd-40k.digest"
  ls -l "$2"/odd-40k.*
)

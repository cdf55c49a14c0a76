# Sourced: how the golden files are made.

golden_models="odd-40k odd-qwen-60k"
# The files of proofs of a model: NAME and what follows it.
golden_parts() { [ "$1" = odd-40k ] && echo ".proof .proof.part1 .proof.part2" || echo .proof; }

# golden_proof PROGRAMS MODEL KEY OUT: the golden statement's proof OUT.proof under the exponents of KEY, from the public
# checkpoint on, and the key OUT.key; of odd-40k also a conversation's, OUT.proof.part1, OUT.proof.part2.
golden_proof() (
  set -eu
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  prove() {
    "$programs/tessera" prove --quiet --model "$folder/model.h5" --commitment "$folder/commitment" "$@" >/dev/null
  }
  programs=$1
  "$1/tessera" import --quiet --checkpoint "${source:-.}/configs/$2" --out "$folder/model.h5" \
    ${3:+--exponents "$3"} >/dev/null
  "$1/tessera" commit --quiet --model "$folder/model.h5" --out "$folder/commitment" >/dev/null
  if [ "$2" = odd-40k ]; then
    prove --prompt "The old man" --generate 12 --out "$4.proof"
    prove --prompt "The old man" --generate 6 --keep "$folder/state" --out "$4.proof.part1"
    prove --continue "$folder/state" --prompt " and" --generate 5 --keep "$folder/state2" --out "$4.proof.part2"
  else
    prove --prompt "The" --generate 3 --out "$4.proof"
  fi
  cp "$folder/commitment/verifying.key" "$4.key"
)
# payload_digest PROGRAMS PROOF
golden_digest() { "$1/tessera" inspect "$2" | sed -n 's/^payload .*digest //p'; }

# golden_files PROGRAMS FOLDER [MODELS]: writes the golden files into FOLDER.
golden_files() (
  set -eu
  for model in ${3:-$golden_models}; do
    golden_proof "$1" $model "" "$2/$model"
    gzip -9nc "$2/$model.key" >"$2/$model.key.gz"
    rm "$2/$model.key"
    for part in $(golden_parts $model); do
      golden_digest "$1" "$2/$model$part"
    done >"$2/$model.digest"
    ls -l "$2/$model".*
  done
)

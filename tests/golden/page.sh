# Sourced: the parts of the pages in src/spec that the code makes, for the golden models' statements.
generated_names=(limits declarations llama-declarations messages soundness)

# generated_page PROGRAMS GOLDEN PAGE: PAGE with what stands between "<!-- generated: NAME -->" and "<!-- end -->" made anew
# from the keys in the folder GOLDEN: odd-40k.key, and odd-qwen-60k.key for a NAME that begins with "llama-".
generated_page() (
  inside=
  while IFS= read -r line; do
    case $line in
    "<!-- generated: "*)
      name=${line#<!-- generated: }
      printf '%s\n' "$line"
      name=${name% -->} key=odd-40k.key
      [ "$name" = "${name#llama-}" ] || key=odd-qwen-60k.key
      "$1/tessera" describe --key "$2/$key" --prompt-length 7 --generate 12 --page "${name#llama-}" || exit 1
      inside=yes
      ;;
    "<!-- end -->") inside= && printf '%s\n' "$line" ;;
    *) [ -n "$inside" ] || printf '%s\n' "$line" ;;
    esac
  done <"$3"
)

# golden_keys GOLDEN FOLDER: unpacks them.
golden_keys() {
  local model
  for model in odd-40k odd-qwen-60k; do
    gunzip -c "$1/$model.key.gz" >"$2/$model.key" || return
  done
}

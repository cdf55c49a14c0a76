# Sourced: the parts of src/README.md that the code makes, for the golden model's statement.

# generated_page PROGRAMS KEY PAGE: PAGE with what stands between "<!-- generated: NAME -->" and "<!-- end -->" made anew.
generated_page() (
  inside=
  while IFS= read -r line; do
    case $line in
    "<!-- generated: "*)
      name=${line#<!-- generated: }
      printf '%s\n' "$line"
      "$1/tessera" describe --key "$2" --prompt-length 7 --generate 12 --page "${name% -->}" || exit 1
      inside=yes
      ;;
    "<!-- end -->") inside= && printf '%s\n' "$line" ;;
    *) [ -n "$inside" ] || printf '%s\n' "$line" ;;
    esac
  done <"$3"
)

/* Verifies the parts of a conversation, or a single proof: verify_in_c KEY PROOF... */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <tessera/verify.h>

typedef struct {
  unsigned char* bytes;
  size_t size;
} file;

static int read_file(const char* path, file* read) {
  FILE* const stream = fopen(path, "rb");
  read->bytes = NULL;
  if (stream != NULL && fseek(stream, 0, SEEK_END) == 0) {
    read->size = (size_t)ftell(stream);
    read->bytes = malloc(read->size + 1);
    rewind(stream);
  }
  const int complete = read->bytes != NULL && fread(read->bytes, 1, read->size, stream) == read->size;
  if (!complete) {
    fprintf(stderr, "%s: cannot be read\n", path);
  }
  if (stream != NULL) {
    fclose(stream);
  }
  return complete;
}

/* Texts are made of tokens that strangers chose: what is not printable is shown as a question mark. */
static void print_text(const tessera_result* result, const char* (*text_of)(const tessera_result*, size_t*)) {
  size_t size = 0;
  const char* const text = text_of(result, &size);
  for (size_t i = 0; i < size; ++i) {
    putchar(text[i] >= ' ' && text[i] <= '~' ? text[i] : '?');
  }
}

/* `before` is where the part before has ended, NULL of the first one; `kept` where this one has. */
static tessera_verdict verify_part(const file* key, const file* proof, const tessera_state* before,
                                   tessera_state* kept) {
  tessera_result* result = NULL;
  const tessera_verdict verdict =
      tessera_verify_files(key->bytes, key->size, proof->bytes, proof->size, before, &result);
  if (verdict == TESSERA_ACCEPTED) {
    print_text(result, tessera_result_prompt_text);
    print_text(result, tessera_result_generated_text);
    const uint32_t* const end = tessera_result_ended_by(result);
    if (end != NULL) {
      printf("\ncomplete (ended by token %" PRIu32 ")", *end);
    } else {
      size_t count = 0;
      (void)tessera_result_generated(result, &count);
      printf("\ncut off at %zu tokens", count);
    }
    /* rounded down: what is shown is proven */
    printf("\n%.1f bits\n", (double)(long)(10 * tessera_result_soundness_sum(result)) / 10);
  } else {
    printf("not accepted %s: %s\n", tessera_result_scope(result), tessera_result_reason(result));
  }
  *kept = *tessera_result_kept(result);
  tessera_result_free(result);
  return verdict;
}

int main(int argc, char** argv) {
  file key;
  if (argc < 3 || !read_file(argv[1], &key)) {
    fprintf(stderr, "usage: %s KEY PROOF...\n", argv[0]);
    return TESSERA_UNUSABLE;
  }
  tessera_state state;
  tessera_verdict verdict = TESSERA_ACCEPTED;
  for (int i = 2; i < argc && verdict == TESSERA_ACCEPTED; ++i) {
    file proof;
    verdict = read_file(argv[i], &proof) ? verify_part(&key, &proof, i == 2 ? NULL : &state, &state) : TESSERA_UNUSABLE;
    free(proof.bytes);
  }
  free(key.bytes);
  return (int)verdict;
}

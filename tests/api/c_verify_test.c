/* The verifier from C: c_verify_test KEY OTHER_KEY PROOF PART1 PART2, files of the stored proofs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tessera/verify.h>

#include "raw_parts.h"

typedef struct {
  unsigned char* bytes;
  size_t size;
} file;

static int failures = 0;

#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                               \
    }                                                                           \
  } while (0)

static file read_file(const char* path) {
  file read = {NULL, 0};
  FILE* const stream = fopen(path, "rb");
  if (stream == NULL || fseek(stream, 0, SEEK_END) != 0) {
    perror(path);
    exit(2);
  }
  read.size = (size_t)ftell(stream);
  read.bytes = malloc(read.size);
  rewind(stream);
  if (read.bytes == NULL || fread(read.bytes, 1, read.size, stream) != read.size) {
    perror(path);
    exit(2);
  }
  fclose(stream);
  return read;
}

static int says(const tessera_result* result, const char* text) {
  const int found = strstr(tessera_result_reason(result), text) != NULL;
  if (!found) {
    fprintf(stderr, "the reason is: %s\n", tessera_result_reason(result));
  }
  return found;
}

static void a_proof_is_accepted(file key, file proof) {
  tessera_result* result = NULL;
  CHECK(tessera_verify_files(key.bytes, key.size, proof.bytes, proof.size, NULL, &result) == TESSERA_ACCEPTED);
  CHECK(tessera_result_verdict(result) == TESSERA_ACCEPTED);
  CHECK(strcmp(tessera_result_scope(result), "") == 0 && strcmp(tessera_result_reason(result), "") == 0);
  size_t count = 0;
  size_t size = 0;
  CHECK(tessera_result_prompt(result, &count) != NULL && count > 0);
  const char* text = tessera_result_prompt_text(result, &size);
  CHECK(text != NULL && size == strlen("The old man") && strcmp(text, "The old man") == 0);
  CHECK(tessera_result_generated(result, &count) != NULL && count > 0);
  text = tessera_result_generated_text(result, &size);
  CHECK(text != NULL && size > 0 && strlen(text) == size);
  CHECK(tessera_result_key_digest(result) != NULL);
  CHECK(tessera_result_soundness_least(result) >= 100 && tessera_result_soundness_least(result) < 128);
  CHECK(tessera_result_soundness_sum(result) >= 95);
  CHECK(tessera_result_soundness_sum(result) < tessera_result_soundness_least(result));
  CHECK(tessera_result_ended_by(result) == NULL); /* it is cut off */
  CHECK(tessera_result_kept(result)->length == 0);
  tessera_result* after = NULL;
  CHECK(tessera_verify_files(key.bytes, key.size, proof.bytes, proof.size, tessera_result_kept(result), &after) ==
        TESSERA_REJECTED);
  CHECK(says(after, "the part before it keeps no state to continue"));
  tessera_result_free(after);
  tessera_result_free(result);
  CHECK(tessera_verify_files(key.bytes, key.size, proof.bytes, proof.size, NULL, NULL) == TESSERA_ACCEPTED);
}

static void another_models_proof_is_rejected(file other_key, file proof) {
  tessera_result* result = NULL;
  CHECK(tessera_verify_files(other_key.bytes, other_key.size, proof.bytes, proof.size, NULL, &result) ==
        TESSERA_REJECTED);
  CHECK(tessera_result_prompt(result, NULL) != NULL && tessera_result_generated(result, NULL) != NULL);
  CHECK(tessera_result_prompt_text(result, NULL) == NULL && tessera_result_generated_text(result, NULL) == NULL);
  CHECK(tessera_result_verdict(result) == TESSERA_REJECTED);
  CHECK(strcmp(tessera_result_scope(result), "/statement") == 0);
  CHECK(says(result, "another verifying key"));
  CHECK(tessera_result_soundness_least(result) == 0 && tessera_result_soundness_sum(result) == 0);
  size_t count = 0;
  CHECK(tessera_result_prompt(result, &count) != NULL && count > 0); /* it could be read */
  tessera_result_free(result);
}

static void damaged_files_are_unusable(file key, file proof) {
  static const char* const no_hdf5 = "this is no HDF5 file";
  tessera_result* result = NULL;
  CHECK(tessera_verify_files(no_hdf5, strlen(no_hdf5), proof.bytes, proof.size, NULL, &result) == TESSERA_UNUSABLE);
  CHECK(says(result, "key: expected an HDF5 file of ours"));
  CHECK(tessera_result_key_digest(result) == NULL);
  CHECK(tessera_result_prompt(result, NULL) == NULL && tessera_result_prompt_text(result, NULL) == NULL);
  tessera_result_free(result);
  CHECK(tessera_verify_files(key.bytes, key.size, no_hdf5, 1, NULL, &result) == TESSERA_UNUSABLE);
  CHECK(says(result, "proof: expected an HDF5 file of ours"));
  CHECK(tessera_result_key_digest(result) != NULL);
  tessera_result_free(result);
  CHECK(tessera_verify_files(proof.bytes, proof.size, key.bytes, key.size, NULL, &result) == TESSERA_UNUSABLE);
  CHECK(says(result, "key: format: expected tessera verifying key, found tessera proof"));
  tessera_result_free(result);
  for (size_t size = 1; size < proof.size; size += proof.size / 7) {
    CHECK(tessera_verify_files(key.bytes, key.size, proof.bytes, size, NULL, NULL) == TESSERA_UNUSABLE);
  }
  for (size_t place = 100; place < proof.size; place += proof.size / 11) {
    proof.bytes[place] ^= 1;
    const tessera_verdict verdict = tessera_verify_files(key.bytes, key.size, proof.bytes, proof.size, NULL, NULL);
    CHECK(verdict == TESSERA_UNUSABLE || verdict == TESSERA_ACCEPTED); /* bytes that nothing reads may differ */
    proof.bytes[place] ^= 1;
  }
  unsigned char* const payload = proof.bytes + proof.size / 2;
  *payload ^= 1;
  CHECK(tessera_verify_files(key.bytes, key.size, proof.bytes, proof.size, NULL, &result) == TESSERA_UNUSABLE);
  CHECK(says(result, "proof: payload"));
  tessera_result_free(result);
  *payload ^= 1;
}

static void missing_arguments_are_unusable(file key, file proof) {
  tessera_result* result = NULL;
  CHECK(tessera_verify_files(NULL, key.size, proof.bytes, proof.size, NULL, &result) == TESSERA_UNUSABLE);
  CHECK(says(result, "key: expected bytes, found NULL"));
  tessera_result_free(result);
  CHECK(tessera_verify_files(key.bytes, 0, proof.bytes, proof.size, NULL, &result) == TESSERA_UNUSABLE);
  CHECK(says(result, "key: expected bytes, found a size of 0"));
  tessera_result_free(result);
  CHECK(tessera_verify_files(key.bytes, key.size, NULL, proof.size, NULL, NULL) == TESSERA_UNUSABLE);
  CHECK(tessera_verify_files(key.bytes, key.size, proof.bytes, 0, NULL, NULL) == TESSERA_UNUSABLE);
  CHECK(tessera_verify_files(NULL, 0, NULL, 0, NULL, NULL) == TESSERA_UNUSABLE);
  CHECK(tessera_verify_parts(NULL, 0, NULL, NULL, 0, NULL, NULL) == TESSERA_UNUSABLE);
  CHECK(tessera_result_verdict(NULL) == TESSERA_FAILED);
  size_t count = 1;
  CHECK(tessera_result_prompt(NULL, &count) == NULL && count == 0);
  count = 1;
  CHECK(tessera_result_generated_text(NULL, &count) == NULL && count == 0);
  CHECK(tessera_result_kept(NULL)->length == 0 && tessera_result_key_digest(NULL) == NULL);
  CHECK(tessera_verify_files(key.bytes, key.size, proof.bytes, proof.size, tessera_result_kept(NULL), NULL) ==
        TESSERA_REJECTED);
  CHECK(strcmp(tessera_result_scope(NULL), "") == 0 && strcmp(tessera_result_reason(NULL), "") == 0);
  CHECK(tessera_result_ended_by(NULL) == NULL);
  CHECK(tessera_result_soundness_least(NULL) == 0 && tessera_result_soundness_sum(NULL) == 0);
  tessera_result_free(NULL);
}

static tessera_verdict verify_parts(const struct raw_parts* parts, const tessera_statement* statement,
                                    tessera_result** result) {
  return tessera_verify_parts(parts->key, parts->key_size, statement, parts->payload, parts->payload_size, NULL,
                              result);
}

static void parts_are_verified(file key, file proof) {
  struct raw_parts parts;
  CHECK(read_raw_parts(key.bytes, key.size, proof.bytes, proof.size, &parts));
  tessera_result* result = NULL;
  CHECK(verify_parts(&parts, &parts.statement, &result) == TESSERA_ACCEPTED);
  CHECK(strcmp(tessera_result_prompt_text(result, NULL), "The old man") == 0);
  CHECK(tessera_result_soundness_least(result) >= 100);
  tessera_result_free(result);

  for (size_t place = 0; place < parts.payload_size; place += parts.payload_size / 13) {
    parts.payload[place] ^= 1;
    CHECK(verify_parts(&parts, &parts.statement, &result) == TESSERA_REJECTED);
    CHECK(strlen(tessera_result_scope(result)) > 0 && strlen(tessera_result_reason(result)) > 0);
    tessera_result_free(result);
    parts.payload[place] ^= 1;
  }
  parts.generated[0] += 1;
  CHECK(verify_parts(&parts, &parts.statement, NULL) == TESSERA_REJECTED);
  parts.generated[0] = UINT32_MAX;
  CHECK(verify_parts(&parts, &parts.statement, &result) == TESSERA_REJECTED);
  CHECK(tessera_result_generated_text(result, NULL) == NULL && tessera_result_generated(result, NULL) != NULL);
  tessera_result_free(result);

  tessera_statement statement = parts.statement;
  statement.prompt = NULL;
  CHECK(verify_parts(&parts, &statement, &result) == TESSERA_UNUSABLE);
  CHECK(says(result, "statement: prompt: expected"));
  tessera_result_free(result);
  statement = parts.statement;
  statement.generated_count = SIZE_MAX;
  CHECK(verify_parts(&parts, &statement, NULL) == TESSERA_UNUSABLE);
  statement = parts.statement;
  statement.prompt_count = 0;
  CHECK(verify_parts(&parts, &statement, NULL) == TESSERA_REJECTED);
  statement = parts.statement;
  statement.pass_length = 77;
  CHECK(verify_parts(&parts, &statement, NULL) == TESSERA_REJECTED);
  const tessera_bytes of_key = {parts.key, parts.key_size}, of_payload = {parts.payload, parts.payload_size};
  const tessera_sampling sampling = {5851, 40, 65536, 65300, {7}}; /* the proof's tokens are not sampled */
  CHECK(tessera_verify_sampled_parts(of_key, &parts.statement, &sampling, of_payload, NULL, &result) ==
        TESSERA_REJECTED);
  CHECK(tessera_result_sampling(result) != NULL &&
        memcmp(tessera_result_sampling(result), &sampling, sizeof sampling) == 0);
  tessera_result_free(result);
  CHECK(tessera_verify_sampled_parts(of_key, &parts.statement, NULL, of_payload, NULL, NULL) ==
        TESSERA_REJECTED); /* an id is none */
  CHECK(tessera_result_sampling(NULL) == NULL);
  CHECK(tessera_verify_parts(parts.key, parts.key_size, &parts.statement, NULL, 1, NULL, NULL) == TESSERA_UNUSABLE);
  CHECK(tessera_verify_parts(parts.key, parts.key_size, &parts.statement, parts.payload, 0, NULL, NULL) ==
        TESSERA_UNUSABLE);
  CHECK(tessera_verify_parts(parts.key, parts.key_size, NULL, parts.payload, 1, NULL, NULL) == TESSERA_UNUSABLE);
  CHECK(tessera_verify_parts(parts.key, 100, &parts.statement, parts.payload, 1, NULL, NULL) == TESSERA_UNUSABLE);
  free_raw_parts(&parts);
}

static void a_conversation_goes_in_order(file key, file part1, file part2) {
  tessera_result* first = NULL;
  tessera_result* second = NULL;
  CHECK(tessera_verify_files(key.bytes, key.size, part1.bytes, part1.size, NULL, &first) == TESSERA_ACCEPTED);
  const tessera_state* const kept = tessera_result_kept(first);
  CHECK(kept->length > 0);
  CHECK(tessera_verify_files(key.bytes, key.size, part2.bytes, part2.size, kept, &second) == TESSERA_ACCEPTED);
  tessera_result_free(second);
  CHECK(tessera_verify_files(key.bytes, key.size, part2.bytes, part2.size, NULL, &second) == TESSERA_REJECTED);
  CHECK(strcmp(tessera_result_scope(second), "/statement") == 0);
  CHECK(tessera_result_kept(second)->length == 0); /* of a rejected part, too: nothing follows it */
  CHECK(tessera_verify_files(key.bytes, key.size, part1.bytes, part1.size, tessera_result_kept(second), NULL) ==
        TESSERA_REJECTED);
  tessera_result_free(second);
  CHECK(tessera_verify_files(key.bytes, key.size, part1.bytes, part1.size, kept, NULL) == TESSERA_REJECTED);
  tessera_state other = *kept;
  other.root[31] ^= 1;
  CHECK(tessera_verify_files(key.bytes, key.size, part2.bytes, part2.size, &other, NULL) == TESSERA_REJECTED);
  other = *kept;
  other.length += 1;
  CHECK(tessera_verify_files(key.bytes, key.size, part2.bytes, part2.size, &other, NULL) == TESSERA_REJECTED);
  other = *kept;
  other.last_token ^= 1;
  CHECK(tessera_verify_files(key.bytes, key.size, part2.bytes, part2.size, &other, NULL) == TESSERA_REJECTED);

  struct raw_parts parts;
  CHECK(read_raw_parts(key.bytes, key.size, part2.bytes, part2.size, &parts));
  CHECK(tessera_verify_parts(parts.key, parts.key_size, &parts.statement, parts.payload, parts.payload_size, kept,
                             NULL) == TESSERA_ACCEPTED);
  CHECK(tessera_verify_parts(parts.key, parts.key_size, &parts.statement, parts.payload, parts.payload_size, NULL,
                             NULL) == TESSERA_REJECTED);
  free_raw_parts(&parts);
  tessera_result_free(first);
}

int main(int argc, char** argv) {
  if (argc != 6) {
    fprintf(stderr, "usage: %s KEY OTHER_KEY PROOF PART1 PART2\n", argv[0]);
    return 2;
  }
  file files[5];
  for (int i = 0; i < 5; ++i) {
    files[i] = read_file(argv[i + 1]);
  }
  CHECK(strchr(tessera_version(), '.') != NULL && tessera_format_version() == 19);
  a_proof_is_accepted(files[0], files[2]);
  another_models_proof_is_rejected(files[1], files[2]);
  damaged_files_are_unusable(files[0], files[2]);
  missing_arguments_are_unusable(files[0], files[2]);
  parts_are_verified(files[0], files[2]);
  a_conversation_goes_in_order(files[0], files[3], files[4]);
  for (int i = 0; i < 5; ++i) {
    free(files[i].bytes);
  }
  printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}

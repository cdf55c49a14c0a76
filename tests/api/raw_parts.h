#pragma once

#include <tessera/verify.h>

/// What the C test needs of files and cannot read in C: their parts, by the C++ functions that read from memory.
#ifdef __cplusplus
extern "C" {
#endif

struct raw_parts {
  uint8_t* key;
  size_t key_size;
  uint32_t* prompt;
  uint32_t* generated;
  tessera_statement statement;  // of these
  tessera_state start;          // where the statement starts, if it has a start
  uint8_t* payload;
  size_t payload_size;
};

/// 0 if the files cannot be read.
int read_raw_parts(const void* key, size_t key_size, const void* proof, size_t proof_size, struct raw_parts* parts);
void free_raw_parts(struct raw_parts* parts);

#ifdef __cplusplus
}
#endif

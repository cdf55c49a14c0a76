#include "raw_parts.h"

#include <tessera/archive.hpp>
#include <tessera/errors.hpp>

#include <algorithm>
#include <cstdlib>
#include <iostream>

namespace {

template <class T>
T* copy(const std::vector<T>& values) {
  T* const copied = new T[values.size()];
  std::ranges::copy(values, copied);
  return copied;
}

std::span<const std::uint8_t> bytes(const void* data, std::size_t size) {
  return {static_cast<const std::uint8_t*>(data), size};
}

}  // namespace

int read_raw_parts(const void* key, size_t key_size, const void* proof, size_t proof_size, raw_parts* parts) {
  try {
    const std::vector<std::uint8_t> canonical = tessera::read_key(bytes(key, key_size));
    const tessera::StoredProof stored = tessera::read_proof(bytes(proof, proof_size));
    const tessera::Statement& statement = stored.statement;
    parts->key = copy(canonical);
    parts->key_size = canonical.size();
    parts->prompt = copy(statement.prompt);
    parts->generated = copy(statement.generated);
    parts->statement = {parts->prompt, statement.prompt.size(), parts->generated,     statement.generated.size(),
                        nullptr,       statement.keeps ? 1 : 0, statement.pass_length};
    if (statement.start) {
      parts->start = {{}, statement.start->length, statement.start->last_token};
      std::ranges::copy(statement.start->root, parts->start.root);
      parts->statement.start = &parts->start;
    }
    parts->payload = copy(stored.payload);
    parts->payload_size = stored.payload.size();
    return 1;
  } catch (const tessera::InputError& error) {
    std::cerr << error.what() << '\n';
    return 0;
  }
}

void free_raw_parts(raw_parts* parts) {
  delete[] parts->key;
  delete[] parts->prompt;
  delete[] parts->generated;
  delete[] parts->payload;
}

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::web {

/// Files that the page has handed over, by name: what load_key_isolated() and load_proof_isolated() read here. The
/// module itself is the confinement: it sees these bytes and nothing else.
void add_file(const std::string& name, std::vector<std::uint8_t> bytes);
void clear_files();

}  // namespace tessera::web

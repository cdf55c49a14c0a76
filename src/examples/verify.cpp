// Verifies the parts of a conversation, or a single proof: verify_in_cpp KEY PROOF...
#include <tessera/archive.hpp>
#include <tessera/errors.hpp>
#include <tessera/verify.hpp>

#include <fstream>
#include <iostream>
#include <iterator>

namespace {

std::vector<std::uint8_t> read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw tessera::InputError(std::string(path) + ": cannot be read");
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

// Texts are made of tokens that strangers chose: what is not printable is shown as a question mark.
std::string shown(std::string text) {
  for (char& c : text) {
    c = c >= ' ' && c <= '~' ? c : '?';
  }
  return text;
}

int verify_all(std::span<char*> files) {
  const std::vector<std::uint8_t> key = tessera::read_key(read_file(files.front()));
  std::vector<tessera::StoredProof> parts;
  for (const char* const file : files.subspan(1)) {
    parts.push_back(tessera::read_proof(read_file(file)));
  }
  const tessera::Verdict verdict = tessera::verify_conversation(key, parts);
  if (!verdict.accepted) {
    std::cout << "not accepted " << verdict.scope << ": " << shown(verdict.reason) << '\n';
    return 1;
  }
  if (verdict.ended_by) {  // the last part's
    std::cout << "complete (ended by token " << *verdict.ended_by << ")\n";
  } else {
    std::cout << "cut off at " << parts.back().statement.generated.size() << " tokens\n";
  }
  for (const tessera::StoredProof& proof : parts) {
    std::cout << shown(tessera::decode(key, proof.statement.prompt) + tessera::decode(key, proof.statement.generated))
              << '\n'
              << tessera::soundness(key, proof.statement).sum << " bits\n";
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: " << argv[0] << " KEY PROOF...\n";
    return 2;
  }
  try {
    return verify_all({argv + 1, argv + argc});
  } catch (const tessera::InputError& error) {
    std::cerr << shown(error.what()) << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 3;
  }
}

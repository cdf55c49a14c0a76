#include "datasets/gathered_proofs.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "datasets/proof_archive.hpp"

namespace tessera {
namespace {

constexpr std::size_t most_name = 1024;
constexpr std::size_t max_part = 255;  // of a name: what file systems take
constexpr std::string_view name_rule = "relative paths of UTF-8 without control characters";

bool is_control(char32_t code) { return code < 0x20 || (code >= 0x7f && code < 0xa0); }

bool is_text(std::string_view text) {
  while (!text.empty()) {
    const Character character = first_character(text);
    if (character.length == 0 || is_control(character.code)) {
      return false;
    }
    text.remove_prefix(character.length);
  }
  return true;
}

}  // namespace

bool is_gathered_name(const std::string& name) {
  if (name.size() > most_name || !is_text(name)) {
    return false;
  }
  for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = name.find('/', begin);
    const std::string part = name.substr(begin, end == std::string::npos ? end : end - begin);
    if (part.empty() || part.size() > max_part || part == "." || part == "..") {
      return false;
    }
  }
  return true;
}

std::vector<GatheredProof> read_gathered(const DatasetFile& file) {
  std::vector<std::string> names = file.read_strings("names", max_gathered_proofs, max_gathered_names);
  const auto lengths = file.read<std::uint32_t>("files/lengths", {names.size()});
  if (names.empty()) {
    file.fail("names", "one proof or more", "none");
  }
  std::set<std::string> seen;
  std::vector<GatheredProof> proofs;
  const Extents& extents = file.extents<std::uint8_t>("files/bytes");
  if (extents.size() != 1) {
    file.fail("files/bytes", "a list", to_string(extents));
  }
  const std::uint64_t all = extents.front();
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!is_gathered_name(names[i])) {
      file.fail("names", std::string(name_rule), quoted_name(names[i]));
    }
    if (!seen.insert(names[i]).second) {
      file.fail("names", "different names", quoted_name(names[i]) + " twice");
    }
    if (lengths[i] > max_proof_file_bytes || lengths[i] > all - end) {
      file.fail("files/lengths", "lengths of a sum of " + std::to_string(all), std::to_string(lengths[i]) + " more");
    }
    proofs.push_back({std::move(names[i]), file.datasets().at("files/bytes").offset + end, lengths[i]});
    end += lengths[i];
  }
  if (end != all) {
    file.fail("files/lengths", "lengths of a sum of " + std::to_string(all), std::to_string(end));
  }
  return proofs;
}

}  // namespace tessera

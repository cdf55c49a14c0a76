#include "checkpoints/gguf/parts.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

#include "base/errors.hpp"
#include "base/text.hpp"

namespace tessera {
namespace {

constexpr std::uint64_t most_parts = 99999;  // five digits

std::string ending(std::uint64_t number, std::uint64_t count) {
  char text[32];
  std::snprintf(text, sizeof text, "-%05u-of-%05u.gguf", static_cast<unsigned>(number), static_cast<unsigned>(count));
  return text;
}

}  // namespace

std::vector<std::filesystem::path> parts_of(const std::filesystem::path& first, std::uint64_t count) {
  const std::string name = first.filename().string();
  if (count > most_parts || !name.ends_with(ending(1, count))) {
    throw InputError(first.string() + ": expected the first of " + std::to_string(count) + " parts, named " +
                     (count > most_parts ? "with five digits" : "*" + ending(1, count)) + ", found " +
                     quoted_name(name));
  }
  const std::string stem = name.substr(0, name.size() - ending(1, count).size());
  std::vector<std::filesystem::path> parts;
  for (std::uint64_t number = 1; number <= count; ++number) {
    parts.push_back(first.parent_path() / (stem + ending(number, count)));
  }
  return parts;
}

bool are_parts(const std::vector<std::string>& names) {
  if (names.size() < 2 || names.size() > most_parts || !names.front().ends_with(ending(1, names.size()))) {
    return false;
  }
  const std::vector<std::filesystem::path> parts = parts_of(names.front(), names.size());
  return std::ranges::equal(names, parts, {}, {}, [](const auto& part) { return part.string(); });
}

}  // namespace tessera

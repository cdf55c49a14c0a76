#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera {

/// Tokens that are cut out of a text where they stand literally: at the first place where one begins the longest that
/// does, then on behind it. Finding one takes at most (length of the longest) * log(number of tokens) steps a byte.
class AddedTokens {
 public:
  AddedTokens() = default;
  /// Texts that are not empty, with their ids; of equal texts the lowest id counts.
  explicit AddedTokens(std::vector<std::pair<std::string, std::uint32_t>> tokens);

  /// Calls text(std::string_view) for what lies between tokens, if anything does, and token(id), from left to right.
  template <class Text, class Token>
  void cut(std::string_view whole, Text&& text, Token&& token) const {
    std::size_t done = 0;
    for (std::size_t place = 0; place < whole.size();) {
      const auto* found = at(whole.substr(place));
      if (found == nullptr) {
        ++place;
        continue;
      }
      if (done < place) {
        text(whole.substr(done, place - done));
      }
      token(found->second);
      place += found->first.size();
      done = place;
    }
    if (done < whole.size()) {
      text(whole.substr(done));
    }
  }

 private:
  /// The longest token at the beginning of a text.
  [[nodiscard]] const std::pair<std::string, std::uint32_t>* at(std::string_view text) const;

  std::vector<std::pair<std::string, std::uint32_t>> tokens_;  // by text
  std::array<std::size_t, 257> first_{};                       // byte -> first token that begins with it or a later one
};

}  // namespace tessera

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// A token by its text; it may take the white space before (lstrip) and behind it along.
struct AddedToken {
  std::string text;
  std::uint32_t id = 0;
  bool lstrip = false, rstrip = false;
};

/// Tokens that are cut out of a text where they stand literally: at the first place where one begins the longest that
/// does, then on behind it. Finding one takes at most (length of the longest) * log(number of tokens) steps a byte.
class AddedTokens {
 public:
  AddedTokens() = default;
  /// Texts that are not empty; of equal ones the lowest id counts. `marks`: a space stands for SentencePiece's mark,
  /// which is no white space.
  explicit AddedTokens(std::vector<AddedToken> tokens, bool marks = false);

  /// Calls text(std::string_view) for what lies between tokens, if anything does, and token(id), from left to right.
  /// White space that one token takes is looked at for further tokens, but is no text. No token begins or ends with a
  /// byte at one of the `marks`, ascending places.
  template <class Text, class Token>
  void cut(std::string_view whole, std::span<const std::size_t> marks, Text&& text, Token&& token) const {
    std::size_t done = 0;
    for (std::size_t place = 0; place < whole.size();) {
      const AddedToken* found = at(whole, place, marks);
      if (found == nullptr) {
        ++place;
        continue;
      }
      const std::size_t begin = found->lstrip ? space_begin(whole, done, place) : place;
      if (done < begin) {
        text(whole.substr(done, begin - done));
      }
      token(found->id);
      place += found->text.size();
      // up to `done` it is white space if an earlier token has taken more than this one's text
      done = std::max(done, place);
      done = found->rstrip ? space_end(whole, done) : place;
    }
    if (done < whole.size()) {
      text(whole.substr(done));
    }
  }

 private:
  /// The longest token at a place of a text.
  [[nodiscard]] const AddedToken* at(std::string_view whole, std::size_t place,
                                     std::span<const std::size_t> marks) const;
  /// Where white space begins that ends at `end`, not before `least`.
  [[nodiscard]] std::size_t space_begin(std::string_view whole, std::size_t least, std::size_t end) const;
  /// Where white space ends that begins at `begin`.
  [[nodiscard]] std::size_t space_end(std::string_view whole, std::size_t begin) const;
  [[nodiscard]] bool is_space(char32_t code) const;

  std::vector<AddedToken> tokens_;        // by text
  std::array<std::size_t, 257> first_{};  // byte -> first token that begins with it or a later one
  bool marks_ = false;
};

}  // namespace tessera

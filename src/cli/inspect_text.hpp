#pragma once

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <string>

#include "datasets/proof_archive.hpp"

namespace tessera::cli {

/// Text that grows by formatted pieces.
class Text {
 public:
  __attribute__((format(printf, 2, 3))) void add(const char* format, ...) {
    std::va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int size = std::vsnprintf(nullptr, 0, format, arguments);
    va_end(arguments);
    const std::size_t end = text_.size();
    text_.resize(end + static_cast<std::size_t>(std::max(size, 0)) + 1);
    std::vsnprintf(text_.data() + end, text_.size() - end, format, again);
    va_end(again);
    text_.pop_back();  // the terminating NUL
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// A proof file, for a person.
void add_proof(Text& text, const ProofArchive& proof);

}  // namespace tessera::cli

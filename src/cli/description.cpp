#include "cli/description.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace tessera::cli {

Description& Description::field(const std::string& name, const Json& value) {
  if (form_ == Form::json) {
    document_.add(name, value);
  }
  return *this;
}

void Description::say(const char* format, ...) {
  if (form_ != Form::text) {
    return;
  }
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

}  // namespace tessera::cli

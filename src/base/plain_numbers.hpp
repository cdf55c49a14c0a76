#pragma once

#include <locale.h>  // NOLINT(modernize-deprecated-headers): of POSIX

namespace tessera {

/// While it lives, numbers of the C library have a point on this thread, whatever locale the program has chosen.
class PlainNumbers {
 public:
  PlainNumbers() : before_(::uselocale(plain())) {}
  ~PlainNumbers() { ::uselocale(before_); }
  PlainNumbers(const PlainNumbers&) = delete;
  PlainNumbers& operator=(const PlainNumbers&) = delete;

 private:
  static locale_t plain() {
    static const locale_t locale = ::newlocale(LC_ALL_MASK, "C", nullptr);
    return locale;
  }
  locale_t before_;
};

}  // namespace tessera

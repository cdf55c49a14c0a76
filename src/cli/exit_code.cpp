#include "cli/exit_code.hpp"

#include <csignal>
#include <new>
#include "base/errors.hpp"
#include "transcript/verifier.hpp"

namespace tessera::cli {
namespace {

/// The error's text, which may quote a stranger's file, on one line.
std::string text_of(const std::exception& error) { return printable(error.what()); }

/// Length of the well-formed UTF-8 character at `at`, 0 if there is none. Two ranges of C1 controls are excluded.
std::size_t character_length(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(at);
  const std::size_t length = lead < 0x80 ? 1 : lead >= 0xC2 && lead < 0xE0 ? 2 : lead >= 0xE0 && lead < 0xF0 ? 3 : 4;
  if ((lead >= 0x80 && lead < 0xC2) || lead > 0xF4 || at + length > text.size()) {
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0U) != 0x80U) {
      return 0;
    }
  }
  const unsigned second = length > 1 ? byte(at + 1) : 0;
  const bool malformed = (lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
                         (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F);
  // C1 controls, and what changes the direction or order of the text around it
  const unsigned third = length > 2 ? byte(at + 2) : 0;
  const bool control = (lead == 0xC2 && second < 0xA0) || (lead == 0xD8 && second == 0x9C) ||
                       (lead == 0xE2 && second == 0x80 && (third >= 0xA8 || (third >= 0x8B && third <= 0x8F))) ||
                       (lead == 0xE2 && second == 0x81 && third >= 0xA6 && third <= 0xA9);
  return malformed || control ? 0 : length;
}

}  // namespace

Failure describe(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Rejected& e) {
    return {rejected, "REJECTED at " + e.scope() + ": " + text_of(e)};
  } catch (const InputError& e) {
    return {unusable, text_of(e)};
  } catch (const JobError& e) {
    return {failed, text_of(e)};
  } catch (const std::bad_alloc&) {
    return {failed, "out of memory"};
  } catch (const std::exception& e) {
    return {failed, text_of(e)};
  }
}

void ignore_write_signals() {
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
}

std::string printable(const std::string& text) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const std::size_t length = byte < 0x20 || byte == 0x7F ? 0 : character_length(text, at);
    if (byte == '\n') {
      result.append("\\n");  // a line of the text never looks like a line of the program
      ++at;
    } else if (length == 0) {
      result.append("\\x").append(1, digits[byte >> 4U]).append(1, digits[byte & 15U]);
      ++at;
    } else {
      result.append(text, at, length);
      at += length;
    }
  }
  return result;
}

}  // namespace tessera::cli

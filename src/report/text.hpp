#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "report/view.hpp"

namespace tessera::report {

// What a report shows, as text for a template, which escapes it for HTML. None of it holds a character that does not
// show or that HTML forbids, whatever a file has.

inline constexpr std::size_t most_name = 200;        // bytes of a name, a reason, a file
inline constexpr std::size_t most_text = 1U << 16U;  // bytes of a conversation's part

/// A stranger's name on one line, clipped.
std::string shown(std::string_view text, std::size_t most = most_name);
/// A stranger's text to read, clipped, in pieces for templates/text.html: its lines stay, and what does not show is a
/// mark that no text can imitate.
View pieces(std::string_view text, std::size_t most = most_text);
/// A stranger's text to read, clipped, as plain text: lines stay, and marks are \u{...} and \xNN.
std::string readable(std::string_view text, std::size_t most = most_text);

/// "475,936".
std::string grouped(std::uint64_t value);
/// With so many digits after the point; a dash for what is no number, or none that was ever measured.
std::string fixed(double value, int digits);
/// "21.2 s", "0.43 s", "55 ms".
std::string duration(double seconds);
/// "178.0"; a dash for 0: not known.
std::string mebibytes(std::uint64_t bytes);
/// "38 %"; of nothing, a dash.
std::string share(double part, double whole);
/// "1 token", "2 tokens".
std::string count_of(std::uint64_t count, std::string_view thing);

}  // namespace tessera::report

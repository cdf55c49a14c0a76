#include "cli/content.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <string_view>

#include "archive/codeword_file.hpp"
#include "archive/file_image.hpp"
#include "archive/model_file.hpp"
#include "archive/state_file.hpp"
#include "archive/trace_file.hpp"
#include "base/text.hpp"
#include "datasets/gathered_proofs.hpp"
#include "datasets/hdf5_object.hpp"
#include "datasets/key_archive.hpp"
#include "datasets/proof_archive.hpp"
#include "datasets/renewal_archive.hpp"

namespace tessera::cli {
namespace {

namespace fs = std::filesystem;

/// How a content shows in a file: by the format of an HDF5 file of ours, or how its text begins.
struct Sign {
  Content content;
  std::string_view name;
  std::string_view format;
};
constexpr std::array signs{Sign{Content::model, "a model file", model_format},
                           Sign{Content::key, "a verifying key", key_format},
                           Sign{Content::codeword, "a codeword", codeword_format},
                           Sign{Content::codeword_rows, "rows of a codeword", shard_format},
                           Sign{Content::proof, "a proof file", proof_format},
                           Sign{Content::proofs, "an archive of proofs", gathered_format},
                           Sign{Content::renewal, "a renewal", renewal_format},
                           Sign{Content::state, "a conversation's state", state_format},
                           Sign{Content::state_rows, "a conversation's keys and values", state_rows_format},
                           Sign{Content::trace, "a trace", trace_format},
                           Sign{Content::checkpoint, "a checkpoint", ""},
                           Sign{Content::page, "a page of tessera report", ""},
                           Sign{Content::rates, "a file of rates", ""},
                           Sign{Content::ids, "a list of token ids", ""},
                           Sign{Content::log, "a log", ""}};

constexpr std::size_t head_bytes = 4096;
constexpr std::string_view hdf5_signature = "\x89HDF\r\n\x1a\n";

/// Nothing of a file that cannot be read.
std::optional<std::string> head_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    return std::nullopt;
  }
  std::string head(head_bytes, '\0');
  stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(stream.gcount()));
  return head;
}

/// The format of an HDF5 file of ours, of any version; empty of another one and of one that is damaged there.
std::string format_of(const fs::path& file) {
  try {
    const hdf5::Image image(map_file(file));
    return hdf5::ObjectHeader(image, image.root()).text_attribute("format", 64).value_or("");
  } catch (const hdf5::Damaged&) {
    return "";
  }
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Whether a file begins as progress lines do: with a date, or as JSON objects.
bool is_log(std::string_view head) {
  constexpr std::string_view date = "dddd-dd-dd dd:dd:dd ";
  const auto fits = [](char form, char found) {
    return form == 'd' ? std::isdigit(static_cast<unsigned char>(found)) != 0 : form == found;
  };
  return head.starts_with("{\"phase\":") || head.starts_with("{\"note\":") ||
         (head.size() >= date.size() && std::equal(date.begin(), date.end(), head.begin(), fits));
}

bool fits_text(std::string_view head, Content content, bool among_inputs);

/// UTF-8 without control characters, as far as it is read.
bool is_text(std::string_view head) {
  constexpr std::size_t longest = 4;  // bytes of a character, which the end may cut
  const std::string_view all = head;
  while (!head.empty()) {
    const Character character = first_character(head);
    if (character.length == 0) {
      return all.size() == head_bytes && head.size() < longest;
    }
    if (character.code < ' ' && std::string_view("\t\n\r\x1b").find(head.front()) == std::string_view::npos) {
      return false;
    }
    head.remove_prefix(character.length);
  }
  return true;
}

/// A text of ours that is no log: lines at its end would damage it. Counts of uses begin with our name, as checkpoints
/// do.
bool is_ours(std::string_view head) {
  return head.starts_with("tessera ") || fits_text(head, Content::page, false) ||
         fits_text(head, Content::rates, false) || fits_text(head, Content::ids, false);
}

bool fits_text(std::string_view head, Content content, bool among_inputs) {
  switch (content) {
    case Content::checkpoint:
      return head.starts_with("tessera checkpoint");
    case Content::page:
      return head.starts_with("<!DOCTYPE html>") && has(head, "<title>tessera report: ");
    case Content::rates:
      return has(head, "\"tessera rates\"");
    case Content::ids:
      return head.find_first_not_of("0123456789,\n") == std::string_view::npos;
    case Content::log:
      return is_log(head) || (!among_inputs && is_text(head) && !is_ours(head));
    default:
      return false;
  }
}

std::string text_name(std::string_view head) {
  return head.starts_with("GGUF")                 ? "a GGUF file"
         : head.starts_with("<!DOCTYPE html>")    ? "another page"
         : head.starts_with("tessera checkpoint") ? "a checkpoint"
                                                  : "another file";
}

}  // namespace

std::string name_of(Content content) { return std::string(std::ranges::find(signs, content, &Sign::content)->name); }

std::optional<std::string> other_content(const fs::path& file, Content content, Place place) {
  const std::optional<std::string> head = head_of(file);
  if (!head) {
    return "a file that cannot be read";
  }
  if (head->empty()) {
    return std::nullopt;
  }
  if (!head->starts_with(hdf5_signature)) {
    const bool fits = fits_text(*head, content, place == Place::among_inputs);
    return fits ? std::nullopt : std::optional(text_name(*head));
  }
  const std::string format = format_of(file);
  const auto found = format.empty() ? signs.end() : std::ranges::find(signs, format, &Sign::format);
  if (found == signs.end()) {
    const bool ours = place == Place::own_name && format.empty();
    return ours ? std::nullopt : std::optional<std::string>("an HDF5 file that is damaged or not of tessera");
  }
  return found->content == content ? std::nullopt : std::optional(std::string(found->name));
}

}  // namespace tessera::cli

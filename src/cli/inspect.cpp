#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <functional>

#include "archive/hdf5.hpp"
#include "archive/hiding_uses.hpp"
#include "archive/key_file.hpp"
#include "archive/library_image.hpp"
#include "archive/state_file.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/inspect_file.hpp"

namespace tessera::cli {
namespace {

Description::Form form_of(const InspectCommand& options) {
  return options.json ? Description::Form::json : Description::Form::text;
}

/// What a commitment directory is good for.
void inspect_commitment(const std::filesystem::path& directory, const InspectCommand& options) {
  const VerifyingKey key = load_key(directory / "verifying.key");
  const bool hiding = key.hiding_proofs > 0;
  const UseCount uses = hiding ? load_uses(directory, CountedKey::of(key)) : UseCount{};
  const std::string digest = to_hex(key.digest());
  Description description(form_of(options));
  description.field("file", directory.string()).field("format", "tessera commitment");
  description.field("key_digest", digest).field("hiding", hiding);
  description.say("%s: tessera commitment\nkey digest    %s\nhiding        %s\n", one_line(directory.string()).c_str(),
                  digest.c_str(), hiding ? "yes" : "no");
  if (hiding) {
    description.field("proofs", uses.proofs).field("proofs_begun", uses.used).field("proofs_left", uses.left());
    description.say("proofs        %" PRIu64 ", %" PRIu64 " begun, %" PRIu64 " left\n", uses.proofs, uses.used,
                    uses.left());
  }
  std::fputs(description.finish().c_str(), stdout);
}

/// Made by a confined process: it may be a stranger's file.
std::string described(const std::string& path, const std::function<std::string()>& describe) {
  const std::vector<std::uint8_t> bytes = read_isolated_by_library(
      path,
      [&describe] {
        const std::string description = describe();
        return std::vector<std::uint8_t>(description.begin(), description.end());
      },
      IsolationLimits::for_whole(path));
  return {bytes.begin(), bytes.end()};
}

void inspect_file(const std::string& path, const InspectCommand& options) {
  const std::string text = described(path, [&] { return describe_file(path, options.check, form_of(options)); });
  if (options.json && !is_safe_json(text)) {
    throw InputError(path + ": expected a readable file, found one that breaks the reader");
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
}

/// Where a conversation stands; with --check also whether its keys and values agree with their digests.
void inspect_state(const std::filesystem::path& directory, const InspectCommand& options) {
  inspect_file((directory / state_manifest).string(), options);
  if (!options.check) {
    return;
  }
  std::vector<std::string> parts;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().filename().string().starts_with(state_rows_prefix)) {
      parts.push_back(entry.path().string());
    }
  }
  std::ranges::sort(parts);
  for (const std::string& part : parts) {
    const std::string digest = described(part, [&] {
      const ReadFile file(part, state_rows_format);
      file.check_all();
      return to_hex(file.digest());
    });
    if (!options.json) {
      std::printf("%s: agrees with its digests, digest %s\n", one_line(part).c_str(), one_line(digest).c_str());
    }
  }
}

void inspect_directory(const std::filesystem::path& directory, const InspectCommand& options) {
  if (std::filesystem::exists(directory / "verifying.key")) {
    inspect_commitment(directory, options);
  } else if (std::filesystem::exists(directory / state_manifest)) {
    inspect_state(directory, options);
  } else {
    throw InputError(
        directory.string() +
        ": expected a directory with verifying.key, a commitment, or with state.h5, a state, found neither "
        "in it");
  }
}

}  // namespace

void run(const InspectCommand& options, Context& /*context*/) {
  if (std::filesystem::is_directory(options.file)) {
    inspect_directory(options.file, options);
  } else {
    inspect_file(options.file, options);
  }
}

}  // namespace tessera::cli

#include <tessera/expected.hpp>

#include <algorithm>
#include <array>
#include <string_view>

#include <tessera/sampling.hpp>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "hash/hex.hpp"
#include "protocol/seed.hpp"

namespace tessera {
namespace {

std::string name_of(const ExpectedIds& expected) {
  if (expected.kind == PromptKind::messages && expected.source.empty()) {
    return "the messages";
  }
  constexpr std::array<const char*, 3> kinds{"the text ", "the ids ", "the messages of "};
  return kinds[static_cast<std::size_t>(expected.kind)] + quoted_name(expected.source);
}

/// Where the ids of what is expected and those of a prompt part.
std::string difference(const ExpectedIds& expected, const std::vector<std::uint32_t>& prompt) {
  const auto [a, b] = std::mismatch(expected.ids.begin(), expected.ids.end(), prompt.begin(), prompt.end());
  const auto id = [](const auto& ids, const auto& place) {
    return place == ids.end() ? "none" : std::to_string(*place);
  };
  const std::string& text = expected.source;
  const bool ids_meant = expected.kind == PromptKind::text && !text.empty() &&  // perhaps
                         text.find_first_not_of("0123456789,") == std::string::npos;
  return "the prompt is not the expected one: its ids differ from those of " + name_of(expected) + " (" +
         counted(expected.ids.size(), "token") + ") at token " + std::to_string(a - expected.ids.begin() + 1) +
         ": expected " + id(expected.ids, a) + ", found " + id(prompt, b) +
         (ids_meant ? "; it was taken for a text: ids have an option of their own" : "");
}

std::string parameters_text(const std::optional<Sampling>& sampling) {
  return sampling ? sampling_text(*sampling) : "the arg-max (temperature=0)";
}

std::optional<std::string> unexpected_parameters(const std::string& expected, const std::optional<Sampling>& found) {
  std::optional<Sampling> wanted = parse_sampling(expected);
  if (wanted && found) {
    wanted->seed = found->seed;
  }
  if (wanted == found) {
    return std::nullopt;
  }
  return "tokens are not drawn as expected: expected " + parameters_text(wanted) + ", found " + parameters_text(found);
}

std::optional<std::string> unexpected_seed(const ExpectedSampling& expected, const std::optional<Sampling>& found) {
  Digest seed = digest_in(expected.seed);
  if (!expected.commitment.empty()) {
    const Digest opening = digest_in(expected.opening);
    if (blake2s(opening) != digest_in(expected.commitment)) {
      return "the seed's opening is not what its commitment is to";
    }
    seed = joint_seed(opening, seed);
  }
  if (found && found->seed == seed) {
    return std::nullopt;
  }
  return "the seed is not the expected one: expected " + to_hex(seed) + ", found " +
         (found ? to_hex(found->seed) : "none: tokens are the arg-max");
}

}  // namespace

void check_expected(ExpectedSampling& expected) {
  if (!expected.parameters.empty()) {
    try {
      (void)parse_sampling(expected.parameters);
    } catch (const InputError& error) {
      throw InputError(std::string("expected ") + error.what());
    }
  }
  struct Number {
    const char* name;
    std::string& digits;
  };
  for (const Number& number : {Number{"expected seed", expected.seed}, Number{"seed commitment", expected.commitment},
                               Number{"seed opening", expected.opening}}) {
    if (const std::string wrong = number.digits.empty() ? "" : check_digest(number.digits); !wrong.empty()) {
      throw InputError(std::string(number.name) + ": " + wrong);
    }
  }
  if (!expected.commitment.empty() && expected.seed.empty()) {
    throw InputError("expected seed: expected one beside a seed commitment, found none");
  }
  if (expected.commitment.empty() != expected.opening.empty()) {
    const bool open = expected.commitment.empty();
    throw InputError(std::string(open ? "seed commitment" : "seed opening") + ": expected one beside a seed " +
                     (open ? "opening" : "commitment") + ", found none");
  }
}

std::optional<std::string> unexpected(const Expected& expected, const Statement& statement) {
  ExpectedSampling sampling = expected.sampling;
  check_expected(sampling);
  if (expected.prompt && expected.prompt->ids != statement.prompt) {
    return difference(*expected.prompt, statement.prompt);
  }
  std::optional<std::string> reason;
  if (!sampling.parameters.empty()) {
    reason = unexpected_parameters(sampling.parameters, statement.sampling);
  }
  if (!reason && !sampling.seed.empty()) {
    reason = unexpected_seed(sampling, statement.sampling);
  }
  return reason;
}

}  // namespace tessera

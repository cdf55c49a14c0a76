#include "plan/sampling.hpp"

#include <algorithm>
#include <numeric>

#include "base/bits.hpp"
#include "base/errors.hpp"
#include "base/little_endian.hpp"
#include "parameters/table.hpp"
#include "plan/limits.hpp"
#include "plan/plan.hpp"

namespace tessera {
namespace {

using u128 = unsigned __int128;
constexpr unsigned logit_limit_bits = 48;  // the integer bounds of a model: |L| < 2^47

std::vector<std::int64_t> make_weights() {
  constexpr std::uint64_t ratio = 0xfff0007ffd556000;  // 2^64*exp(-1/4096), near enough
  std::vector<std::int64_t> weights(std::size_t{1} << weight_table_log_size);
  std::uint64_t exponential = std::uint64_t{1} << 62;
  for (std::size_t d = 0; d < static_cast<std::size_t>(far_distance); ++d) {
    weights[d] = static_cast<std::int64_t>((exponential + (std::uint64_t{1} << 39)) >> 40);
    exponential = static_cast<std::uint64_t>((static_cast<u128>(exponential) * ratio) >> 64);
  }
  return weights;
}

/// Where the token stands among the first `kept` candidates; `kept` if it does not.
std::uint32_t place_of(std::uint32_t token, std::span<const std::uint32_t> candidates, std::uint32_t kept) {
  const auto first = candidates.first(kept);
  return static_cast<std::uint32_t>(std::ranges::find(first, token) - first.begin());
}

/// What a statement that is sampled from the whole vocabulary cannot have.
void check_dense(const VerifyingKey& key, const Sampling& sampling, const std::string& prefix) {
  if (sampling.top_p != top_p_unit) {
    throw InputError(prefix + "top_p: expected " + std::to_string(top_p_unit) +
                     ", which leaves nothing out, without a top_k, found " + std::to_string(sampling.top_p));
  }
  check_limit("dense vocabulary", key.shape.n_vocab, prefix + "vocabulary");
}

/// Logits of dense statements have no range of their own: a*L, of any int16 rows and biases, and the other side of its
/// rounding, 2^S*(M - d - x) + rem - 2^(S-1), are equal as integers because they are less than |F| apart.
void check_dense_sides(const VerifyingKey& key, const Sampling& sampling, const SampledWidths& widths,
                       const std::string& prefix) {
  const u128 bias =
      key.shape.head_bias ? u128{1} << (15 + Shifts(key.shape, key.widths, key.exponents).of_bias(head_bias)) : 0;
  const auto less_than_field = [&](unsigned tempering) {
    const u128 product = ((static_cast<u128>(key.shape.n_embd) << (key.widths.final_bits + 14)) + bias) << tempering;
    const u128 rounded = (u128{1} << (widths.logit_bits + tempering + 1)) + (u128{1} << (widths.shift + 17));
    return product + rounded < F::modulus;
  };
  const unsigned found = ceil_log2(sampling.inverse_temperature);
  unsigned most = found;
  while (most > 0 && !less_than_field(most)) {
    --most;
  }
  if (most < found) {
    throw InputError(prefix + "inverse temperature: expected at most " + std::to_string(std::uint64_t{1} << most) +
                     " with n_embd = " + std::to_string(key.shape.n_embd) +
                     " and final_bits = " + std::to_string(key.widths.final_bits) +
                     " and no top_k, so that scores are numbers of the field, found " +
                     std::to_string(sampling.inverse_temperature));
  }
}

}  // namespace

const std::vector<std::int64_t>& weight_table() {
  static const std::vector<std::int64_t> weights = make_weights();
  return weights;
}

std::uint64_t uniform_at(const Digest& seed, std::uint64_t position) {
  std::vector<std::uint8_t> message;
  for (const char c : std::string_view("tessera sampling")) {
    message.push_back(static_cast<std::uint8_t>(c));
  }
  message.insert(message.end(), seed.begin(), seed.end());
  append_little_endian(message, position);
  const Digest digest = blake2s(message);
  return read_little_endian<std::uint64_t>(digest.data()) & ((std::uint64_t{1} << 48) - 1);
}

std::array<std::uint64_t, uniform_limbs> limbs_of(std::uint64_t uniform) {
  return {uniform & 0xFFFF, uniform >> 16 & 0xFFFF, uniform >> 32};
}

UniformHit hit_of(const std::array<std::uint64_t, uniform_limbs>& limbs, std::int64_t sum) {
  UniformHit hit;
  std::int64_t carry = 0;
  for (std::size_t i = 0; i < uniform_limbs; ++i) {
    carry += static_cast<std::int64_t>(limbs[i]) * sum;
    hit.remainder[i] = carry & 0xFFFF;
    carry >>= 16;
    hit.quotient[i] = carry;
  }
  return hit;
}

SampledWidths check_sampling(const VerifyingKey& key, const Sampling& sampling, std::size_t generated) {
  constexpr auto prefix = "statement: sampling: ";
  if (key.hiding_proofs > 0 && !sampling.dense()) {
    throw InputError(std::string(prefix) +
                     "top_k: expected none, because the key is hiding and candidates are shown in clear, found " +
                     std::to_string(sampling.top_k));
  }
  const auto check = [&](std::string_view limit, auto value) {
    check_limit(limit, value, prefix + std::string(limit));
  };
  check("inverse temperature", sampling.inverse_temperature);
  check("top_p", sampling.top_p);
  check("cutoff", sampling.cutoff);
  if (sampling.dense()) {
    check_dense(key, sampling, prefix);
  } else {
    check("top_k", sampling.top_k);
    check("candidates", std::size_t{sampling.top_k} * generated);
  }
  if (sampling.top_k > key.shape.n_vocab) {
    throw InputError(std::string(prefix) + "top_k: expected at most the vocabulary's " +
                     std::to_string(key.shape.n_vocab) + ", found " + std::to_string(sampling.top_k));
  }
  const ParameterRow matrix = parameter_row(key.shape, key.shape.tied ? embedding : head);
  SampledWidths widths;
  widths.shift = key.exponents[scales::uf] + key.exponents[matrix.scale(key.shape)];
  check(sampling.dense() ? "shift of dense sampling" : "shift of sampling", widths.shift);
  // of any int16 rows and biases: products up to 2^(products + 14), biases up to 2^(15 + b)
  const unsigned products = ceil_log2(key.shape.n_embd) + key.widths.final_bits;
  const unsigned biases =
      key.shape.head_bias ? static_cast<unsigned>(Shifts(key.shape, key.widths, key.exponents).of_bias(head_bias)) + 1
                          : 0;
  const unsigned worst = std::max(products, biases) + 16;
  widths.logit_bits = std::min(logit_limit_bits, worst);
  const unsigned tempered = widths.logit_bits + ceil_log2(sampling.inverse_temperature);
  check(sampling.dense() ? "bits of dense tempered logits" : "bits of tempered logits", tempered);
  const int bits = static_cast<int>(tempered) + 1 - widths.shift;
  check("bits of sampled logits", bits);
  widths.score_bits = static_cast<unsigned>(bits);
  if (sampling.dense()) {
    check_dense_sides(key, sampling, widths, prefix);
  }
  return widths;
}

Choice choose(std::span<const std::int64_t> logits, const Sampling& sampling, int shift, std::uint64_t position) {
  Choice choice;
  const std::vector<std::int64_t>& weights = weight_table();
  std::vector<std::int64_t> sums{0};  // of the first weights
  for (const std::int64_t logit : logits) {
    choice.scores.push_back(score_of(logit, sampling, shift));
    const std::int64_t distance = choice.scores.front() - choice.scores.back();
    const bool counts = distance <= static_cast<std::int64_t>(sampling.cutoff);
    choice.within += counts ? 1 : 0;
    choice.weights.push_back(counts ? weights[static_cast<std::size_t>(distance)] : 0);
    sums.push_back(sums.back() + choice.weights.back());
  }
  while ((sums[choice.kept] << 16) < sums.back() * sampling.top_p) {
    ++choice.kept;
  }
  const std::uint64_t uniform = uniform_at(sampling.seed, position);
  choice.limbs = limbs_of(uniform);
  const auto hit =
      static_cast<std::int64_t>((static_cast<u128>(uniform) * static_cast<std::uint64_t>(sums[choice.kept])) >> 48);
  while (sums[choice.chosen + 1] <= hit) {
    ++choice.chosen;
  }
  return choice;
}

const Candidates& Candidates::none() {
  static const Candidates nothing;
  return nothing;
}

Candidates receive_candidates(VerifierView<E>& transcript, const Plan& plan, std::size_t vocabulary,
                              const Statement& statement) {
  Candidates result;
  if (!plan.pass.sampling || plan.pass.sampling->dense()) {
    return result;
  }
  const std::size_t rows = plan.generated;
  result.top_k = plan.pass.sampling->top_k;
  const std::vector<std::uint8_t> ids =
      transcript.receive_bytes("candidates", rows * result.top_k * sizeof(std::uint32_t));
  const std::vector<std::uint8_t> counts = transcript.receive_bytes("counts", rows * 2 * sizeof(std::uint16_t));
  for (std::size_t i = 0; i < rows * result.top_k; ++i) {
    result.ids.push_back(read_little_endian<std::uint32_t>(ids.data() + i * sizeof(std::uint32_t)));
    transcript.check(result.ids.back() < vocabulary, "a candidate that is no token");
  }
  for (std::size_t row = 0; row < rows; ++row) {
    const std::uint8_t* const pair = counts.data() + row * 2 * sizeof(std::uint16_t);
    // an account has nothing but zeros
    const std::uint32_t within = read_little_endian<std::uint16_t>(pair);
    const std::uint32_t kept = read_little_endian<std::uint16_t>(pair + sizeof(std::uint16_t));
    transcript.check(1 <= kept && kept <= within && within <= result.top_k, "counts of candidates out of order");
    result.within.push_back(std::max(within, 1U));
    result.kept.push_back(std::max(kept, 1U));
    const std::uint32_t place = place_of(statement.generated[row], result.of(row), result.kept.back());
    transcript.check(place < result.kept.back(), "a generated token is none of the candidates that are kept");
    result.chosen.push_back(place);
  }
  return result;
}

}  // namespace tessera

#pragma once

#include <random>

#include "opening/batch.hpp"
#include "opening/opening.hpp"
#include "words/salted_leaves.hpp"
#include "opening/vector_masks.hpp"
#include "derivative.hpp"
#include "field/encoding.hpp"
#include "frozen_challenges.hpp"
#include "other_masks.hpp"
#include "plan/hiding.hpp"
#include "plan/hiding_witness.hpp"

#include "../tensor/random_values.hpp"
#include "seed.hpp"

namespace tessera::test {

/// Row variables of the oracle of parameters and of the witness.
struct OpeningRows {
  unsigned parameters, witness;
};

/// Rows of the oracles, and columns of their random tails.
struct OpeningSizes {
  OracleParameters parameters, witness;
  std::size_t parameter_tail = 0, witness_tail = 0;
};

/// What is committed to and not random.
struct OpeningValues {
  ChunkedTensor<std::int64_t> weights, activations;

  explicit OpeningValues(std::uint64_t seed) : weights(shape(), {}, 0, 1), activations(shape(), {}, 0, 1) {
    std::mt19937_64 random(seed);
    for (auto* const tensor : {&weights, &activations}) {
      for (std::size_t i = 0; i < shape().dimensions().front().length; ++i) {
        tensor->values()[i] = static_cast<std::int16_t>(random());
      }
    }
  }
  static Shape shape() { return Shape({Dimension::whole(100)}); }
};

/// The opening of a small hiding proof: all kinds of claims, of constraints and of random cells. What is sent before it
/// is public and the same whatever the values are: m_0, m_1 on weights, m_2, m_3 on activations, m_4 = m_0*m_1, each
/// with a pad; left and right of the products {pad_0*pad_1, random pair} at a point, in clear; that of the products,
/// padded.
class HidingOpening {
 public:
  static constexpr std::size_t pads = 6;

  HidingOpening(const OpeningSizes& sizes, const OpeningValues& values, const Digest& seed)
      : seed_(seed),
        sizes_(sizes),
        values_(values),
        vector_(seed_of("vector masks"), "vector masks"),
        parameter_tail_(columns_shape(sizes.parameter_tail, sizes.parameters.log_rows), {}, 0, 1),
        witness_tail_(columns_shape(sizes.witness_tail, sizes.witness.log_rows), {}, 0, 1) {
    const unsigned row_variables = std::max(sizes.parameters.log_rows, sizes.witness.log_rows);
    row_masks_.resize(1 + 2 * std::size_t{row_variables});
    const Dimension coordinate = Dimension::whole(2);
    const Shape products({Dimension::whole(2), coordinate});
    // 2^9 columns, however few are used: else a tail that is one shorter may halve the domain and need more positions
    const OracleLayout parameters({OpeningValues::shape(), parameter_tail_.shape()}, sizes.parameters.log_rows + 9);
    OracleLayout witness(
        {OpeningValues::shape(), Shape({Dimension::whole(pads), coordinate}), products, products, products,
         columns_shape(2 * row_masks_.size(), sizes.witness.log_rows), witness_tail_.shape()},
        parameters.log_size() - sizes.parameters.log_rows + sizes.witness.log_rows);
    for (std::size_t i = 1; i <= cells_.size(); ++i) {
      cells_[i - 1] = ChunkedTensor<std::int64_t>(witness.tensors()[i], {}, 0, 1);
    }
    oracles_ = {{parameters, sizes.parameters, {}, salt_elements},
                {std::move(witness), sizes.witness, {}, salt_elements}};
    schedule_ = opening_schedule(oracles_);
    vector_elements_.resize(static_cast<std::size_t>(VectorMasks::size(schedule_)));
    make_statement();
  }

  /// Random elements of F: both coordinates of the row masks and of what is added to vectors, cells of tails.
  enum Part : std::size_t { rows, vector, parameter_tail, witness_tail, parts };
  [[nodiscard]] std::size_t size(Part part) const {
    switch (part) {
      case rows:
        return 2 * row_masks_.size();
      case vector:
        return 2 * vector_elements_.size();
      case parameter_tail:
        return sizes_.parameter_tail << sizes_.parameters.log_rows;
      default:
        return sizes_.witness_tail << sizes_.witness.log_rows;
    }
  }
  using Randomness = std::array<std::vector<F>, parts>;
  [[nodiscard]] Randomness draw(std::uint64_t seed) const {
    std::mt19937_64 random(seed);
    Randomness drawn;
    for (std::size_t part = 0; part < parts; ++part) {
      drawn[part].resize(size(static_cast<Part>(part)));
      std::ranges::generate(drawn[part], [&] { return F::from_unsigned(random()); });
    }
    return drawn;
  }

  /// Proves. Reads ::sent() and so on afterwards.
  FreezableProver prove(const Randomness& randomness) {
    set(randomness);
    FreezableProver transcript(seed_);
    transcript.set_listener(
        {.draws = [&](const std::vector<std::size_t>& drawn) { positions_.push_back(distinct_positions(drawn)); }});
    positions_.clear();
    const GivenMasks masks(vector_, vector_elements_);
    const std::vector<OracleWitness> witnesses{{parameter_tensors(), parameter_store_.get()},
                                               {witness_tensors(), witness_store_.get()}};
    prove_hiding_opening(transcript, oracles_, witnesses, hidden_, hiding_, {row_masks_, &masks}, comm_);
    return transcript;
  }

  /// All elements of F that are sent.
  std::vector<F> sent(const Randomness& randomness) { return elements_sent(prove(randomness)); }

  /// Throws Rejected. `lie`: added to the first claim's value.
  void verify(std::span<const std::uint8_t> payload, E lie = {}) const {
    FreezableVerifier transcript(seed_, payload);
    auto claims = hidden_;
    claims.front().front().value += Affine(lie);
    verify_hiding_opening(transcript, oracles_, claims, hiding_);
    transcript.finish();
  }

  /// Of the last proof: in the parameters, the witness, the vectors.
  [[nodiscard]] const std::vector<std::vector<std::size_t>>& positions() const { return positions_; }
  [[nodiscard]] const OpeningSchedule& schedule() const { return schedule_; }
  /// Asks for work before every challenge for a row variable.
  void ask_row_work(unsigned bits) {
    for (CommittedOracle& oracle : oracles_) {
      oracle.row_work = bits;
    }
  }
  [[nodiscard]] CodewordStore& parameter_store() const { return *parameter_store_; }

 private:
  static constexpr std::size_t pad = 1, left = 2, right = 3, product = 4, mask = 5;  // tensors of the witness

  static void set_cell(ChunkedTensor<std::int64_t>& tensor, std::size_t index, E value) {
    tensor.values()[2 * index] = signed_value(value.c0);
    tensor.values()[2 * index + 1] = signed_value(value.c1);
  }

  /// Claims and constraints; pads and random pair so that what is public comes out.
  void make_statement() {
    std::mt19937_64 random(7);
    const auto draw = [&] { return E{F::from_unsigned(random()), F::from_unsigned(random())}; };
    std::array<E, pads> masked, value, own;
    std::ranges::generate(masked, draw);
    std::array<std::vector<Factor>, 4> weights;
    for (std::size_t i = 0; i < 4; ++i) {
      Point point(7);
      std::ranges::generate(point, draw);
      weights[i] = {Factor::at(point)};
      const std::vector<E> table = weights[i].front().table();
      const ChunkedTensor<std::int64_t>& tensor = i < 2 ? values_.weights : values_.activations;
      for (std::size_t x = 0; x < table.size(); ++x) {
        value[i] += table[x] * F::from_signed(tensor.values()[x]);
      }
    }
    value[4] = value[0] * value[1];
    for (std::size_t i = 0; i < 5; ++i) {
      own[i] = masked[i] - value[i];
    }
    const Point at{draw()};
    const std::array<E, 2> factors{draw(), draw()};  // left, right at that point
    std::array<E, 2> pair;
    for (std::size_t i = 0; i < 2; ++i) {
      pair[i] = (factors[i] - (E::one() - at[0]) * own[i]) * at[0].inverse();
    }
    value[5] = (E::one() - at[0]) * own[0] * own[1] + at[0] * pair[0] * pair[1];
    own[5] = masked[5] - value[5];
    for (std::size_t i = 0; i < pads; ++i) {
      set_cell(cells_[0], i, own[i]);
    }
    set_cell(cells_[1], 0, own[0]), set_cell(cells_[1], 1, pair[0]);
    set_cell(cells_[2], 0, own[1]), set_cell(cells_[2], 1, pair[1]);
    set_cell(cells_[3], 0, own[0] * own[1]), set_cell(cells_[3], 1, pair[0] * pair[1]);

    using Kind = HiddenCell::Kind;
    const auto cell = [](Kind kind, std::uint32_t index) { return Affine(E{}, {{{kind, index}, E::one()}}); };
    const auto received = [&](std::uint32_t i) { return Affine(masked[i]) - cell(Kind::pad, i); };
    for (std::size_t i = 0; i < 4; ++i) {
      hidden_[i / 2].push_back({{0, weights[i]}, received(static_cast<std::uint32_t>(i))});
    }
    const std::vector<Factor> weight{Factor::at(at), Factor::of({E::one(), E{F::zero(), F::one()}})};
    for (std::size_t i = 0; i < 2; ++i) {
      hidden_[1].push_back({{left + i, weight}, factors[i]});
    }
    hidden_[1].push_back({{product, weight}, received(5)});
    hiding_.cells = {pad, left, right, product};
    hiding_.masks = mask;
    hiding_.constraints = {cell(Kind::left, 0) - cell(Kind::pad, 0), cell(Kind::right, 0) - cell(Kind::pad, 1),
                           Affine(masked[0] * masked[1]) - masked[0] * cell(Kind::pad, 1) -
                               masked[1] * cell(Kind::pad, 0) + cell(Kind::product, 0) - received(4)};
  }

  void set(const Randomness& randomness) {
    for (std::size_t i = 0; i < row_masks_.size(); ++i) {
      row_masks_[i] = {randomness[rows][2 * i], randomness[rows][2 * i + 1]};
      for (std::size_t row = 0; row < std::size_t{1} << sizes_.witness.log_rows; ++row) {
        cells_[4].values()[((2 * i) << sizes_.witness.log_rows) + row] = signed_value(row_masks_[i].c0);
        cells_[4].values()[((2 * i + 1) << sizes_.witness.log_rows) + row] = signed_value(row_masks_[i].c1);
      }
    }
    for (std::size_t i = 0; i < vector_elements_.size(); ++i) {
      vector_elements_[i] = {randomness[vector][2 * i], randomness[vector][2 * i + 1]};
    }
    std::ranges::transform(randomness[witness_tail], witness_tail_.values().begin(), signed_value);
    const bool same = parameter_store_ && randomness[parameter_tail] == last_parameters_;
    if (!same) {
      last_parameters_ = randomness[parameter_tail];
      std::ranges::transform(last_parameters_, parameter_tail_.values().begin(), signed_value);
      parameter_store_ =
          commit_oracle(oracles_[0].layout, oracles_[0].parameters, parameter_tensors(), comm_, default_codeword_budget,
                        std::make_shared<SaltedLeaves>(parameter_salt_, salt_elements));
      oracles_[0].root = parameter_store_->root();
    }
    witness_store_ =
        commit_oracle(oracles_[1].layout, oracles_[1].parameters, witness_tensors(), comm_, default_codeword_budget,
                      std::make_shared<SaltedLeaves>(witness_salt_, salt_elements));
    oracles_[1].root = witness_store_->root();
  }

  [[nodiscard]] std::vector<IntegerTensor> parameter_tensors() const { return {&values_.weights, &parameter_tail_}; }
  [[nodiscard]] std::vector<IntegerTensor> witness_tensors() const {
    return {&values_.activations, &cells_[0], &cells_[1], &cells_[2], &cells_[3], &cells_[4], &witness_tail_};
  }

  Digest seed_;
  OpeningSizes sizes_;
  const OpeningValues& values_;
  KeyedStream vector_;
  std::shared_ptr<const KeyedStream> parameter_salt_ =
      std::make_shared<KeyedStream>(seed_of("secret"), "parameter salt");
  std::shared_ptr<const KeyedStream> witness_salt_ = std::make_shared<KeyedStream>(seed_of("seed"), "salt");
  SelfCommunicator comm_;
  std::array<ChunkedTensor<std::int64_t>, 5> cells_;  // pads, left, right, products, row masks
  ChunkedTensor<std::int64_t> parameter_tail_, witness_tail_;
  std::vector<E> row_masks_, vector_elements_;
  std::vector<F> last_parameters_;
  std::vector<CommittedOracle> oracles_;
  OpeningSchedule schedule_;
  std::vector<std::vector<ClaimOf<Affine>>> hidden_{2};
  HidingClaims hiding_;
  std::unique_ptr<CodewordStore> parameter_store_, witness_store_;
  std::vector<std::vector<std::size_t>> positions_;
};

}  // namespace tessera::test

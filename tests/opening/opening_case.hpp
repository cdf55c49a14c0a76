#pragma once

#include <algorithm>
#include <random>
#include "words/codeword.hpp"
#include "opening/opening.hpp"

#include "../tensor/random_values.hpp"

namespace tessera::test {

/// Two oracles of unequal size and all kinds of tensors, sharded over a communicator's ranks.
struct OpeningCase {
  static std::vector<Shape> parameter_shapes() {
    return {Shape({Dimension::outer(3), Dimension::tiled(96), Dimension::tiled(192)}),  // chunks 1 x 32 x 64
            Shape({Dimension::whole(5)}),                                               // padded
            Shape({Dimension::outer(3), Dimension::tiled(192)}),                        // padded biases
            Shape({Dimension{40, 6}, Dimension{130, 7}})};
  }
  static std::vector<Shape> witness_shapes() {
    return {Shape({Dimension::outer(2), Dimension{256, 6}, Dimension{256, 6}}, Presence::causal),
            Shape({Dimension::outer(2), Dimension::tiled(96), Dimension::whole(2)}),
            Shape({Dimension::outer(3), Dimension::whole(2)}),
            Shape({Dimension::whole(4), Dimension::whole(300), Dimension::outer(2)})};
  }
  /// 80 rows in two bands, and 16.
  static std::vector<OracleParameters> usual_parameters() { return {{7, 1, 48}, {4, 2}}; }

  explicit OpeningCase(Communicator& comm, const std::vector<OracleParameters>& parameters = usual_parameters())
      : weights(filled<std::int16_t>(parameter_shapes()[0], {1}, 1, comm)),
        tiny(filled<std::int32_t>(parameter_shapes()[1], {}, 2, comm)),
        bias(filled<std::int16_t>(parameter_shapes()[2], {1}, 3, comm)),
        wide(filled<std::uint16_t>(parameter_shapes()[3], {1}, 4, comm)),
        scores(filled<std::uint16_t>(witness_shapes()[0], {0}, 5, comm)),
        tokens(filled<std::int16_t>(witness_shapes()[1], {1}, 6, comm)),
        pairs(filled<std::int64_t>(witness_shapes()[2], {0}, 7, comm)),
        counts(filled<std::int32_t>(witness_shapes()[3], {}, 8, comm)) {
    const std::vector<std::vector<Shape>> shapes{parameter_shapes(), witness_shapes()};
    witnesses = {{{&weights, &tiny, &bias, &wide}, nullptr}, {{&scores, &tokens, &pairs, &counts}, nullptr}};
    for (std::size_t j = 0; j < 2; ++j) {
      OracleLayout layout(shapes[j], parameters[j]);
      stores.push_back(commit_oracle(layout, parameters[j], witnesses[j].tensors, comm));
      witnesses[j].codeword = stores[j].get();
      oracles.push_back({std::move(layout), parameters[j], stores[j]->root()});
    }
  }
  OpeningCase(const OpeningCase&) = delete;
  OpeningCase& operator=(const OpeningCase&) = delete;

  /// An oracle's matrix by definition, column after column of all 2^log_rows rows: value i of a chunk is in row i mod
  /// 2^r of its band of 2^r rows, and in the chunk's first column + i / 2^r. All chunks must be held here.
  static std::vector<F> matrix(const OracleLayout& layout, const OracleParameters& parameters,
                               const std::vector<IntegerTensor>& tensors) {
    std::vector<F> cells(std::size_t{1} << (layout.log_columns(parameters) + parameters.log_rows));
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      std::visit(
          [&](const auto* tensor) {
            for (std::size_t chunk = 0; chunk < tensor->shape().chunk_count(); ++chunk) {
              const RowBand band = parameters.band(layout.band(t, chunk));
              for (std::size_t i = 0; i < tensor->chunk(chunk).size(); ++i) {
                const std::size_t place = layout.offset(t, chunk) + i;
                const std::size_t column = place / band.rows();
                cells[(column << parameters.log_rows) + band.first + place % band.rows()] =
                    F::from_signed(static_cast<std::int64_t>(tensor->chunk(chunk)[i]));
              }
            }
          },
          tensors[t]);
    }
    return cells;
  }

  /// <w, T> by definition. All chunks must be held here.
  static E naive_value(const IntegerTensor& tensor, const std::vector<Factor>& weight) {
    std::vector<std::vector<E>> tables;
    for (const Factor& factor : weight) {
      tables.push_back(factor.table());
    }
    return std::visit(
        [&](const auto* t) {
          const Shape& shape = t->shape();
          E total;
          for (std::size_t chunk = 0; chunk < shape.chunk_count(); ++chunk) {
            for (std::size_t x = 0; x < shape.chunk_size(); ++x) {
              E product = E::from_signed(static_cast<std::int64_t>(t->chunk(chunk)[x]));
              std::size_t inner = x;
              for (std::size_t d = tables.size(); d-- > 0;) {
                const Dimension& dimension = shape.dimensions()[d];
                const std::size_t place = inner & (dimension.chunk() - 1);
                inner >>= dimension.log_chunk;
                product *= tables[d][(shape.coordinate(chunk, d) << dimension.log_chunk) + place];
              }
              total += product;
            }
          }
          return total;
        },
        tensor);
  }

  ChunkedTensor<std::int16_t> weights;
  ChunkedTensor<std::int32_t> tiny;
  ChunkedTensor<std::int16_t> bias;
  ChunkedTensor<std::uint16_t> wide;
  ChunkedTensor<std::uint16_t> scores;
  ChunkedTensor<std::int16_t> tokens;
  ChunkedTensor<std::int64_t> pairs;
  ChunkedTensor<std::int32_t> counts;
  std::vector<OracleWitness> witnesses;
  std::vector<std::unique_ptr<CodewordStore>> stores;
  std::vector<CommittedOracle> oracles;
};

/// Random claims of every kind on every tensor: points, one-hot, ones, explicit vectors over the whole dimension, mixed
/// head and tail.
inline std::vector<std::vector<Claim>> random_claims(const OpeningCase& full) {
  std::mt19937_64 random(99);
  const auto draw = [&] { return E{F::from_unsigned(random()), F::from_unsigned(random())}; };
  const auto vector = [&](std::size_t n) {
    std::vector<E> values(n);
    std::ranges::generate(values, draw);
    return values;
  };
  const auto factor = [&](unsigned bits, std::size_t kind) -> Factor {
    switch (kind) {
      case 1:
        return Factor::one_hot(bits, random() % (std::size_t{1} << bits));
      case 2:
        return Factor::ones(bits);
      case 3:
        return Factor::of(vector(std::size_t{1} << bits));
      case 4:
        return {vector(std::size_t{1} << (bits - bits / 2)), vector(bits / 2)};
      default:
        return Factor::at(vector(bits));
    }
  };
  std::vector<std::vector<Claim>> claims(2);
  for (std::size_t j = 0; j < 2; ++j) {
    for (std::size_t t = 0; t < full.oracles[j].layout.tensors().size(); ++t) {
      const auto& dimensions = full.oracles[j].layout.tensors()[t].dimensions();
      for (std::size_t kind = 0; kind < 5; ++kind) {
        Claim claim{t, {}, {}};
        for (std::size_t d = 0; d < dimensions.size(); ++d) {
          claim.weight.push_back(factor(dimensions[d].bits(), d == kind % dimensions.size() ? kind : (kind + d) % 3));
        }
        claim.value = OpeningCase::naive_value(full.witnesses[j].tensors[t], claim.weight);
        claims[j].push_back(std::move(claim));
      }
    }
  }
  return claims;
}

}  // namespace tessera::test

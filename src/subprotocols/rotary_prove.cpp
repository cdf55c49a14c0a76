#include "subprotocols/claim_reduction.hpp"
#include "subprotocols/rotary.hpp"
#include "plan/prover_context.hpp"

namespace tessera {
namespace {

/// A vector over (R,I,T): first and second half of a head.
struct Halves {
  std::span<E> first, second;
  explicit Halves(std::span<E> values)
      : first(values.first(values.size() / 2)), second(values.last(values.size() / 2)) {}
};

/// 1/(cos^2 + sin^2) by (i, row): one inversion for all.
std::vector<F> inverse_squares(const Rotary& rotary, std::size_t rows) {
  std::vector<F> squares(rotary.half * rows);
  for (std::size_t t = 0; t < rows; ++t) {
    for (std::size_t i = 0; i < rotary.half; ++i) {
      const std::int64_t cos = rotary.cos(t)[i];
      const std::int64_t sin = rotary.sin(t)[i];
      squares[i * rows + t] = F::from_signed(cos * cos + sin * sin);
    }
  }
  std::vector<F> products(squares.size());  // of those before
  F product = F::one();
  for (std::size_t x = 0; x < squares.size(); ++x) {
    products[x] = product;
    product *= squares[x];
  }
  F inverse = product.inverse();
  for (std::size_t x = squares.size(); x-- > 0;) {
    products[x] *= inverse;
    inverse *= squares[x];
  }
  return products;
}

/// X from Y over (R,I,T): turned back by the transposed rotation, which is cos^2 + sin^2 times the inverse.
void turn_back(const Rotary& rotary, std::span<const F> inverses, std::size_t rows, std::span<E> values) {
  const Halves halves(values);
  for (std::size_t i = 0; i < rotary.half; ++i) {
    for (std::size_t t = 0; t < rows; ++t) {
      const std::size_t x = i * rows + t;
      const F cos = F::from_signed(rotary.cos(t)[i]) * inverses[x];
      const F sin = F::from_signed(rotary.sin(t)[i]) * inverses[x];
      const E first = halves.first[x];
      const E second = halves.second[x];
      halves.first[x] = first * cos + second * sin;
      halves.second[x] = second * cos - first * sin;
    }
  }
}

/// scale*Rot(r; .) over (R,I,T).
std::vector<E> rotation_table(const Rotary& rotary, const TensorPoint& r, E scale) {
  const std::size_t n = r.size();
  const E second_half = r[n - 3].front() * scale;
  const E first_half = scale - second_half;
  const std::vector<E> place = eq_table(r[n - 2]);
  const std::vector<E> token = eq_table(r[n - 1]);
  std::vector<E> table(2 * place.size() * token.size());
  const Halves halves(table);
  for (std::size_t i = 0; i < rotary.half; ++i) {
    for (std::size_t t = 0; t < token.size(); ++t) {
      const F cos = F::from_signed(rotary.cos(t)[i]);
      const F sin = F::from_signed(rotary.sin(t)[i]);
      const E weight = place[i] * token[t];
      halves.first[i * token.size() + t] = weight * (first_half * cos + second_half * sin);
      halves.second[i * token.size() + t] = weight * (second_half * cos - first_half * sin);
    }
  }
  return table;
}

}  // namespace

std::vector<E> unrounded(ProverContext& context, const RangeCheck& check, const IntegerTensor& quotient,
                         const IntegerTensor& remainder, const std::vector<Exception>& exceptions,
                         const TensorPoint& at) {
  std::vector<Axis> axes;
  E present = E::one();
  for (std::size_t j = 0; j + 3 < at.size(); ++j) {
    axes.emplace_back(eq_table(at[j]));
    present *= less_than(at[j], check.shape.dimensions()[j].chunk_count());
  }
  axes.resize(at.size());
  std::vector<E> values = contract(quotient, check.shape, axes, context.comm);
  for (const Exception& entry : exceptions) {
    const std::vector<std::size_t> indices = place_indices(check.shape, entry.place);
    E weight = E::from_signed(entry.excess);
    std::size_t x = 0;
    for (std::size_t j = 0; j < indices.size(); ++j) {
      if (axes[j]) {
        weight *= eq_index(at[j], indices[j]);
      } else {
        x = (x << check.shape.dimensions()[j].bits()) + indices[j];
      }
    }
    values[x] += weight;
  }
  const std::vector<E> rest = contract(remainder, check.shape, axes, context.comm);
  const F power = two_to_the(check.width);
  const E half = present * two_to_the(check.width - 1);
  const Dimension& rows = check.shape.dimensions().back();
  for (std::size_t x = 0; x < values.size(); ++x) {
    values[x] = values[x] * power + rest[x];
    if ((x & ((std::size_t{1} << rows.bits()) - 1)) < rows.filled()) {
      values[x] -= half;
    }
  }
  return values;
}

std::vector<PointClaim> prove_rotation(ProverContext& context, const Rotary& rotary,
                                       std::span<const TensorPoint> rotated, std::span<const std::vector<E>> values) {
  const auto scope = context.transcript.scope("rotary");
  const std::size_t n = rotated.size();
  const std::vector<E> scale = powers(n > 1 ? context.transcript.challenge("lambda") : E::one(), n);
  const std::size_t rows = std::size_t{1} << rotated.front().back().size();
  const std::vector<F> inverses = inverse_squares(rotary, rows);
  std::vector<std::vector<E>> tables(values.begin(), values.end());
  for (std::vector<E>& table : tables) {
    turn_back(rotary, inverses, rows, table);
  }
  for (std::size_t k = 0; k < n; ++k) {
    tables.push_back(rotation_table(rotary, rotated[k], scale[k]));
  }
  const ProvenSumcheck sumcheck =
      prove_dense_sumcheck(context.transcript, round_kernel(ReductionRelation{n}), std::move(tables));
  context.transcript.send("values", std::span(sumcheck.factors).first(n));
  std::vector<PointClaim> claims;
  for (std::size_t k = 0; k < n; ++k) {
    claims.push_back({rotation_end(rotated[k], sumcheck.point), sumcheck.factors[k]});
  }
  return claims;
}

}  // namespace tessera

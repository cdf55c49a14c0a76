#include "subprotocols/claim_reduction.hpp"
#include "subprotocols/rotary.hpp"
#include "plan/prover_context.hpp"
#include "plan/witness.hpp"

namespace tessera {
namespace {

/// A vector over (R,I,T): first and second half of a head.
struct Halves {
  std::span<E> first, second;
  explicit Halves(std::span<E> values)
      : first(values.first(values.size() / 2)), second(values.last(values.size() / 2)) {}
};

/// 1/(cos^2 + sin^2) by (i, row) of the rows that are there: one inversion for all.
std::vector<F> inverse_squares(const Rotary& rotary, std::size_t number, std::size_t rows) {
  std::vector<F> squares(rotary.half * rows);
  for (std::size_t t = 0; t < rows; ++t) {
    for (std::size_t i = 0; i < rotary.half; ++i) {
      const std::int64_t cos = rotary.cos(number, t)[i];
      const std::int64_t sin = rotary.sin(number, t)[i];
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

/// X from Y over (R,I,T), T padded: turned back by the transposed rotation, which is cos^2 + sin^2 times the inverse.
void turn_back(const Rotary& rotary, std::size_t number, std::span<const F> inverses, std::size_t padded,
               std::span<E> values) {
  const Halves halves(values);
  const std::size_t rows = inverses.size() / rotary.half;
  for (std::size_t i = 0; i < rotary.half; ++i) {
    for (std::size_t t = 0; t < rows; ++t) {
      const std::size_t x = i * padded + t;
      const F cos = F::from_signed(rotary.cos(number, t)[i]) * inverses[i * rows + t];
      const F sin = F::from_signed(rotary.sin(number, t)[i]) * inverses[i * rows + t];
      const E first = halves.first[x];
      const E second = halves.second[x];
      halves.first[x] = first * cos + second * sin;
      halves.second[x] = second * cos - first * sin;
    }
  }
}

/// scale*Rot(r; .) of one table over (R,I,T).
void fill_rotation(const Rotary& rotary, std::size_t number, const TensorPoint& r, E scale, std::span<E> table) {
  const std::size_t n = r.size();
  const E second_half = r[n - 3].front() * scale;
  const E first_half = scale - second_half;
  const std::vector<E> place = eq_table(r[n - 2]);
  const std::vector<E> token = eq_table(r[n - 1]);
  const Halves halves(table);
  for (std::size_t i = 0; i < rotary.half; ++i) {
    for (std::size_t t = 0; t < token.size(); ++t) {
      const F cos = F::from_signed(rotary.cos(number, t)[i]);
      const F sin = F::from_signed(rotary.sin(number, t)[i]);
      const E weight = place[i] * token[t];
      halves.first[i * token.size() + t] = weight * (first_half * cos + second_half * sin);
      halves.second[i * token.size() + t] = weight * (second_half * cos - first_half * sin);
    }
  }
}

/// scale*Rot(r; .) over (R,I,T), or (B,R,I,T), of `size` places.
std::vector<E> rotation_table(const Rotary& rotary, const TensorPoint& r, E scale, std::size_t size) {
  std::vector<E> table(size);
  if (!rotary.by_block()) {
    fill_rotation(rotary, 0, r, scale, table);
    return table;
  }
  const std::vector<E> block = eq_table(r.front());
  const std::size_t one = size / block.size();
  for (std::size_t b = 0; b < rotary.table_of_block.size(); ++b) {
    fill_rotation(rotary, rotary.table_of(b), r, scale * block[b], std::span(table).subspan(b * one, one));
  }
  return table;
}

/// Y -> X of all tensors, zero behind `rows` rows.
void turn_all_back(const Rotary& rotary, std::size_t rows, std::size_t padded, std::size_t blocks,
                   std::vector<std::vector<E>>& tables) {
  std::vector<std::vector<F>> inverses;
  const std::size_t count = rotary.tables->size() / (2 * rotary.positions * rotary.half);
  for (std::size_t number = 0; number < count; ++number) {
    inverses.push_back(inverse_squares(rotary, number, rows));
  }
  for (std::vector<E>& table : tables) {
    const std::size_t one = table.size() / blocks;
    for (std::size_t b = 0; b < (rotary.by_block() ? rotary.table_of_block.size() : 1); ++b) {
      const std::size_t number = rotary.table_of(b);
      turn_back(rotary, number, inverses[number], padded, std::span(table).subspan(b * one, one));
    }
  }
}

/// Y over (R,I,T), or over (B,R,I,T), padded, the other dimensions at the point's, from rshift(Y, S), the exceptions
/// where that was clamped, and its remainder. Collective.
std::vector<E> unrounded(ProverContext& context, const RotatedValues& of, const TensorPoint& at, bool by_block) {
  const RangeCheck& check = context.plan.ranges[of.remainder.range];
  std::vector<Axis> axes;
  E present = E::one();
  for (std::size_t j = 0; j + 3 < at.size(); ++j) {
    if (by_block && j == 0) {
      axes.emplace_back();
      continue;
    }
    axes.emplace_back(eq_table(at[j]));
    present *= less_than(at[j], check.shape.dimensions()[j].chunk_count());
  }
  axes.resize(at.size());
  std::vector<E> values = contract(context.witness.view(of.value.values), check.shape, axes, context.comm);
  for (const Exception& entry : context.exceptions.entries(of.value.clamp)) {
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
  const std::vector<E> rest = contract(context.witness.view(of.remainder.values), check.shape, axes, context.comm);
  const F power = two_to_the(check.width);
  const E half = present * two_to_the(check.width - 1);
  const Dimension& rows = check.shape.dimensions().back();
  const std::size_t blocks = by_block ? std::size_t{1} << at.front().size() : 1;
  const std::size_t filled_blocks = by_block ? check.shape.dimensions().front().length : 1;
  for (std::size_t x = 0; x < values.size(); ++x) {
    values[x] = values[x] * power + rest[x];
    if ((x & ((std::size_t{1} << rows.bits()) - 1)) < rows.filled() && x / (values.size() / blocks) < filled_blocks) {
      values[x] -= half;
    }
  }
  return values;
}

}  // namespace

/// X_k follows from Y_k: no rotation loses anything.
std::vector<PointClaim> unrotated(ProverContext& context, const Rotary& rotary, std::span<const PointClaim> rotated,
                                  std::span<const RotatedValues> values) {
  const auto scope = context.transcript.scope("rotary");
  const std::size_t n = rotated.size();
  const std::vector<E> scale = powers(n > 1 ? context.transcript.challenge("lambda") : E::one(), n);
  const std::size_t rows = std::size_t{1} << rotated.front().point.back().size();
  const std::size_t blocks = rotary.by_block() ? std::size_t{1} << rotated.front().point.front().size() : 1;
  std::vector<std::vector<E>> tables;
  for (std::size_t k = 0; k < n; ++k) {
    tables.push_back(unrounded(context, values[k], rotated[k].point, rotary.by_block()));
  }
  const std::size_t present = context.plan.ranges[values.front().remainder.range].shape.dimensions().back().filled();
  turn_all_back(rotary, present, rows, blocks, tables);
  for (std::size_t k = 0; k < n; ++k) {
    tables.push_back(rotation_table(rotary, rotated[k].point, scale[k], tables[k].size()));
  }
  const ProvenSumcheck sumcheck =
      prove_dense_sumcheck(context.transcript, round_kernel(ReductionRelation{n}), std::move(tables));
  context.transcript.send("values", std::span(sumcheck.factors).first(n));
  std::vector<PointClaim> claims;
  for (std::size_t k = 0; k < n; ++k) {
    claims.push_back({rotation_end(rotary, rotated[k].point, sumcheck.point), sumcheck.factors[k]});
  }
  return claims;
}

}  // namespace tessera

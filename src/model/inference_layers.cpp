#include <cmath>

#include "model/inference.hpp"

namespace tessera {
namespace {

constexpr Bounds int16_bounds = Bounds::signed_bits(16);

/// floor(sqrt(value)) for 0 <= value < 2^62 + 2^33: the float64 root is off by less than 1.
std::int64_t floor_sqrt(std::int64_t value) {
  auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(value)));
  while (root * root > value) {
    --root;
  }
  while ((root + 1) * (root + 1) <= value) {
    ++root;
  }
  return root;
}

std::int64_t floor_divide(std::int64_t numerator, std::int64_t denominator) {
  const std::int64_t quotient = numerator / denominator;
  return quotient - (numerator % denominator < 0 ? 1 : 0);
}

/// Smallest and largest value of a row, for one range check a row.
struct Extent {
  std::int64_t low = 0;
  std::int64_t high = 0;
  void include(std::int64_t value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  void check(RangeGuard& guard, std::string_view tensor, Bounds bounds) const {
    guard.check(tensor, low, bounds);
    guard.check(tensor, high, bounds);
  }
};

/// rshift and its remainder: value + 2^(shift-1) = quotient*2^shift + remainder.
struct Rounded {
  std::int64_t quotient;
  std::int64_t remainder;
};
Rounded rshift(std::int64_t value, int shift) {
  const std::int64_t sum = value + (std::int64_t{1} << (shift - 1));
  return {sum >> shift, sum & ((std::int64_t{1} << shift) - 1)};
}

}  // namespace

void IntegerTransformer::embed(std::span<const std::uint32_t> ids, Batch& batch) {
  const std::size_t d = model_.shape.n_embd;
  const std::size_t n = batch.size;
  const Range positions = owned_rows(Dimension::tiled(model_.shape.n_positions), comm_.rank(), comm_.size());
  std::vector<std::int64_t> sum(d * n);  // of the rows that this rank keeps, then of all ranks
  const auto add_row = [&](const std::int16_t* row, std::size_t token) {
    for (std::size_t f = 0; f < d; ++f) {
      sum[f * n + token] += row[f];
    }
  };
  for (std::size_t t = 0; t < n; ++t) {
    if (vocabulary_.contains(ids[t])) {
      add_row(model_.parameters->embedding.data() + ids[t] * d, t);
    }
    const std::size_t position = batch.first + t;
    if (positions.contains(position)) {  // s_hat may exceed n_positions: the rows that do not exist are zero
      add_row(model_.parameters->position.data() + position * d, t);
    }
  }
  comm_.all_reduce_sum(std::span(sum));
  batch.x.assign(sum.begin(), sum.end());
}

void IntegerTransformer::layer_norm(const Norm& norm, Batch& batch) {
  const std::size_t n = batch.size;
  const auto d = static_cast<std::int64_t>(model_.shape.n_embd);
  std::vector<std::int64_t> mean(n, 0);
  std::vector<std::int64_t> variance(n, model_.constants.epsilon);
  std::vector<std::int64_t> inverse(n);
  for (std::size_t f = 0; f < model_.shape.n_embd; ++f) {
    for (std::size_t t = 0; t < n; ++t) {
      mean[t] += batch.x[f * n + t];
    }
  }
  for (std::int64_t& value : mean) {
    value = floor_divide(value + d / 2, d);
  }
  for (std::size_t f = 0; f < model_.shape.n_embd; ++f) {
    for (std::size_t t = 0; t < n; ++t) {
      const std::int64_t centred = batch.x[f * n + t] - mean[t];
      variance[t] += centred * centred;
    }
  }
  const std::string name(norm.name);
  for (std::size_t t = 0; t < n; ++t) {
    const std::int64_t sigma = floor_sqrt(variance[t]);
    inverse[t] = model_.constants.norm_numerator / sigma;
    guard_.check(name + " sigma", sigma, Bounds::unsigned_bits(31));
    guard_.check(name + " inverse", inverse[t], Bounds::unsigned_bits(model_.constants.inverse_bits));
    if (recording()) {
      const std::size_t at = batch.first + t;
      norm.trace->mu.chunk(norm.block)[at] = static_cast<std::int32_t>(mean[t]);
      norm.trace->sigma.chunk(norm.block)[at] = static_cast<std::int32_t>(sigma);
      norm.trace->inverse.chunk(norm.block)[at] = static_cast<std::int32_t>(inverse[t]);
    }
  }
  // every rank needs all of u; computing it is cheaper than gathering it
  batch.u.resize(batch.x.size());
#pragma omp parallel for schedule(static) if (batch.x.size() > parallel_work)
  for (std::size_t f = 0; f < model_.shape.n_embd; ++f) {
    const std::int64_t gain = norm.gamma[f];
    const std::int64_t bias = std::int64_t{norm.beta[f]} << norm.bias_shift;
    const bool record = recording() && features_.contains(f);
    std::int64_t* remainders = record ? trace_row(norm.trace->u_remainder, norm.block, f) + batch.first : nullptr;
    Extent extent;
    for (std::size_t t = 0; t < n; ++t) {
      const std::int64_t normalized = (batch.x[f * n + t] - mean[t]) * inverse[t];
      const Rounded u = rshift(normalized * gain + bias, norm.shift);
      extent.include(u.quotient);
      batch.u[f * n + t] = static_cast<std::int16_t>(u.quotient);
      if (record) {
        remainders[t] = u.remainder;
      }
    }
    extent.check(guard_, norm.name, int16_bounds);
    if (record) {
      std::copy_n(batch.u.data() + f * n, n, trace_row(norm.trace->u, norm.block, f) + batch.first);
    }
  }
}

void IntegerTransformer::project(const Linear& linear, const ProductInput& input, const Destination& to,
                                 std::size_t block, std::size_t first) {
  multiply(linear.weights, to.rows, input, [&](std::size_t row, std::span<const std::int64_t> products) {
    const std::int64_t bias = std::int64_t{linear.bias[row]} << linear.bias_shift;
    const bool record = recording() && to.recorded.contains(row);
    std::uint16_t* remainders = record ? trace_row(to.remainders, block, row) + first : nullptr;
    std::int16_t* values = to.values + (row - to.rows.first) * to.stride;
    Extent extent;
    for (std::size_t t = 0; t < products.size(); ++t) {
      const Rounded y = rshift(products[t] + bias, linear.shift);
      extent.include(y.quotient);
      values[t] = static_cast<std::int16_t>(y.quotient);
      if (record) {
        remainders[t] = static_cast<std::uint16_t>(y.remainder);
      }
    }
    extent.check(guard_, linear.name, int16_bounds);
    if (record) {
      std::copy_n(values, products.size(), trace_row(to.trace, block, row) + first);
    }
  });
}

std::vector<std::int16_t> IntegerTransformer::mlp(std::size_t block, const Batch& batch) {
  const ModelShape& shape = model_.shape;
  const Parameters& p = *model_.parameters;
  const Exponents& e = model_.exponents;
  const ProductInput input(batch.u, shape.n_embd, batch.size);
  std::vector<std::int16_t> rows(inner_.size() * batch.size);
  const Linear linear{"MLP z", std::span(p.w1).subspan(block * shape.n_inner * shape.n_embd),
                      p.b1.data() + block * shape.n_inner, e.shift_1(), e.bias_1()};
  project(linear, input, {inner_, rows.data(), batch.size, inner_, trace_.mlp, trace_.mlp_remainder}, block,
          batch.first);
#pragma omp parallel for schedule(static) if (rows.size() > parallel_work)
  for (std::size_t row = inner_.first; row < inner_.last; ++row) {
    std::int16_t* values = rows.data() + (row - inner_.first) * batch.size;
    for (std::size_t t = 0; t < batch.size; ++t) {
      values[t] = model_.gelu_table[static_cast<std::size_t>(values[t] + (1 << 15))];
    }
    if (recording()) {
      std::copy_n(values, batch.size, trace_row(trace_.gelu, block, row) + batch.first);
    }
  }
  return gather(std::move(rows));
}

void IntegerTransformer::add_residual(const Linear& linear, const ProductInput& input,
                                      ChunkedTensor<std::uint16_t>& remainders, std::size_t block, Batch& batch) {
  const std::size_t n = batch.size;
  const Bounds bounds = Bounds::signed_bits(model_.constants.residual_bits);
  std::vector<std::int32_t> rows(features_.size() * n);
  multiply(linear.weights, features_, input, [&](std::size_t row, std::span<const std::int64_t> products) {
    const std::int64_t bias = std::int64_t{linear.bias[row]} << linear.bias_shift;
    std::uint16_t* kept = recording() ? trace_row(remainders, block, row) + batch.first : nullptr;
    Extent extent;
    for (std::size_t t = 0; t < n; ++t) {
      const Rounded update = rshift(products[t] + bias, linear.shift);
      const std::int64_t x = batch.x[row * n + t] + update.quotient;
      extent.include(x);
      rows[(row - features_.first) * n + t] = static_cast<std::int32_t>(x);
      if (kept != nullptr) {
        kept[t] = static_cast<std::uint16_t>(update.remainder);
      }
    }
    extent.check(guard_, linear.name, bounds);
  });
  batch.x = gather(std::move(rows));
}

void IntegerTransformer::record_residual(ChunkedTensor<std::int32_t>& tensor, std::size_t block,
                                         const Batch& batch) const {
  if (!recording()) {
    return;
  }
  for (std::size_t f = features_.first; f < features_.last; ++f) {
    std::copy_n(batch.x.data() + f * batch.size, batch.size, trace_row(tensor, block, f) + batch.first);
  }
}

}  // namespace tessera

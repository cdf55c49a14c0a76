#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <sstream>

#include "plan/trace.hpp"

#include "naive_inference.hpp"

namespace tessera::testing {

/// Calls `visit(name, tensor of a, tensor of b)` for every tensor of two traces.
template <class Visit>
void for_each_tensor(const Trace& a, const Trace& b, const Visit& visit) {
  const auto norm = [&](const std::string& name, const LayerNormTrace& x, const LayerNormTrace& y) {
    visit("mu" + name, x.mu, y.mu);
    visit("sigma" + name, x.sigma, y.sigma);
    visit("inverse" + name, x.inverse, y.inverse);
    visit("u" + name, x.u, y.u);
    visit("u_remainder" + name, x.u_remainder, y.u_remainder);
  };
  norm("1", a.ln1, b.ln1);
  norm("2", a.ln2, b.ln2);
  norm("f", a.lnf, b.lnf);
#define TESSERA_VISIT(tensor) visit(#tensor, a.tensor, b.tensor)
  TESSERA_VISIT(x_in);
  TESSERA_VISIT(x_mid);
  TESSERA_VISIT(x_end);
  TESSERA_VISIT(q);
  TESSERA_VISIT(k);
  TESSERA_VISIT(v);
  TESSERA_VISIT(q_remainder);
  TESSERA_VISIT(k_remainder);
  TESSERA_VISIT(v_remainder);
  TESSERA_VISIT(score);
  TESSERA_VISIT(score_remainder);
  TESSERA_VISIT(exponential);
  TESSERA_VISIT(row_max);
  TESSERA_VISIT(row_sum);
  TESSERA_VISIT(row_inverse);
  TESSERA_VISIT(value_sum);
  TESSERA_VISIT(y);
  TESSERA_VISIT(y_remainder);
  TESSERA_VISIT(o_remainder);
  TESSERA_VISIT(mlp);
  TESSERA_VISIT(mlp_remainder);
  TESSERA_VISIT(gelu);
  TESSERA_VISIT(mlp_out_remainder);
  TESSERA_VISIT(logits);
#undef TESSERA_VISIT
}

/// Expects every held value, padding included, to be what `expected` says for its coordinates.
template <class T>
void expect_tensor(const std::string& name, const ChunkedTensor<T>& tensor,
                   const std::function<std::int64_t(std::span<const std::size_t>)>& expected) {
  const Shape& shape = tensor.shape();
  const std::vector<Dimension>& dimensions = shape.dimensions();
  std::vector<std::size_t> at(dimensions.size());
  for (const std::size_t chunk : tensor.held()) {
    for (std::size_t i = 0; i < shape.chunk_size(); ++i) {
      std::size_t inner = i;
      for (std::size_t j = dimensions.size(); j-- > 0;) {
        at[j] = (shape.coordinate(chunk, j) << dimensions[j].log_chunk) + (inner & (dimensions[j].chunk() - 1));
        inner >>= dimensions[j].log_chunk;
      }
      const std::int64_t wanted = expected(at);
      if (static_cast<std::int64_t>(tensor.chunk(chunk)[i]) != wanted) {
        std::ostringstream where;
        for (const std::size_t coordinate : at) {
          where << ' ' << coordinate;
        }
        ADD_FAILURE() << name << " at" << where.str() << ": " << tensor.chunk(chunk)[i] << ", expected " << wanted;
        return;
      }
    }
  }
}

/// Compares all tensors that this rank holds with the naive inference of the same tokens.
inline void expect_trace(const Trace& trace, const NaiveInference& naive, const Model& model) {
  const Exponents& e = model.exponents;
  const std::size_t tokens = trace.tokens.size();
  const std::size_t m = model.shape.head_size();
  const std::map<std::string, int> shifts = {
      {"u_remainder1", e.shift_norm(e.gamma1, e.u1)},
      {"u_remainder2", e.shift_norm(e.gamma2, e.u2)},
      {"u_remainderf", e.shift_norm(e.gammaf, e.uf)},
      {"q_remainder", e.shift_q()},
      {"k_remainder", e.shift_k()},
      {"v_remainder", e.shift_v()},
      {"score_remainder", e.shift_score()},
      {"y_remainder", 46},
      {"o_remainder", e.shift_o()},
      {"mlp_remainder", e.shift_1()},
      {"mlp_out_remainder", e.shift_2()},
  };
  for_each_tensor(trace, trace, [&](const std::string& name, const auto& tensor, const auto&) {
    const bool final = name.back() == 'f' || name == "x_end" || name == "logits";
    const std::int64_t padding = shifts.contains(name) ? std::int64_t{1} << (shifts.at(name) - 1) : 0;
    const auto entry = [&](const Tensors& tensors, std::size_t row, std::size_t column) {
      const Matrix& matrix = tensors.at(name);
      return row < matrix.size() ? matrix[row][column] : padding;
    };
    expect_tensor(name, tensor, [&](std::span<const std::size_t> at) -> std::int64_t {
      if (name == "logits") {
        return at[0] < model.shape.n_vocab && at[1] < trace.generated
                   ? entry(naive.last, at[0], trace.prompt_length + at[1] - 1)
                   : 0;
      }
      const std::size_t block = final ? 0 : at[0];
      const Tensors& tensors = final ? naive.last : naive.blocks[block];
      const std::span<const std::size_t> rest = final ? at : at.subspan(1);
      if (name.starts_with("score") || name == "exponential") {
        return entry(tensors, rest[0] * tokens + rest[1], rest[2]);
      }
      if (rest.size() == 3) {  // head, place, token
        return rest[1] < m ? entry(tensors, rest[0] * m + rest[1], rest[2]) : padding;
      }
      return rest.size() == 2 ? entry(tensors, rest[0], rest[1]) : entry(tensors, 0, rest[0]);
    });
  });
}

}  // namespace tessera::testing

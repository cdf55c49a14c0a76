#include "naive_inference.hpp"

#include "exact.hpp"
#include "gpt2_layers.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::test {
namespace {

using Values = std::span<const std::int16_t>;

template <class Q, class R>
void rshift(Wide a, int shift, Q& quotient, R& remainder) {
  const Wide sum = a + (Wide{1} << (shift - 1));
  const std::int64_t result = floor_div(sum, Wide{1} << shift);
  quotient = static_cast<Q>(result);
  remainder = static_cast<R>(sum - (Wide{result} << shift));
}

class Inference {
 public:
  Inference(const IntegerModel& model, const Statement& statement, const Liar& liar)
      : key_(model.key),
        shape_(key_.shape),
        p_(*model.parameters),
        e_(key_.exponents),
        liar_(liar),
        plan_(ModelPlan::of(key_, statement)),
        trace_(plan_, 0, 1) {
    trace_.tokens = statement.prompt;
    trace_.tokens.insert(trace_.tokens.end(), statement.generated.begin(), statement.generated.end());
    tokens_ = plan_.rows;
    trace_.tokens.resize(tokens_, key_.filler);
  }

  Trace run() {
    const std::size_t d = shape_.n_embd;
    const Values embeddings = p_[embedding].values();
    for (std::size_t f = 0; f < d; ++f) {
      for (std::size_t t = 0; t < tokens_; ++t) {
        // positions that the model does not have are rows of zeros
        const std::int32_t place = t < shape_.n_positions ? p_[position].values()[t * d + f] : 0;
        row(plan_.x_in, 0, f)[t] = embeddings[trace_.tokens[t] * d + f] + place;
      }
    }
    for (std::size_t b = 0; b < shape_.n_layer; ++b) {
      say(Stage::x_in, b);
      norm(layer_norm(plan_.norm_1), plan_.x_in, b, p_[gamma1].values(), p_[beta1].values(),
           30 + e_[gamma1] - e_[scales::u1], 30 + e_[gamma1] - e_[beta1], Stage::mu1);
      qkv(b);
      attention(b);
      const std::size_t m = shape_.head_size();
      residual(plan_.x_in, plan_.x_mid, b, b, wo, bo, d, e_[wo] + e_[scales::v] - e_[scales::residual],
               e_[wo] + e_[scales::v] - e_[bo], plan_.projection.remainder, [&](std::size_t i, std::size_t t) {
                 return head_row(trace_[plan_.attention.y], b * shape_.n_head + i / m, i % m)[t];
               });
      say(Stage::x_mid, b);
      norm(layer_norm(plan_.norm_2), plan_.x_mid, b, p_[gamma2].values(), p_[beta2].values(),
           30 + e_[gamma2] - e_[scales::u2], 30 + e_[gamma2] - e_[beta2], Stage::mu2);
      mlp(b);
    }
    say(Stage::x_end, 0);
    norm(layer_norm(plan_.norm_final), plan_.x_end, 0, p_[gammaf].values(), p_[betaf].values(),
         30 + e_[gammaf] - e_[scales::uf], 30 + e_[gammaf] - e_[betaf], Stage::muf);
    for (std::size_t g = 0; g < trace_.generated; ++g) {
      for (std::size_t v = 0; v < shape_.n_vocab; ++v) {
        std::int64_t sum = 0;
        for (std::size_t f = 0; f < d; ++f) {
          sum += std::int64_t{embeddings[v * d + f]} *
                 row(layer_norm(plan_.norm_final).u, 0, f)[trace_.prompt_length + g - 1];
        }
        row(plan_.logits.values, 0, v)[g] = sum;
      }
    }
    say(Stage::logits, 0);
    return std::move(trace_);
  }

 private:
  void say(Stage first, std::size_t block, int steps = 0) {
    if (liar_) {
      liar_(static_cast<Stage>(static_cast<int>(first) + steps), block, trace_);
    }
  }

  template <class T>
  TokenRow<T> row(const Recorded<T>& tensor, std::size_t outer, std::size_t index) {
    return block_row(trace_[tensor], outer, index);
  }

  void norm(const LayerNormPlan& to, const Recorded<std::int32_t>& x_of, std::size_t b, Values gamma, Values beta,
            int shift, int bias_shift, Stage first) {
    const auto d = static_cast<std::int64_t>(shape_.n_embd);
    const std::int64_t numerator = std::llround(std::sqrt(static_cast<double>(d)) * 65536.0) * 16384;
    const auto x = [&](std::size_t f, std::size_t t) { return row(x_of, b, f)[t]; };
    std::int32_t* const mu = trace_[to.mu].values().data() + b * tokens_;
    std::int32_t* const sigma = trace_[to.sigma].values().data() + b * tokens_;
    std::int32_t* const inverse = trace_[to.inverse].values().data() + b * tokens_;
    for (std::size_t t = 0; t < tokens_; ++t) {
      std::int64_t sum = 0;
      for (std::size_t f = 0; f < shape_.n_embd; ++f) {
        sum += x(f, t);
      }
      mu[t] = static_cast<std::int32_t>(floor_div(sum + d / 2, d));
    }
    say(first, b);
    for (std::size_t t = 0; t < tokens_; ++t) {
      Wide v = key_.epsilon;
      for (std::size_t f = 0; f < shape_.n_embd; ++f) {
        const Wide difference = x(f, t) - mu[t];
        v += difference * difference;
      }
      sigma[t] = static_cast<std::int32_t>(square_root(v));
    }
    say(first, b, 1);
    for (std::size_t t = 0; t < tokens_; ++t) {
      inverse[t] = static_cast<std::int32_t>(floor_div(numerator, sigma[t]));
    }
    say(first, b, 2);
    for (std::size_t f = 0; f < shape_.n_embd; ++f) {
      for (std::size_t t = 0; t < tokens_; ++t) {
        const std::size_t at = b * shape_.n_embd + f;
        const Wide value = Wide{x(f, t) - mu[t]} * inverse[t] * gamma[at] + Wide{beta[at]} * (Wide{1} << bias_shift);
        rshift(value, shift, row(to.u, b, f)[t], row(to.u_remainder, b, f)[t]);
      }
    }
    say(first, b, 3);
  }

  /// Row `row` of W*input + bias*2^b at token t.
  template <class Input>
  Wide product(ParameterId weight, ParameterId bias, std::size_t row, std::size_t in, int bias_shift,
               const Input& input, std::size_t t) const {
    const Values weights = p_[weight].values().subspan(row * in, in);
    Wide sum = Wide{p_[bias].values()[row]} * (Wide{1} << bias_shift);
    for (std::size_t i = 0; i < in; ++i) {
      sum += Wide{weights[i]} * input(i, t);
    }
    return sum;
  }

  void qkv(std::size_t b) {
    const std::size_t d = shape_.n_embd;
    const auto input = [&](std::size_t i, std::size_t t) { return row(layer_norm(plan_.norm_1).u, b, i)[t]; };
    const auto project = [&](std::size_t which, ParameterId weight, ParameterId bias, int shift, int bias_shift,
                             Stage stage) {
      for (std::size_t o = 0; o < d; ++o) {
        for (std::size_t t = 0; t < tokens_; ++t) {
          rshift(product(weight, bias, b * d + o, d, bias_shift, input, t), shift,
                 row(gpt2_qkv(plan_.qkv).value[which], b, o)[t], row(gpt2_qkv(plan_.qkv).remainder[which], b, o)[t]);
        }
      }
      say(stage, b);
    };
    project(0, wq, bq, e_[wq] + e_[scales::u1] - e_[scales::q], e_[wq] + e_[scales::u1] - e_[bq], Stage::q);
    project(1, wk, bk, e_[wk] + e_[scales::u1] - e_[scales::k], e_[wk] + e_[scales::u1] - e_[bk], Stage::k);
    project(2, wv, bv, e_[wv] + e_[scales::u1] - e_[scales::v], e_[wv] + e_[scales::u1] - e_[bv], Stage::v);
  }

  /// Calls visit(block*heads + head, head, query).
  template <class Visitor>
  void for_rows(std::size_t b, Stage stage, const Visitor& visit) {
    for (std::size_t h = 0; h < shape_.n_head; ++h) {
      for (std::size_t i = 0; i < tokens_; ++i) {
        visit(b * shape_.n_head + h, h, i);
      }
    }
    say(stage, b);
  }

  /// Keys of the tiles that a query has: beyond itself they are masked, but a liar may write there.
  [[nodiscard]] std::size_t keys(std::size_t query) const {
    const std::size_t tile = plan_.shapes.scores.dimensions()[4].chunk();
    return (query / tile + 1) * tile;
  }

  void attention(std::size_t b) {
    const AttentionPlan& plan = plan_.attention;
    const std::size_t m = shape_.head_size();
    auto& score = trace_[plan.score];
    auto& exponential = trace_[plan.exponential];
    auto& row_max = trace_[plan.row_max].values();
    auto& row_sum = trace_[plan.row_sum].values();
    auto& row_inverse = trace_[plan.row_inverse].values();
    for_rows(b, Stage::score, [&](std::size_t outer, std::size_t h, std::size_t i) {
      for (std::size_t j = 0; j <= i; ++j) {
        Wide sum = 0;
        for (std::size_t c = h * m; c < (h + 1) * m; ++c) {
          sum += Wide{row(plan.q, b, c)[i]} * row(plan.k, b, c)[j];
        }
        rshift(sum, e_[scales::q] + e_[scales::k] - e_[scales::score], score_at(score, outer, i, j),
               score_at(trace_[plan.score_remainder], outer, i, j));
      }
    });
    for_rows(b, Stage::row_max, [&](std::size_t outer, std::size_t, std::size_t i) {
      std::int64_t& maximum = row_max[outer * tokens_ + i] = score_at(score, outer, i, 0);
      for (std::size_t j = 1; j <= i; ++j) {
        maximum = std::max<std::int64_t>(maximum, score_at(score, outer, i, j));
      }
    });
    for_rows(b, Stage::exponential, [&](std::size_t outer, std::size_t, std::size_t i) {
      for (std::size_t j = 0; j <= i; ++j) {
        const std::int64_t d = row_max[outer * tokens_ + i] - score_at(score, outer, i, j);
        score_at(exponential, outer, i, j) = d >= 0 && d < 1 << 16 ? key_.exp_table[static_cast<std::size_t>(d)] : 0;
      }
    });
    for_rows(b, Stage::row_sum, [&](std::size_t outer, std::size_t, std::size_t i) {
      std::int64_t& sum = row_sum[outer * tokens_ + i] = 0;
      for (std::size_t j = 0; j < keys(i); ++j) {
        sum += score_at(exponential, outer, i, j);
      }
    });
    for_rows(b, Stage::row_inverse, [&](std::size_t outer, std::size_t, std::size_t i) {
      const std::int64_t sum = std::max<std::int64_t>(1, row_sum[outer * tokens_ + i]);
      row_inverse[outer * tokens_ + i] = static_cast<std::int32_t>((std::int64_t{1} << 46) / sum);
    });
    for_rows(b, Stage::value_sum, [&](std::size_t outer, std::size_t h, std::size_t i) {
      for (std::size_t c = 0; c < m; ++c) {
        std::int64_t& sum = head_row(trace_[plan.value_sum], outer, c)[i] = 0;
        for (std::size_t j = 0; j < keys(i); ++j) {
          sum += std::int64_t{score_at(exponential, outer, i, j)} * row(plan.v, b, h * m + c)[j];
        }
      }
    });
    for_rows(b, Stage::y, [&](std::size_t outer, std::size_t, std::size_t i) {
      for (std::size_t c = 0; c < m; ++c) {
        rshift(Wide{head_row(trace_[plan.value_sum], outer, c)[i]} * row_inverse[outer * tokens_ + i], 46,
               head_row(trace_[plan.y], outer, c)[i], head_row(trace_[plan.y_remainder], outer, c)[i]);
      }
    });
  }

  /// to[to_block] = from[b] + the update of block b.
  template <class Input>
  void residual(const Recorded<std::int32_t>& from, const Recorded<std::int32_t>& to, std::size_t b,
                std::size_t to_block, ParameterId weight, ParameterId bias, std::size_t in, int shift, int bias_shift,
                const Recorded<std::uint16_t>& remainders, const Input& input) {
    for (std::size_t o = 0; o < shape_.n_embd; ++o) {
      for (std::size_t t = 0; t < tokens_; ++t) {
        std::int32_t update = 0;
        rshift(product(weight, bias, b * shape_.n_embd + o, in, bias_shift, input, t), shift, update,
               row(remainders, b, o)[t]);
        row(to, to_block, o)[t] = row(from, b, o)[t] + update;
      }
    }
  }

  void mlp(std::size_t b) {
    const std::size_t inner = shape_.n_inner;
    const auto input = [&](std::size_t i, std::size_t t) { return row(layer_norm(plan_.norm_2).u, b, i)[t]; };
    for (std::size_t o = 0; o < inner; ++o) {
      for (std::size_t t = 0; t < tokens_; ++t) {
        rshift(product(w1, b1, b * inner + o, shape_.n_embd, e_[w1] + e_[scales::u2] - e_[b1], input, t),
               e_[w1] + e_[scales::u2] - e_[scales::mlp], row(gpt2_mlp(plan_.mlp).z, b, o)[t],
               row(gpt2_mlp(plan_.mlp).remainder, b, o)[t]);
      }
    }
    say(Stage::mlp, b);
    for (std::size_t o = 0; o < inner; ++o) {
      for (std::size_t t = 0; t < tokens_; ++t) {
        row(gpt2_mlp(plan_.mlp).gelu, b, o)[t] = static_cast<std::int16_t>(
            key_.gelu_table[static_cast<std::size_t>(row(gpt2_mlp(plan_.mlp).z, b, o)[t] + 32768)]);
      }
    }
    say(Stage::gelu, b);
    const bool last = b + 1 == shape_.n_layer;
    residual(plan_.x_mid, last ? plan_.x_end : plan_.x_in, b, last ? 0 : b + 1, w2, b2, inner,
             e_[w2] + e_[scales::gelu] - e_[scales::residual], e_[w2] + e_[scales::gelu] - e_[b2],
             gpt2_mlp(plan_.mlp).out_remainder,
             [&](std::size_t i, std::size_t t) { return row(gpt2_mlp(plan_.mlp).gelu, b, i)[t]; });
    say(Stage::x_out, b);
  }

  const VerifyingKey& key_;
  const ModelShape& shape_;
  const Parameters& p_;
  const Exponents& e_;
  const Liar& liar_;
  ModelPlan plan_;
  Trace trace_;
  std::size_t tokens_ = 0;  // with filler
};

}  // namespace

Trace naive_inference(const IntegerModel& model, const Statement& statement, const Liar& liar) {
  return Inference(model, statement, liar).run();
}

}  // namespace tessera::test

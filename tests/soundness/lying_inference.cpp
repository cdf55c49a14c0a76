#include "lying_inference.hpp"

#include <algorithm>
#include <bit>

namespace tessera::testing {
namespace {

using Wide = __int128;

std::int64_t floor_div(Wide a, Wide b) {
  const Wide quotient = a / b;
  return static_cast<std::int64_t>(quotient * b > a ? quotient - 1 : quotient);
}

template <class Q, class R>
void rshift(Wide a, int shift, Q& quotient, R& remainder) {
  const Wide sum = a + (Wide{1} << (shift - 1));
  const std::int64_t result = floor_div(sum, Wide{1} << shift);
  quotient = static_cast<Q>(result);
  remainder = static_cast<R>(sum - (Wide{result} << shift));
}

std::int64_t square_root(Wide value) {
  std::int64_t low = 0;
  std::int64_t high = std::int64_t{1} << 32;
  while (high - low > 1) {
    const std::int64_t middle = (low + high) / 2;
    (Wide{middle} * middle <= value ? low : high) = middle;
  }
  return low;
}

class Inference {
 public:
  Inference(const IntegerModel& model, const Statement& statement, std::uint32_t filler, const Liar& liar)
      : model_(model), shape_(model.shape), p_(*model.parameters), e_(model.exponents), liar_(liar) {
    tokens_ = statement.prompt;
    tokens_.insert(tokens_.end(), statement.generated.begin(), statement.generated.end());
    tokens_.resize(std::bit_ceil(tokens_.size()), filler);
    trace_ = Trace::allocate(shape_, e_, tokens_.size(), statement.generated.size(), 0, 1);
    trace_.tokens = tokens_;
    trace_.prompt_length = statement.prompt.size();
  }

  Trace run() {
    const std::size_t d = shape_.n_embd;
    for (std::size_t f = 0; f < d; ++f) {
      for (std::size_t t = 0; t < tokens_.size(); ++t) {
        // positions that the model does not have are rows of zeros
        const std::int32_t place = t < shape_.n_positions ? p_[position].values()[t * d + f] : 0;
        trace_row(trace_.x_in, 0, f)[t] = p_[embedding].values()[tokens_[t] * d + f] + place;
      }
    }
    for (std::size_t b = 0; b < shape_.n_layer; ++b) {
      say(Stage::x_in, b);
      norm(trace_.ln1, trace_.x_in, b, p_[gamma1].values(), p_[beta1].values(), e_.shift_norm(e_.gamma1, e_.u1),
           e_.bias_norm(e_.gamma1, e_.beta1), Stage::mu1);
      qkv(b);
      attention(b);
      residual(trace_.x_in, trace_.x_mid, b, p_[wo].values(), p_[bo].values(), d, e_.shift_o(), e_.bias_o(),
               trace_.o_remainder, [&](std::size_t i, std::size_t t) {
                 const std::size_t m = shape_.head_size();
                 return trace_row(trace_.y, b * shape_.n_head + i / m, i % m)[t];
               });
      say(Stage::x_mid, b);
      norm(trace_.ln2, trace_.x_mid, b, p_[gamma2].values(), p_[beta2].values(), e_.shift_norm(e_.gamma2, e_.u2),
           e_.bias_norm(e_.gamma2, e_.beta2), Stage::mu2);
      mlp(b);
    }
    say(Stage::x_end, 0);
    norm(trace_.lnf, trace_.x_end, 0, p_[gammaf].values(), p_[betaf].values(), e_.shift_norm(e_.gammaf, e_.uf),
         e_.bias_norm(e_.gammaf, e_.betaf), Stage::muf);
    for (std::size_t g = 0; g < trace_.generated; ++g) {
      for (std::size_t v = 0; v < shape_.n_vocab; ++v) {
        std::int64_t sum = 0;
        for (std::size_t f = 0; f < d; ++f) {
          sum += std::int64_t{p_[embedding].values()[v * d + f]} *
                 trace_row(trace_.lnf.u, 0, f)[trace_.prompt_length + g - 1];
        }
        trace_row(trace_.logits, 0, v)[g] = sum;
      }
    }
    say(Stage::logits, 0);
    return std::move(trace_);
  }

 private:
  void say(Stage stage, std::size_t block) {
    if (liar_) {
      liar_(stage, block, trace_);
    }
  }

  static Stage after(Stage first, int steps) { return static_cast<Stage>(static_cast<int>(first) + steps); }

  void norm(LayerNormTrace& to, ChunkedTensor<std::int32_t>& x, std::size_t b, std::span<const std::int16_t> gamma,
            std::span<const std::int16_t> beta, int shift, int bias_shift, Stage first) {
    const auto d = static_cast<std::int64_t>(shape_.n_embd);
    const std::size_t s = tokens_.size();
    const auto row = [&](std::size_t f) { return trace_row(x, b, f); };
    for (std::size_t t = 0; t < s; ++t) {
      std::int64_t sum = 0;
      for (std::size_t f = 0; f < shape_.n_embd; ++f) {
        sum += row(f)[t];
      }
      to.mu.values()[b * s + t] = static_cast<std::int32_t>(floor_div(sum + d / 2, d));
    }
    say(first, b);
    for (std::size_t t = 0; t < s; ++t) {
      Wide v = model_.constants.epsilon;
      for (std::size_t f = 0; f < shape_.n_embd; ++f) {
        const Wide difference = row(f)[t] - to.mu.values()[b * s + t];
        v += difference * difference;
      }
      to.sigma.values()[b * s + t] = static_cast<std::int32_t>(square_root(v));
    }
    say(after(first, 1), b);
    for (std::size_t t = 0; t < s; ++t) {
      to.inverse.values()[b * s + t] =
          static_cast<std::int32_t>(floor_div(model_.constants.norm_numerator, to.sigma.values()[b * s + t]));
    }
    say(after(first, 2), b);
    for (std::size_t f = 0; f < shape_.n_embd; ++f) {
      for (std::size_t t = 0; t < s; ++t) {
        const std::size_t at = b * shape_.n_embd + f;
        const Wide value = Wide{row(f)[t] - to.mu.values()[b * s + t]} * to.inverse.values()[b * s + t] * gamma[at] +
                           Wide{beta[at]} * (Wide{1} << bias_shift);
        rshift(value, shift, trace_row(to.u, b, f)[t], trace_row(to.u_remainder, b, f)[t]);
      }
    }
    say(after(first, 3), b);
  }

  template <class Input>
  Wide product(std::span<const std::int16_t> weights, std::span<const std::int16_t> bias, std::size_t row,
               std::size_t in, int bias_shift, const Input& input, std::size_t t) const {
    Wide sum = Wide{bias[row]} * (Wide{1} << bias_shift);
    for (std::size_t i = 0; i < in; ++i) {
      sum += Wide{weights[row * in + i]} * input(i, t);
    }
    return sum;
  }

  void qkv(std::size_t b) {
    const auto input = [&](std::size_t i, std::size_t t) { return trace_row(trace_.ln1.u, b, i)[t]; };
    const auto project = [&](auto& values, auto& remainders, const auto& weights, const auto& bias, int shift,
                             int bias_shift, Stage stage) {
      const std::size_t d = shape_.n_embd;
      for (std::size_t o = 0; o < d; ++o) {
        for (std::size_t t = 0; t < tokens_.size(); ++t) {
          rshift(product(weights, bias, b * d + o, d, bias_shift, input, t), shift, trace_row(values, b, o)[t],
                 trace_row(remainders, b, o)[t]);
        }
      }
      say(stage, b);
    };
    project(trace_.q, trace_.q_remainder, p_[wq].values(), p_[bq].values(), e_.shift_q(), e_.bias_q(), Stage::q);
    project(trace_.k, trace_.k_remainder, p_[wk].values(), p_[bk].values(), e_.shift_k(), e_.bias_k(), Stage::k);
    project(trace_.v, trace_.v_remainder, p_[wv].values(), p_[bv].values(), e_.shift_v(), e_.bias_v(), Stage::v);
  }

  /// Calls visit(block*heads + head, head, query).
  template <class Visitor>
  void for_rows(std::size_t b, Stage stage, const Visitor& visit) {
    for (std::size_t h = 0; h < shape_.n_head; ++h) {
      for (std::size_t i = 0; i < tokens_.size(); ++i) {
        visit(b * shape_.n_head + h, h, i);
      }
    }
    say(stage, b);
  }

  void attention(std::size_t b) {
    const std::size_t m = shape_.head_size();
    const std::size_t s = tokens_.size();
    for_rows(b, Stage::score, [&](std::size_t outer, std::size_t h, std::size_t i) {
      for (std::size_t j = 0; j <= i; ++j) {
        Wide sum = 0;
        for (std::size_t c = h * m; c < (h + 1) * m; ++c) {
          sum += Wide{trace_row(trace_.q, b, c)[i]} * trace_row(trace_.k, b, c)[j];
        }
        rshift(sum, e_.shift_score(), score_at(trace_.score, outer, i, j),
               score_at(trace_.score_remainder, outer, i, j));
      }
    });
    for_rows(b, Stage::row_max, [&](std::size_t outer, std::size_t, std::size_t i) {
      const std::int16_t* row = &score_at(trace_.score, outer, i, 0);
      trace_.row_max.values()[outer * s + i] = *std::max_element(row, row + i + 1);
    });
    for_rows(b, Stage::exponential, [&](std::size_t outer, std::size_t, std::size_t i) {
      for (std::size_t j = 0; j <= i; ++j) {
        const int d = trace_.row_max.values()[outer * s + i] - score_at(trace_.score, outer, i, j);
        const bool inside = d >= 0 && d < 1 << 16;
        score_at(trace_.exponential, outer, i, j) = inside ? model_.exp_table[static_cast<std::size_t>(d)] : 0;
      }
    });
    for_rows(b, Stage::row_sum, [&](std::size_t outer, std::size_t, std::size_t i) {
      std::int64_t& sum = trace_.row_sum.values()[outer * s + i] = 0;
      for (std::size_t j = 0; j < s; ++j) {
        sum += score_at(trace_.exponential, outer, i, j);
      }
    });
    for_rows(b, Stage::row_inverse, [&](std::size_t outer, std::size_t, std::size_t i) {
      const std::int64_t sum = std::max<std::int64_t>(1, trace_.row_sum.values()[outer * s + i]);
      trace_.row_inverse.values()[outer * s + i] = static_cast<std::int32_t>((std::int64_t{1} << softmax_shift) / sum);
    });
    for_rows(b, Stage::value_sum, [&](std::size_t outer, std::size_t h, std::size_t i) {
      for (std::size_t c = 0; c < m; ++c) {
        std::int64_t& sum = trace_row(trace_.value_sum, outer, c)[i] = 0;
        for (std::size_t j = 0; j < s; ++j) {
          sum += std::int64_t{score_at(trace_.exponential, outer, i, j)} * trace_row(trace_.v, b, h * m + c)[j];
        }
      }
    });
    for_rows(b, Stage::y, [&](std::size_t outer, std::size_t, std::size_t i) {
      for (std::size_t c = 0; c < m; ++c) {
        rshift(Wide{trace_row(trace_.value_sum, outer, c)[i]} * trace_.row_inverse.values()[outer * s + i],
               softmax_shift, trace_row(trace_.y, outer, c)[i], trace_row(trace_.y_remainder, outer, c)[i]);
      }
    });
  }

  template <class X, class Input>
  void residual(X& from, X& to, std::size_t b, std::span<const std::int16_t> weights,
                std::span<const std::int16_t> bias, std::size_t in, int shift, int bias_shift,
                ChunkedTensor<std::uint16_t>& remainders, const Input& input) {
    // the block whose values `to` holds: the next one's input, or the same block's
    const std::size_t next = &to == &trace_.x_in ? b + 1 : &to == &trace_.x_end ? 0 : b;
    for (std::size_t o = 0; o < shape_.n_embd; ++o) {
      for (std::size_t t = 0; t < tokens_.size(); ++t) {
        std::int32_t update = 0;
        rshift(product(weights, bias, b * shape_.n_embd + o, in, bias_shift, input, t), shift, update,
               trace_row(remainders, b, o)[t]);
        trace_row(to, next, o)[t] = trace_row(from, b, o)[t] + update;
      }
    }
  }

  void mlp(std::size_t b) {
    const std::size_t inner = shape_.n_inner;
    const auto input = [&](std::size_t i, std::size_t t) { return trace_row(trace_.ln2.u, b, i)[t]; };
    for (std::size_t o = 0; o < inner; ++o) {
      for (std::size_t t = 0; t < tokens_.size(); ++t) {
        rshift(product(p_[w1].values(), p_[b1].values(), b * inner + o, shape_.n_embd, e_.bias_1(), input, t),
               e_.shift_1(), trace_row(trace_.mlp, b, o)[t], trace_row(trace_.mlp_remainder, b, o)[t]);
      }
    }
    say(Stage::mlp, b);
    for (std::size_t o = 0; o < inner; ++o) {
      for (std::size_t t = 0; t < tokens_.size(); ++t) {
        trace_row(trace_.gelu, b, o)[t] =
            model_.gelu_table[static_cast<std::size_t>(trace_row(trace_.mlp, b, o)[t] + 32768)];
      }
    }
    say(Stage::gelu, b);
    auto& to = b + 1 == shape_.n_layer ? trace_.x_end : trace_.x_in;
    residual(trace_.x_mid, to, b, p_[w2].values(), p_[b2].values(), inner, e_.shift_2(), e_.bias_2(),
             trace_.mlp_out_remainder, [&](std::size_t i, std::size_t t) { return trace_row(trace_.gelu, b, i)[t]; });
    say(Stage::x_out, b);
  }

  const IntegerModel& model_;
  const ModelShape& shape_;
  const Parameters& p_;
  const Exponents& e_;
  const Liar& liar_;
  std::vector<std::uint32_t> tokens_;
  Trace trace_;
};

}  // namespace

Trace lying_inference(const IntegerModel& model, const Statement& statement, std::uint32_t filler, const Liar& liar) {
  return Inference(model, statement, filler, liar).run();
}

Liar lie_at(Stage stage, std::size_t block, std::function<void(Trace&)> lie) {
  return [stage, block, lie = std::move(lie)](Stage now, std::size_t here, Trace& trace) {
    if (now == stage && here == block) {
      lie(trace);
    }
  };
}

}  // namespace tessera::testing

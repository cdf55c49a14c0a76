#include "plan/witness.hpp"

namespace tessera {

/// Fills a witness: committed pieces, look-up columns and views, in the plan's numbering.
class WitnessBuilder {
 public:
  WitnessBuilder(Witness& witness, const Plan& plan, Communicator& comm) : witness_(witness), plan_(plan), comm_(comm) {
    witness_.tensors.resize(plan.witness_shapes.size());
    witness_.columns.resize(plan.lookup.columns.size());
  }

  /// A range-checked tensor whose values `fill` gives for the chunks held under `ownership`.
  void range(const RangeCheck& range, const Ownership& ownership, const Witness::Filler& fill) {
    for (std::size_t i = 0; i < range.committed.size(); ++i) {
      auto& piece = witness_.pieces_.emplace_back(range.shape, ownership, comm_.rank(), comm_.size());
      const std::vector<std::size_t>& held = piece.held();
#pragma omp parallel
      {
        std::vector<std::int64_t> values(range.shape.chunk_size());
#pragma omp for
        for (std::size_t h = 0; h < held.size(); ++h) {
          fill(held[h], values);
          const std::span<std::uint16_t> out = piece.chunk(held[h]);
          for (std::size_t x = 0; x < values.size(); ++x) {
            out[x] = static_cast<std::uint16_t>((values[x] + range.offset) >> (16 * i));
          }
        }
      }
      witness_.tensors[range.committed[i]] = &piece;
    }
    for (std::size_t i = 0; i < range.pieces(); ++i) {
      const bool top = i + 1 == range.pieces();
      const std::int64_t offset = range.offset;
      witness_.columns[range.columns[i]] = {
          ownership, [fill, offset, i, top](std::size_t chunk, std::span<std::uint32_t> a, std::span<std::int32_t>) {
            std::vector<std::int64_t> values(a.size());
            fill(chunk, values);
            for (std::size_t x = 0; x < a.size(); ++x) {
              const std::int64_t piece = (values[x] + offset) >> (16 * i);
              a[x] = static_cast<std::uint32_t>(top ? piece : piece & 0xFFFF);
            }
          }};
    }
  }

  template <class T>
  void range(const RangeCheck& r, const ChunkedTensor<T>& tensor) {
    range(r, tensor.ownership(), values_of(tensor));
  }

  template <class T>
  static Witness::Filler values_of(const ChunkedTensor<T>& tensor) {
    return [&tensor](std::size_t chunk, std::span<std::int64_t> values) {
      std::ranges::copy(tensor.chunk(chunk), values.begin());
    };
  }

  template <class A, class B>
  void pair(const PairLookup& pair, const Ownership& ownership, const A& input, const ChunkedTensor<B>& output) {
    witness_.tensors[pair.output] = &output;
    witness_.columns[pair.column] = {
        ownership, [input, &output](std::size_t chunk, std::span<std::uint32_t> a, std::span<std::int32_t> b) {
          std::vector<std::int64_t> values(a.size());
          input(chunk, values);
          for (std::size_t x = 0; x < a.size(); ++x) {
            a[x] = static_cast<std::uint32_t>(values[x]);
          }
          std::ranges::copy(output.chunk(chunk), b.begin());
        }};
  }

  /// A replicated tensor computed here.
  ChunkedTensor<std::int64_t>& wide(const Shape& shape, const Ownership& ownership = {}) {
    return witness_.wide_.emplace_back(shape, ownership, comm_.rank(), comm_.size());
  }

  void layer_norm(const LayerNormPlan& norm, const LayerNormTrace& trace, const ChunkedTensor<std::int32_t>& x,
                  std::vector<std::int64_t>& square_sums) {
    witness_.tensors[norm.mu] = &trace.mu;
    witness_.tensors[norm.sigma] = &trace.sigma;
    witness_.tensors[norm.inverse] = &trace.inverse;
    const std::size_t tokens = plan_.padded_tokens;
    const std::size_t size = trace.mu.values().size();
    std::vector<std::int64_t> sums(size);
    square_sums.assign(size, 0);
    const std::size_t dimensions = norm.activation.dimensions().size();
    for (const std::size_t chunk : x.held()) {
      const std::size_t block = dimensions == 3 ? norm.activation.coordinate(chunk, 0) : 0;
      const std::span<const std::int32_t> values = x.chunk(chunk);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::int64_t value = values[i];
        sums[block * tokens + i % tokens] += value;
        square_sums[block * tokens + i % tokens] += value * value;
      }
    }
    comm_.all_reduce_sum(std::span(sums));
    comm_.all_reduce_sum(std::span(square_sums));
    const auto d = static_cast<std::int64_t>(plan_.model.n_embd);
    auto& mean_remainder = wide(norm.token);
    auto& mean_complement = wide(norm.token);
    auto& root_remainder = wide(norm.token);
    auto& root_complement = wide(norm.token);
    auto& inverse_remainder = wide(norm.token);
    auto& inverse_complement = wide(norm.token);
    for (std::size_t i = 0; i < size; ++i) {
      const std::int64_t mu = trace.mu.values()[i];
      const std::int64_t sigma = trace.sigma.values()[i];
      mean_remainder.values()[i] = sums[i] + d / 2 - d * mu;
      mean_complement.values()[i] = d - 1 - mean_remainder.values()[i];
      // wrapping: single terms exceed 64 bits, V does not
      const std::uint64_t v = static_cast<std::uint64_t>(square_sums[i]) -
                              2 * static_cast<std::uint64_t>(mu) * static_cast<std::uint64_t>(sums[i]) +
                              static_cast<std::uint64_t>(d) * static_cast<std::uint64_t>(mu * mu) +
                              static_cast<std::uint64_t>(plan_.constants.epsilon);
      root_remainder.values()[i] = static_cast<std::int64_t>(v - static_cast<std::uint64_t>(sigma * sigma));
      root_complement.values()[i] = 2 * sigma - root_remainder.values()[i];
      inverse_remainder.values()[i] = plan_.constants.norm_numerator - trace.inverse.values()[i] * sigma;
      inverse_complement.values()[i] = sigma - 1 - inverse_remainder.values()[i];
    }
    range(norm.mu_range, trace.mu);
    range(norm.mean_remainder, mean_remainder);
    range(norm.mean_complement, mean_complement);
    range(norm.sigma_range, trace.sigma);
    range(norm.root_remainder, root_remainder);
    range(norm.root_complement, root_complement);
    range(norm.inverse_range, trace.inverse);
    range(norm.inverse_remainder, inverse_remainder);
    range(norm.inverse_complement, inverse_complement);
    range(norm.u, trace.u);
    range(norm.u_remainder, trace.u_remainder);
  }

  void softmax(const Trace& trace) {
    const Shape& scores = plan_.shapes.scores;
    const std::size_t tile = scores.dimensions()[2].chunk();
    const Shape& rows = plan_.shapes.block_row;
    // d = M - z + INF above the diagonal
    const auto distance = [&trace, scores, rows, tile](std::size_t chunk, std::span<std::int64_t> values) {
      const std::size_t query_tile = scores.coordinate(chunk, 2);
      const std::size_t key_tile = scores.coordinate(chunk, 3);
      const std::array row{scores.coordinate(chunk, 0), scores.coordinate(chunk, 1), std::size_t{0}};
      const auto maxima = trace.row_max.chunk(rows.chunk_at(row)).subspan(query_tile * tile, tile);
      const auto z = trace.score.chunk(chunk);
      for (std::size_t i = 0; i < tile; ++i) {
        for (std::size_t j = 0; j < tile; ++j) {
          const bool masked = query_tile == key_tile && j > i;
          values[i * tile + j] = std::int64_t{maxima[i]} - z[i * tile + j] + (masked ? softmax_infinity : 0);
        }
      }
    };
    pair(plan_.exponential, trace.exponential.ownership(), distance, trace.exponential);
    range(plan_.score_remainder, trace.score_remainder);
    witness_.tensors[plan_.row_max] = &trace.row_max;
    witness_.tensors[plan_.row_inverse] = &trace.row_inverse;
    auto& quotient = wide(rows, witness_.by_head);
    auto& count = wide(rows, witness_.by_head);
    auto& remainder = wide(rows, witness_.by_head);
    auto& complement = wide(rows, witness_.by_head);
    const unsigned kappa = plan_.constants.kappa;
    for (std::size_t i = 0; i < quotient.values().size(); ++i) {
      const std::int64_t sum = trace.row_sum.values()[i];
      quotient.values()[i] = sum >> kappa;
      count.values()[i] = (sum & ((std::int64_t{1} << kappa) - 1)) - 1;
      remainder.values()[i] = (std::int64_t{1} << softmax_shift) - trace.row_inverse.values()[i] * sum;
      complement.values()[i] = sum - 1 - remainder.values()[i];
    }
    witness_.tensors[plan_.row_sum_quotient] = &quotient;
    range(plan_.quotient_range, quotient);
    range(plan_.count_range, count);
    range(plan_.row_max_range, trace.row_max);
    range(plan_.row_inverse_range, trace.row_inverse);
    range(plan_.division_remainder, remainder);
    range(plan_.division_complement, complement);
    range(plan_.y, trace.y);
    range(plan_.y_remainder, trace.y_remainder);
  }

  void logits(const Statement& statement, const Trace& trace) {
    const std::size_t rows = plan_.logits.dimensions()[1].chunk();
    const Dimension& vocabulary = plan_.logits.dimensions()[0];
    auto& chosen = wide(plan_.witness_shapes[plan_.token_logit]);
    const std::vector<std::uint32_t>& tokens = statement.generated;
    for (const std::size_t chunk : trace.logits.held()) {
      const std::size_t first = plan_.logits.coordinate(chunk, 0) << vocabulary.log_chunk;
      for (std::size_t g = 0; g < tokens.size(); ++g) {
        if (tokens[g] >= first && tokens[g] < first + vocabulary.chunk()) {
          chosen.values()[g] = trace.logits.chunk(chunk)[(tokens[g] - first) * rows + g];
        }
      }
    }
    comm_.all_reduce_sum(std::span(chosen.values()));
    witness_.tensors[plan_.token_logit] = &chosen;
    const auto difference = [&trace, &chosen, &statement, shape = plan_.logits, rows, vocabulary](
                                std::size_t chunk, std::span<std::int64_t> values) {
      const std::size_t first = shape.coordinate(chunk, 0) << vocabulary.log_chunk;
      const auto logit = trace.logits.chunk(chunk);
      for (std::size_t x = 0; x < values.size(); ++x) {
        const std::size_t token = first + x / rows;
        const std::size_t g = x % rows;
        const bool used = token < vocabulary.length && g < statement.generated.size();
        values[x] = used ? chosen.values()[g] - logit[x] - (token < statement.generated[g] ? 1 : 0) : 0;
      }
    };
    range(plan_.logit_difference, trace.logits.ownership(), difference);
  }

 private:
  Witness& witness_;
  const Plan& plan_;
  Communicator& comm_;
};

Witness::Witness(const Plan& plan, const Statement& statement, const Trace& trace,
                 const ParameterTensors& parameter_tensors, Communicator& comm, Strangers strangers)
    : parameters(parameter_tensors.views()), scores_(plan.shapes.scores) {
  by_head.dimension = 1;
  u1 = &trace.ln1.u;
  u2 = &trace.ln2.u;
  uf = &trace.lnf.u;
  q = &trace.q;
  k = &trace.k;
  v = &trace.v;
  y = &trace.y;
  value_sum = &trace.value_sum;
  row_sum = &trace.row_sum;
  WitnessBuilder builder(*this, plan, comm);
  tensors[plan.x_in] = &trace.x_in;
  tensors[plan.x_mid] = &trace.x_mid;
  tensors[plan.x_end] = &trace.x_end;
  builder.range(plan.x_in_range, trace.x_in);
  builder.range(plan.x_mid_range, trace.x_mid);
  builder.range(plan.x_end_range, trace.x_end);
  builder.layer_norm(plan.ln1, trace.ln1, trace.x_in, square_sums[0]);
  builder.layer_norm(plan.ln2, trace.ln2, trace.x_mid, square_sums[1]);
  builder.layer_norm(plan.lnf, trace.lnf, trace.x_end, square_sums[2]);
  builder.range(plan.q, trace.q);
  builder.range(plan.k, trace.k);
  builder.range(plan.v, trace.v);
  builder.range(plan.q_remainder, trace.q_remainder);
  builder.range(plan.k_remainder, trace.k_remainder);
  builder.range(plan.v_remainder, trace.v_remainder);
  builder.softmax(trace);
  builder.range(plan.o_remainder, trace.o_remainder);
  const auto gelu_row = [&trace](std::size_t chunk, std::span<std::int64_t> values) {
    const auto z = trace.mlp.chunk(chunk);
    for (std::size_t x = 0; x < values.size(); ++x) {
      values[x] = z[x] + (std::int64_t{1} << (gelu_table_log_size - 1));
    }
  };
  builder.pair(plan.gelu, trace.mlp.ownership(), gelu_row, trace.gelu);
  builder.range(plan.mlp_remainder, trace.mlp_remainder);
  builder.range(plan.mlp_out_remainder, trace.mlp_out_remainder);
  builder.logits(statement, trace);

  multiplicities = count_multiplicities(plan.lookup, columns, comm, strangers);
  for (std::size_t table = 0; table < multiplicities.size(); ++table) {
    const TensorId id = plan.multiplicities[table];
    auto& counts = builder.wide(plan.witness_shapes[id]);
    std::ranges::copy(multiplicities[table], counts.values().begin());
    tensors[id] = &counts;
  }
  set_heads(plan, trace, comm);
}

}  // namespace tessera

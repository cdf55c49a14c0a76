#include "model/inference.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

namespace tessera {
namespace {

// more tokens at once would only enlarge the float64 copies of activations
constexpr std::size_t batch_tokens = 512;

}  // namespace

IntegerTransformer::IntegerTransformer(const IntegerModel& model, std::size_t capacity, Record record,
                                       std::size_t generated, Communicator& comm,
                                       std::function<void(std::size_t units)> progress)
    : model_(model), capacity_(capacity), record_(record), comm_(comm), progress_(std::move(progress)) {
  use_single_threaded_blas();
  const ModelShape& shape = model.shape;
  const int rank = comm.rank();
  const int ranks = comm.size();
  const RowShare share = RowShare::of(shape, rank, ranks);
  features_ = share.features;
  inner_ = share.inner;
  vocabulary_ = share.vocabulary;
  heads_ = share.heads;
  qkv_ = {heads_.first * shape.head_size(), heads_.last * shape.head_size()};
  if (recording()) {
    if (!std::has_single_bit(capacity)) {
      throw std::invalid_argument("integer inference: a trace holds a power of two of tokens, not " +
                                  std::to_string(capacity));
    }
    trace_ = Trace::allocate(shape, model.exponents, capacity, generated, rank, ranks);
    // if heads straddle chunks, this rank computes the features of its heads and those that its trace keeps: a few
    // rows are computed twice, and nothing has to be exchanged
    qkv_owned_ = share.qkv_owned;
    qkv_ = share.qkv;
  }
  keys_.resize(shape.n_layer * qkv_.size() * capacity);
  values_.resize(keys_.size());
  final_.resize(shape.n_embd * capacity);
}

void IntegerTransformer::append(std::span<const std::uint32_t> ids) {
  if (ids.size() > capacity_ - length_) {
    throw std::invalid_argument("integer inference: " + std::to_string(length_ + ids.size()) + " tokens, room for " +
                                std::to_string(capacity_));
  }
  for (const std::uint32_t id : ids) {
    if (id >= model_.shape.n_vocab) {
      throw std::invalid_argument("integer inference: token id " + std::to_string(id) + " in a vocabulary of " +
                                  std::to_string(model_.shape.n_vocab));
    }
  }
  while (!ids.empty()) {
    const std::size_t count = std::min(ids.size(), batch_tokens);
    run_batch(ids.first(count));
    ids = ids.subspan(count);
  }
}

void IntegerTransformer::run_batch(std::span<const std::uint32_t> ids) {
  const ModelShape& shape = model_.shape;
  const Parameters& p = *model_.parameters;
  const Exponents& e = model_.exponents;
  const std::size_t d = shape.n_embd;
  Batch batch{.first = length_, .size = ids.size(), .x = {}, .u = {}};
  embed(ids, batch);
  for (std::size_t block = 0; block < shape.n_layer; ++block) {
    guard_.enter(block);
    record_residual(trace_.x_in, block, batch);
    layer_norm({"layer norm 1", p.gamma1.data() + block * d, p.beta1.data() + block * d, e.shift_norm(e.gamma1, e.u1),
                e.bias_norm(e.gamma1, e.beta1), &trace_.ln1, block},
               batch);
    add_residual({"residual stream after attention", std::span(p.wo).subspan(block * d * d, d * d),
                  p.bo.data() + block * d, e.shift_o(), e.bias_o()},
                 ProductInput(attention(block, batch), d, batch.size), trace_.o_remainder, block, batch);
    record_residual(trace_.x_mid, block, batch);
    layer_norm({"layer norm 2", p.gamma2.data() + block * d, p.beta2.data() + block * d, e.shift_norm(e.gamma2, e.u2),
                e.bias_norm(e.gamma2, e.beta2), &trace_.ln2, block},
               batch);
    add_residual({"residual stream after MLP", std::span(p.w2).subspan(block * d * shape.n_inner, d * shape.n_inner),
                  p.b2.data() + block * d, e.shift_2(), e.bias_2()},
                 ProductInput(mlp(block, batch), shape.n_inner, batch.size), trace_.mlp_out_remainder, block, batch);
    if (progress_) {
      progress_(batch.size);
    }
  }
  guard_.enter(std::nullopt);
  record_residual(trace_.x_end, 0, batch);
  layer_norm({"final layer norm", p.gammaf.data(), p.betaf.data(), e.shift_norm(e.gammaf, e.uf),
              e.bias_norm(e.gammaf, e.betaf), &trace_.lnf, 0},
             batch);
  guard_.agree(comm_);
  for (std::size_t f = 0; f < d; ++f) {
    std::copy_n(batch.u.data() + f * batch.size, batch.size, final_.data() + f * capacity_ + batch.first);
  }
  if (recording()) {
    trace_.tokens.insert(trace_.tokens.end(), ids.begin(), ids.end());
  }
  length_ += batch.size;
}

std::vector<std::int64_t> IntegerTransformer::logits(Range tokens) const {
  const std::size_t d = model_.shape.n_embd;
  const std::size_t n = tokens.size();
  std::vector<std::int16_t> u(d * n);
  for (std::size_t f = 0; f < d; ++f) {
    std::copy_n(final_.data() + f * capacity_ + tokens.first, n, u.data() + f * n);
  }
  std::vector<std::int64_t> rows(vocabulary_.size() * n);
  multiply(model_.parameters->embedding, vocabulary_, ProductInput(u, d, n),
           [&](std::size_t row, std::span<const std::int64_t> products) {
             std::ranges::copy(products, rows.begin() + static_cast<std::ptrdiff_t>((row - vocabulary_.first) * n));
           });
  return rows;
}

std::uint32_t IntegerTransformer::select(std::size_t position, std::size_t generation) {
  const std::vector<std::int64_t> row = logits({position, position + 1});
  const auto best = std::ranges::max_element(row);  // the first of equals
  const std::int64_t mine = best == row.end() ? INT64_MIN : *best;
  std::int64_t largest = mine;
  comm_.all_reduce_max(std::span(&largest, 1));
  std::int64_t id = INT64_MIN;  // negated: the lowest id wins
  if (best != row.end() && mine == largest) {
    id = -(static_cast<std::int64_t>(vocabulary_.first) + (best - row.begin()));
  }
  comm_.all_reduce_max(std::span(&id, 1));
  if (recording()) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      trace_row(trace_.logits, 0, vocabulary_.first + i)[generation] = row[i];
    }
  }
  return static_cast<std::uint32_t>(-id);
}

}  // namespace tessera

#include "architecture/inference.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace tessera {
namespace {

// more tokens at once would only enlarge the float64 copies of activations
constexpr std::size_t batch_tokens = 512;
// fewer at once are not worth sharing a head
constexpr std::size_t least_shared_tokens = 8;

/// A layer's infer() for whichever it is.
template <class... Layers, class... Arguments>
void infer(const InferenceContext& context, const std::variant<Layers...>& layer, Arguments&&... arguments) {
  std::visit([&](const auto& chosen) { tessera::infer(context, chosen, arguments...); }, layer);
}

}  // namespace

IntegerTransformer::IntegerTransformer(const IntegerModel& model, const ModelPlan& plan, Record record,
                                       Communicator& comm, std::function<void(std::size_t units)> progress,
                                       const PastState& past)
    : model_(model),
      plan_(plan),
      record_(record),
      comm_(comm),
      progress_(std::move(progress)),
      // room for what is written and for what the last query sees; they differ only where a layer's plan is a lie of
      // tests
      cache_(plan.query_rows(comm.rank(), comm.size()), plan.key_rows(comm.rank(), comm.size()), plan.model.n_layer,
             plan.past, std::max(plan.keys(), plan.attention.past + plan.rows), plan.team(comm.rank(), comm.size())),
      final_(plan.model.n_embd * plan.rows) {
  use_single_threaded_blas();
  if (plan.exception_limit > 0) {
    exceptions_ = std::make_unique<ExceptionRecorder>(plan, record == Record::trace);
  }
  if (record == Record::trace) {
    trace_ = Trace(plan, comm.rank(), comm.size(), true);
  }
  if (plan.past > 0) {
    load(plan.cache, past, cache_, comm);
  }
}

void IntegerTransformer::append(std::span<const std::uint32_t> ids) {
  if (ids.size() > plan_.rows - length_) {
    throw std::invalid_argument("integer inference: " + std::to_string(length_ + ids.size()) + " tokens, room for " +
                                std::to_string(plan_.rows));
  }
  for (const std::uint32_t id : ids) {
    if (id >= plan_.model.n_vocab) {
      throw std::invalid_argument("integer inference: token id " + std::to_string(id) + " in a vocabulary of " +
                                  std::to_string(plan_.model.n_vocab));
    }
  }
  while (!ids.empty()) {
    const std::size_t count = std::min(ids.size(), batch_tokens);
    run_batch(ids.first(count));
    ids = ids.subspan(count);
  }
}

void IntegerTransformer::run_batch(std::span<const std::uint32_t> ids) {
  const InferenceContext context = this->context();
  Batch batch{.first = length_, .size = ids.size(), .x = {}, .u = {}};
  batch.shared = plan_.has_teams(comm_.size()) && batch.size >= least_shared_tokens && batch.first == cache_.known;
  infer(context, plan_.embedding, ids, batch);
  const Branches branches = plan_.model.layers.branches;
  for (std::size_t block = 0; block < plan_.model.n_layer; ++block) {
    guard_.enter(block);
    record_residual(context, plan_.x_in, block, batch);
    std::vector<std::int16_t> beside;  // what the MLP reads, where that is of the same x
    if (branches == Branches::parallel) {
      infer(context, plan_.norm_2, block, batch);
      beside = std::move(batch.u);
    }
    infer(context, plan_.norm_1, block, batch);
    infer(context, plan_.qkv, block, batch, cache_);
    if (batch.shared) {
      share_keys(context, plan_.shared_heads, block, batch, cache_);
    }
    infer(context, plan_.cache, cache_, block, batch);
    const std::vector<std::int16_t> y = infer(context, plan_.attention, model_.tables(), cache_, block, batch);
    infer(context, plan_.projection, y, block, batch);
    record_residual(context, plan_.x_mid, block, batch);
    if (branches == Branches::sequential) {
      infer(context, plan_.norm_2, block, batch);
    } else if (branches == Branches::parallel) {
      batch.u = std::move(beside);
    }
    infer(context, plan_.mlp, model_.key.gelu_table, block, batch);
    if (progress_) {
      progress_(batch.first * plan_.model.n_layer + batch.size * (block + 1));
    }
  }
  guard_.enter(std::nullopt);
  record_residual(context, plan_.x_end, 0, batch);
  infer(context, plan_.norm_final, std::size_t{0}, batch);
  guard_.agree(comm_);
  if (exceptions_ && record_ == Record::trace) {
    exceptions_->agree(comm_);
  }
  const auto keep = [&](const auto& u) {
    for (std::size_t f = 0; f < plan_.model.n_embd; ++f) {
      std::copy_n(u.data() + f * batch.size, batch.size, final_.data() + f * plan_.rows + batch.first);
    }
  };
  batch.wide_u.empty() ? keep(batch.u) : keep(batch.wide_u);
  if (record_ == Record::trace) {
    trace_.tokens.insert(trace_.tokens.end(), ids.begin(), ids.end());
    trace_.shared.resize(length_);
    trace_.shared.resize(length_ + batch.size, batch.shared ? Range{length_, length_ + batch.size} : Range{});
  }
  length_ += batch.size;
  cache_.known = batch.shared ? length_ : cache_.known;
}

void IntegerTransformer::forget(std::size_t length) {
  length_ = std::min(length_, length);
  cache_.known = std::min(cache_.known, length_);
  trace_.tokens.resize(std::min(trace_.tokens.size(), length_));
  guard_.forget();
  if (exceptions_) {
    exceptions_->forget(length);
  }
}

RawVector<std::int64_t> IntegerTransformer::logits(Range tokens) {
  return infer_logits(context(), plan_.logits, final_, tokens);
}

std::vector<std::uint32_t> IntegerTransformer::select(Range positions, std::size_t generation) {
  constexpr std::size_t at_once = 64;  // what is in memory for each: a logit of every row
  std::vector<std::uint32_t> chosen;
  for (std::size_t first = positions.first; first < positions.last; first += at_once) {
    const Range some{first, std::min(first + at_once, positions.last)};
    const std::vector<std::uint32_t> ids =
        infer_choices(context(), plan_.logits, final_, some, generation + first - positions.first);
    chosen.insert(chosen.end(), ids.begin(), ids.end());
  }
  return chosen;
}

}  // namespace tessera

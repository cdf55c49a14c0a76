#include "subprotocols/exception_recorder.hpp"

#include <algorithm>

#include "arithmetic/range_guard.hpp"
#include "plan/plan.hpp"

namespace tessera {

ExceptionRecorder::ExceptionRecorder(const Plan& plan, bool recording)
    : plan_(plan), recording_(recording), lists_(plan.clamped.size()), counts_(plan.clamped.size()) {}

void ExceptionRecorder::add(ClampId id, const Exception& entry) {
  if (!recording_ || !id.known()) {
    return;
  }
  const std::lock_guard lock(mutex_);
  ++counts_[id.list];
  if (kept_ < plan_.exception_limit) {
    ++kept_;
    lists_[id.list].push_back(entry);
  }
}

std::size_t ExceptionRecorder::row_of(std::size_t list, const Exception& entry) const {
  const ClampedTensor& tensor = plan_.clamped[list];
  const std::vector<std::size_t> indices = place_indices(tensor.shape, entry.place);
  return tensor.of_pairs() ? indices.end()[-2] : indices.back();
}

void ExceptionRecorder::forget(std::size_t length) {
  kept_ = 0;
  for (std::size_t list = 0; list < lists_.size(); ++list) {
    std::erase_if(lists_[list], [&](const Exception& entry) { return row_of(list, entry) >= length; });
    // what was not kept belongs to the rows that go: nothing is run behind rows with too many
    counts_[list] = lists_[list].size();
    kept_ += lists_[list].size();
  }
}

void ExceptionRecorder::agree(Communicator& comm) const {
  std::vector<std::int64_t> all(counts_.begin(), counts_.end());
  comm.all_reduce_sum(std::span(all));
  const ExceptionCounts counts(all.begin(), all.end());
  if (total(counts) > plan_.exception_limit) {
    throw RangeError("values beyond their ranges: expected at most " + std::to_string(plan_.exception_limit) +
                     " (the key's limit of exceptions), found " + exceptions_text(plan_, counts));
  }
}

ExceptionLists ExceptionRecorder::gather(Communicator& comm) const {
  ExceptionLists all;
  for (const std::vector<Exception>& mine : lists_) {
    std::vector<Exception>& list = all.emplace_back(comm.all_gather(std::span<const Exception>(mine)));
    std::ranges::sort(list);
  }
  return all;
}

}  // namespace tessera

#include "plan/exceptions.hpp"

#include <numeric>

#include "base/little_endian.hpp"
#include "plan/plan.hpp"

namespace tessera {
namespace {

constexpr std::size_t entry_bytes = 16;

/// The limit that a value beyond it is clamped to; of distances, what their exponential is.
std::int64_t limit_of(const ClampedTensor& tensor, std::int64_t excess) {
  if (tensor.kind == ClampedTensor::Kind::distances) {
    return 0;
  }
  const std::int64_t half = std::int64_t{1} << (tensor.width - 1);
  return excess > 0 ? half - 1 : -half;
}

/// Whether a query sees a key.
bool seen(const ClampedTensor& tensor, const std::vector<std::size_t>& indices) {
  const std::size_t query = indices.end()[-2];
  return indices.back() <= tensor.shape.past() + query &&
         indices.back() >= tensor.shape.first_key(indices.front(), query);
}

/// Whether a value at this place of the tensor may be clamped.
bool has_place(const ClampedTensor& tensor, std::uint64_t place) {
  if (place >= place_count(tensor.shape)) {
    return false;
  }
  const std::vector<std::size_t> indices = place_indices(tensor.shape, place);
  if (tensor.of_pairs()) {
    return seen(tensor, indices);
  }
  return tensor.kind != ClampedTensor::Kind::later_blocks || indices.front() > 0;
}

void read_lists(VerifierView<E>& transcript, const Plan& plan, std::size_t count, ExceptionLists& lists) {
  const std::vector<std::uint8_t> bytes =
      transcript.receive_bytes("places", sizeof(std::uint32_t) * lists.size() + entry_bytes * count);
  const std::uint8_t* from = bytes.data();
  std::size_t left = count;
  for (std::size_t list = 0; list < lists.size(); ++list) {
    const auto length = read_little_endian<std::uint32_t>(from);
    from += sizeof(std::uint32_t);
    transcript.check(length <= left, "lists of exceptions longer than all of them");
    left -= length;
    for (std::size_t i = 0; i < length; ++i, from += entry_bytes) {
      const Exception entry{read_little_endian<std::uint64_t>(from), read_little_endian<std::int64_t>(from + 8)};
      transcript.check(lists[list].empty() || lists[list].back().place < entry.place, "exceptions are not in order");
      const char* const fault = fault_of(plan.clamped[list], entry);
      transcript.check(fault == nullptr, fault == nullptr ? "" : fault);
      lists[list].push_back(entry);
    }
  }
  transcript.check(left == 0, "lists of exceptions shorter than all of them");
}

/// Lists whose claims are made.
std::vector<bool> checked_lists(const Plan& plan, const ExceptionCounts& counts) {
  std::vector<bool> checked;
  for (const std::size_t count : counts) {
    checked.push_back(count > 0 || plan.all_lists);
  }
  return checked;
}

}  // namespace

const char* fault_of(const ClampedTensor& tensor, const Exception& entry) {
  // so that both sides of the identity stay integers (src/spec/transformer.md, section 2)
  const std::int64_t most = std::int64_t{1} << (62 - tensor.shift);
  if (!has_place(tensor, entry.place)) {
    return "an exception outside its tensor";
  }
  if (entry.excess == 0 || (tensor.kind == ClampedTensor::Kind::distances && entry.excess < 0)) {
    return "an exception within the range";
  }
  if (entry.excess > most || entry.excess < -most) {
    return "an exception beyond what rounding leaves";
  }
  return nullptr;
}

ExceptionCounts counts_of(const ExceptionLists& lists) {
  ExceptionCounts counts;
  for (const std::vector<Exception>& list : lists) {
    counts.push_back(list.size());
  }
  return counts;
}

std::size_t total(const ExceptionCounts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

Exceptions::Exceptions(const Plan& plan, const ExceptionLists& lists, const E& rho, const std::vector<bool>& checked)
    : lists_(lists.size()) {
  for (std::size_t number = 0; number < lists.size(); ++number) {
    const ClampedTensor& tensor = plan.clamped[number];
    List& list = lists_[number];
    list.checked = checked[number];
    list.entries = lists[number];
    list.places.shape = list.excess.shape = tensor.shape;
    E power = E::one();
    for (const Exception& entry : list.entries) {
      list.places.places.push_back(entry.place);
      list.places.values.push_back(power);
      list.excess.values.push_back(E::from_signed(entry.excess));
      list.limits += power * F::from_signed(limit_of(tensor, entry.excess));
      power *= rho;
    }
    list.excess.places = list.places.places;
  }
}

const Exceptions& Exceptions::none() {
  static const Exceptions nothing;
  return nothing;
}

E Exceptions::excess_at(ClampId id, const TensorPoint& point) const {
  return checked(id) ? evaluate(lists_[id.list].excess, point) : E::zero();
}

const std::vector<Exception>& Exceptions::entries(ClampId id) const {
  static const std::vector<Exception> nothing;
  return checked(id) ? lists_[id.list].entries : nothing;
}

ReceivedExceptions receive_exceptions(VerifierView<E>& transcript, const Plan& plan, const ExceptionCounts* assumed) {
  if (plan.exception_limit == 0) {
    return {};
  }
  const std::vector<std::uint8_t> number = transcript.receive_bytes("exceptions", sizeof(std::uint32_t));
  ExceptionLists lists(plan.clamped.size());
  const std::size_t count = assumed != nullptr ? total(*assumed) : read_little_endian<std::uint32_t>(number.data());
  if (assumed == nullptr) {
    transcript.check(count <= plan.exception_limit, "more exceptions than the key allows");
  }
  ExceptionCounts counts = assumed != nullptr ? *assumed : ExceptionCounts(lists.size());
  E rho;
  if (count > 0) {
    if (assumed != nullptr) {
      transcript.receive_bytes("places", sizeof(std::uint32_t) * lists.size() + entry_bytes * count);
    } else {
      read_lists(transcript, plan, count, lists);
      counts = counts_of(lists);
    }
    rho = transcript.challenge("rho", static_cast<double>(count), "places of exceptions");
  }
  return {Exceptions(plan, lists, rho, checked_lists(plan, counts)), std::move(counts)};
}

ExceptionCounts most_exceptions(const Plan& plan) {
  ExceptionCounts counts(plan.clamped.size(), 1);
  if (!counts.empty() && plan.exception_limit > counts.size()) {
    counts.front() += plan.exception_limit - counts.size();
  }
  return counts;
}

std::string exceptions_text(const Plan& plan, const ExceptionCounts& counts) {
  std::string text = std::to_string(total(counts));
  const char* separator = ": ";
  for (std::size_t list = 0; list < counts.size(); ++list) {
    if (counts[list] > 0) {
      text += separator + plan.clamped[list].name + " " + std::to_string(counts[list]);
      separator = ", ";
    }
  }
  return text;
}

}  // namespace tessera

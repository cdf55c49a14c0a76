#include "base/errors.hpp"
#include "base/little_endian.hpp"
#include "plan/exceptions.hpp"
#include "plan/plan.hpp"

namespace tessera {

Exceptions send_exceptions(ProverTranscript& transcript, const Plan& plan, const ExceptionLists& lists) {
  if (plan.exception_limit == 0) {
    return {};
  }
  const ExceptionCounts counts = counts_of(lists);
  const std::size_t count = total(counts);
  if (count > plan.exception_limit) {
    throw InputError("exceptions: expected at most " + std::to_string(plan.exception_limit) +
                     " values beyond their ranges, found " + exceptions_text(plan, counts));
  }
  std::vector<std::uint8_t> bytes;
  append_little_endian(bytes, static_cast<std::uint32_t>(count));
  transcript.send_bytes("exceptions", bytes);
  std::vector<bool> checked;
  bytes.clear();
  for (const std::vector<Exception>& list : lists) {
    checked.push_back(!list.empty() || plan.all_lists);
    append_little_endian(bytes, static_cast<std::uint32_t>(list.size()));
    for (const Exception& entry : list) {
      append_little_endian(bytes, entry.place);
      append_little_endian(bytes, entry.excess);
    }
  }
  E rho;
  if (count > 0) {
    transcript.send_bytes("places", bytes);
    rho = transcript.challenge("rho");
  }
  return {plan, lists, rho, checked};
}

ExcessByChunk excess_by_chunk(const Shape& shape, const std::vector<Exception>& entries) {
  ExcessByChunk by_chunk;
  for (const Exception& entry : entries) {
    const auto [chunk, inner] = chunk_place(shape, entry.place);
    by_chunk[chunk].push_back({inner, entry.excess});
  }
  return by_chunk;
}

}  // namespace tessera

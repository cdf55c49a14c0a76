#include "integer_model/comparison.hpp"

namespace tessera {

Perplexity integer_perplexity(const IntegerModel& model, std::span<const std::uint32_t> ids, Communicator& comm,
                              const Progress& progress) {
  return compare_models(model, nullptr, ids, comm, progress).integer;
}

}  // namespace tessera

#include <algorithm>
#include <numeric>

#include "layers/qkv/qkv.hpp"
#include "subprotocols/inference.hpp"

namespace tessera {

QkvCache::QkvCache(Range asking, Range cached, std::size_t blocks, std::size_t before, std::size_t positions,
                   const Team& sharing)
    : queries(asking),
      rows(cached),
      capacity(positions),
      past(before),
      k(blocks * cached.size() * positions),
      v(k.size()),
      team(sharing) {}

Range QkvCache::tokens(const Batch& batch) const {
  if (batch.shared) {
    return team.share({0, batch.size}, team.number);
  }
  return {0, team.number == 0 ? batch.size : 0};
}

void share_keys(const InferenceContext& context, std::size_t heads, std::size_t block, const Batch& batch,
                QkvCache& cache) {
  const Communicator& comm = context.comm;
  const auto place = [&](std::vector<std::int16_t>& values, std::size_t row) {
    return values.begin() +
           static_cast<std::ptrdiff_t>(cache.block_offset(block) + row * cache.capacity + cache.past + batch.first);
  };
  const std::size_t rows = cache.rows.size();  // a head's
  const Range mine = cache.tokens(batch);
  std::vector<std::int16_t> values;
  values.reserve(2 * rows * mine.size());
  for (std::vector<std::int16_t>* of : {&cache.k, &cache.v}) {
    for (std::size_t row = 0; row < rows; ++row) {
      const auto from = place(*of, row);
      values.insert(values.end(), from + static_cast<std::ptrdiff_t>(mine.first),
                    from + static_cast<std::ptrdiff_t>(mine.last));
    }
  }
  std::vector<std::size_t> lengths;
  for (int rank = 0; rank < comm.size(); ++rank) {
    const Team team = team_of(heads, rank, comm.size());
    lengths.push_back(2 * rows * team.share({0, batch.size}, team.number).size() * sizeof(std::int16_t));
  }
  const SharedBytes all = context.gather_bytes(std::as_bytes(std::span(values)), lengths);
  const auto before = lengths.begin() + cache.team.first;
  const auto* from =
      reinterpret_cast<const std::int16_t*>(all.data() + std::accumulate(lengths.begin(), before, std::size_t{0}));
  for (std::size_t member = 0; member < cache.team.size; ++member) {
    const Range tokens = cache.team.share({0, batch.size}, member);
    for (std::vector<std::int16_t>* of : {&cache.k, &cache.v}) {
      for (std::size_t row = 0; row < rows; ++row, from += tokens.size()) {
        std::copy_n(from, tokens.size(), place(*of, row) + static_cast<std::ptrdiff_t>(tokens.first));
      }
    }
  }
}

}  // namespace tessera

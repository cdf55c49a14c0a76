#include "words/node_transform.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "words/transposed_transform.hpp"

namespace tessera {
namespace {

constexpr std::size_t node_slot = NodeTransform::rows_at_once * sizeof(F);

}  // namespace

bool NodeTransform::pays(const ResidueShares& positions, std::size_t present, int together) {
  const auto ranks = static_cast<std::size_t>(positions.ranks());
  const auto of_node = static_cast<std::size_t>(together);
  const bool powers = std::has_single_bit(ranks) && std::has_single_bit(of_node) && of_node > 1;
  return powers && ranks == std::size_t{1} << positions.log_count() && positions.log_size() >= ceil_log2(of_node) &&
         TransposedTransform::pays(positions, present) &&
         sizeof(std::int16_t) * present * (ranks / of_node) < sizeof(F) << positions.log_indices();
}

NodeTransform::NodeTransform(const OracleMatrix& matrix, const ResidueShares& positions, Communicator& comm)
    : matrix_(matrix),
      positions_(positions),
      comm_(comm),
      log_ranks_(ceil_log2(static_cast<std::size_t>(comm.ranks_together()))),
      log_nodes_(positions.log_count() - log_ranks_),
      number_(static_cast<std::size_t>(comm.rank()) % ranks()),
      residue_(bit_reverse(static_cast<std::size_t>(comm.rank()) >> log_ranks_, log_nodes_)),
      fold_(ceil_log2(matrix.columns()), ResidueShares::alone(positions.log_indices(), log_nodes_)),
      factors_(fold_factors(residue_, matrix.present(), ResidueShares::alone(positions.log_indices(), log_nodes_))),
      values_(length() * rows_at_once) {
  take_pages(values_.data(), values_.size() * sizeof(F));  // threads write everywhere
}

void NodeTransform::sums(const GatheredRows& gathered, std::span<std::byte> pieces) const {
  const GatheredCoefficients coefficients{matrix_, gathered};
  const std::size_t terms = std::min(ranks(), (matrix_.present() + length() - 1) / length());
  const unsigned log_terms = ceil_log2(terms);
  const std::size_t share = std::size_t{1} << log_share();
  const std::size_t fitting =
      std::min(share, std::max<std::size_t>(1, TransposedTransform::block_bytes / (ranks() * node_slot)));
#pragma omp parallel
  {
    std::vector<F> block(fitting * rows_at_once << log_ranks_);
#pragma omp for schedule(static)
    for (std::size_t first = 0; first < share; first += fitting) {
      const std::size_t count = std::min(fitting, share - first);
      const std::size_t lanes = count * rows_at_once;
      for (std::size_t m = 0; m >> log_terms == 0; ++m) {
        F* const slot = block.data() + bit_reverse(m, log_ranks_) * lanes;
        for (std::size_t i = 0; i < count; i += CosetTransform::most_neighbours) {
          fold_.sums(coefficients, matrix_.present(), factors_, number_ * share + first + i + m * length(),
                     std::min(CosetTransform::most_neighbours, count - i), slot + i * rows_at_once);
        }
      }
      ntt(std::span(block).first(lanes << log_ranks_), log_ranks_, lanes, log_ranks_ - log_terms, lanes,
          {residue_, log_nodes_});
      for (std::size_t x = 0; x < ranks(); ++x) {  // at positions of residue residue_ + 2^log_nodes_ x
        std::memcpy(pieces.data() + (bit_reverse(x, log_ranks_) * share + first) * node_slot, block.data() + x * lanes,
                    lanes * sizeof(F));
      }
    }
  }
}

void NodeTransform::put(const CoefficientBlock& block, Pieces pieces) const {
  constexpr std::size_t ahead = 8;  // slots: what they need comes from memory by then
  const std::size_t in_share = (std::size_t{1} << log_share()) - 1;
  const unsigned log_count = positions_.log_size() - block.log_distance;
  const auto sum = [&](std::size_t slot, std::size_t neighbour) {
    const std::size_t j = block.first + neighbour + (bit_reverse(slot, log_count) << block.log_distance);
    return pieces[j >> log_share()].data() + (j & in_share) * node_slot;
  };
  for (std::size_t slot = 0; slot >> log_count == 0; ++slot) {  // in the order of slots, which are written
    for (std::size_t i = 0; i < block.neighbours; ++i) {
      if ((slot + ahead) >> log_count == 0) {
        __builtin_prefetch(sum(slot + ahead, i));
      }
      std::memcpy(static_cast<void*>(block.slot(i, slot)), sum(slot, i), node_slot);
    }
  }
}

void NodeTransform::exchange(const GatheredRows& gathered,
                             const std::function<void(const PutCoefficients&)>& transform) {
  shown_ = comm_.exchange_together(
      node_slot << log_share(), [&](std::span<std::byte> pieces) { sums(gathered, pieces); },
      [&](Pieces pieces) { transform([&](const CoefficientBlock& block) { put(block, pieces); }); });
}

std::span<F> NodeTransform::operator()(const GatheredRows& gathered) {
  exchange(gathered, [&](const PutCoefficients& coefficients) {
    ntt(values_, positions_.log_size(), rows_at_once, 0, rows_at_once,
        {positions_.residue(positions_.mine().first), positions_.log_count()}, coefficients);
  });
  return values_;
}

void NodeTransform::through(const GatheredRows& gathered, const TakeValues& take) {
  exchange(gathered, [&](const PutCoefficients& coefficients) {
    ntt(values_, positions_.log_size(), rows_at_once, 0,
        {positions_.residue(positions_.mine().first), positions_.log_count()}, coefficients, take);
  });
}

}  // namespace tessera

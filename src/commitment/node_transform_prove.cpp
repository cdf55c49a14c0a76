#include "commitment/node_transform.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "commitment/transposed_transform.hpp"

namespace tessera {
namespace {

/// Of a block that one thread transforms.
constexpr std::size_t block_bytes = std::size_t{1} << 17;
constexpr std::size_t slot_bytes = NodeTransform::rows_at_once * sizeof(F);

}  // namespace

bool NodeTransform::pays(const ResidueShares& positions, std::size_t present, int together) {
  const auto ranks = static_cast<std::size_t>(positions.ranks());
  const auto of_node = static_cast<std::size_t>(together);
  const bool powers = std::has_single_bit(ranks) && std::has_single_bit(of_node) && of_node > 1;
  return powers && ranks == std::size_t{1} << positions.log_count() && TransposedTransform::pays(positions, present) &&
         sizeof(std::int16_t) * present * (ranks / of_node) < sizeof(F) << positions.log_indices();
}

NodeTransform::NodeTransform(const OracleMatrix& matrix, const ResidueShares& positions, Communicator& comm)
    : matrix_(matrix),
      positions_(positions),
      comm_(comm),
      log_ranks_(ceil_log2(static_cast<std::size_t>(comm.ranks_together()))),
      log_nodes_(positions.log_count() - log_ranks_),
      node_(static_cast<std::size_t>(comm.rank()) >> log_ranks_),
      residue_(bit_reverse(node_, log_nodes_)),
      fold_(ceil_log2(matrix.columns()), ResidueShares::alone(positions.log_indices(), log_nodes_)),
      factors_(fold_factors(residue_, matrix.present(), ResidueShares::alone(positions.log_indices(), log_nodes_))),
      at_once_(std::max<std::size_t>(1, shown_bytes / (ranks() * slot_bytes))) {}

Range NodeTransform::part_of(std::size_t number, std::size_t step) const {
  const Range share = contiguous_range(length(), static_cast<int>(number), static_cast<int>(ranks()));
  return {std::min(share.last, share.first + step * at_once_),
          std::min(share.last, share.first + (step + 1) * at_once_)};
}

void NodeTransform::sums(Range part, const GatheredRows& gathered, std::span<std::byte> pieces) const {
  const GatheredCoefficients coefficients{matrix_, gathered};
  const std::size_t terms = std::min(ranks(), (matrix_.present() + length() - 1) / length());
  const unsigned log_terms = ceil_log2(terms);
  const std::size_t fitting = std::max<std::size_t>(1, block_bytes / (ranks() * slot_bytes));
#pragma omp parallel
  {
    std::vector<F> block(fitting * rows_at_once << log_ranks_);
#pragma omp for schedule(static)
    for (std::size_t first = part.first; first < part.last; first += fitting) {
      const std::size_t count = std::min(fitting, part.last - first);
      const std::size_t lanes = count * rows_at_once;
      for (std::size_t m = 0; m >> log_terms == 0; ++m) {
        F* const slot = block.data() + bit_reverse(m, log_ranks_) * lanes;
        for (std::size_t i = 0; i < count; i += CosetTransform::most_neighbours) {
          fold_.sums(coefficients, matrix_.present(), factors_, first + i + m * length(),
                     std::min(CosetTransform::most_neighbours, count - i), slot + i * rows_at_once);
        }
      }
      ntt(std::span(block).first(lanes << log_ranks_), log_ranks_, lanes, log_ranks_ - log_terms, lanes,
          {residue_, log_nodes_});
      for (std::size_t x = 0; x < ranks(); ++x) {  // at positions of residue residue_ + 2^log_nodes_ x
        std::memcpy(pieces.data() + bit_reverse(x, log_ranks_) * piece_bytes() + (first - part.first) * slot_bytes,
                    block.data() + x * lanes, lanes * sizeof(F));
      }
    }
  }
}

std::span<F> NodeTransform::operator()(const GatheredRows& gathered) {
  values_.resize(length() * rows_at_once);
  const std::size_t mine = static_cast<std::size_t>(comm_.rank()) - (node_ << log_ranks_);
  const std::size_t most = (length() + ranks() - 1) >> log_ranks_;
  for (std::size_t step = 0; step * at_once_ < most; ++step) {
    shown_ = comm_.exchange_together(
        piece_bytes(), [&](std::span<std::byte> pieces) { sums(part_of(mine, step), gathered, pieces); },
        [&](std::size_t number, std::span<const std::byte> piece) {
          place_sums(piece, part_of(number, step), positions_.log_size(), values_.data());
        });
  }
  ntt(values_, positions_.log_size(), rows_at_once, 0, rows_at_once,
      {positions_.residue(positions_.mine().first), positions_.log_count()});
  return values_;
}

}  // namespace tessera

#include "opening/opened_columns.hpp"

#include "hash/merkle.hpp"

namespace tessera {

OpenedColumns receive_columns(VerifierView<E>& transcript, const CommittedWord& word, const Digest& root,
                              std::vector<std::size_t> drawn) {
  OpenedColumns opened{distinct_positions(std::move(drawn)), {}};
  const std::size_t width = word.leaf_values();
  opened.values = transcript.receive_base("columns", opened.positions.size() * width);
  std::size_t expected = 0;
  for (const auto& level : multiproof_siblings(opened.positions, word.log_domain())) {
    expected += level.size();
  }
  const std::vector<Digest> siblings = transcript.receive_digests("siblings", expected);
  const auto leads_to_root = [&] {
    return multiproof_root(opened.positions, hash_leaves(opened.values, width), siblings, word.log_domain()) == root;
  };
  transcript.check_public(leads_to_root, "opened columns do not lead to the committed root");
  return opened;
}

std::vector<E> bind_columns(const CommittedWord& word, const OpenedColumns& opened, std::span<const E> weights) {
  const std::size_t width = word.leaf_values();
  std::vector<E> bound;
  bound.reserve(opened.positions.size());
  for (std::size_t i = 0; i < opened.positions.size(); ++i) {
    const F* column = opened.values.data() + i * width;
    E sum;
    for (std::size_t row = 0; row < word.rows(); ++row) {
      sum += word.extension ? weights[row] * E{column[2 * row], column[2 * row + 1]} : weights[row] * column[row];
    }
    bound.push_back(sum);
  }
  return bound;
}

std::vector<F> evaluation_points(const CommittedWord& word, const OpenedColumns& opened) {
  const F root = F::root_of_unity(word.log_domain());
  std::vector<F> points;
  points.reserve(opened.positions.size());
  for (const std::size_t exponent : exponents(word.domain(), opened.positions)) {
    points.push_back(root.power(exponent));
  }
  return points;
}

}  // namespace tessera

#pragma once

#include "words/coset_transform.hpp"
#include "words/row_groups.hpp"

namespace tessera {

/// Encodes the rows of a source of coefficients at a rank's positions, a group of rows after the other:
///
///   source.rows()           how many there are, a multiple of rows_at_once
///   source.gather(rows)     makes the coefficients of these rows ready; collective
///   source.coefficients()   them, as CosetTransform reads them
///   source.present()        coefficients of a row: the others are zero
template <class Source>
class CosetEncoder {
 public:
  /// `shares`: lists of positions. `rows_at_once`: 8 or 16. `first_row`: what the sinks call the first row.
  CosetEncoder(Source source, unsigned log_columns, std::span<const ResidueShares> shares, std::size_t rows_at_once,
               std::size_t first_row = 0)
      : source_(std::move(source)),
        shares_(shares.begin(), shares.end()),
        rows_at_once_(rows_at_once),
        first_row_(first_row) {
    for (const ResidueShares& share : shares_) {
      transforms_.emplace_back(log_columns, share, rows_at_once_);
    }
  }

  /// All rows at the positions of `classes` of the first list. Collective.
  void encode(Range classes, const RowSink& sink) {
    for_groups([&](Range rows) { encode_group(0, classes, rows, sink); });
  }

  /// All rows at all positions of every list, each of which has a sink. Collective.
  void encode(std::span<const RowSink> sinks) {
    for_groups([&](Range rows) {
      for (std::size_t i = 0; i < shares_.size(); ++i) {
        encode_group(i, shares_[i].mine(), rows, sinks[i]);
      }
    });
  }

 private:
  /// Shorter classes take one pass, of one thread, and stay in a cache.
  static constexpr unsigned log_short = 13;

  template <class Visit>
  void for_groups(const Visit& visit) {
    for (std::size_t row = 0; row < source_.rows(); row += rows_at_once_) {
      source_.gather({row, row + rows_at_once_});
      visit(Range{first_row_ + row, first_row_ + row + rows_at_once_});
    }
  }

  void encode_group(std::size_t number, Range classes, Range rows, const RowSink& sink) {
    CosetTransform& transform = transforms_[number];
    if (!sink.block || shares_[number].log_size() < log_short) {
      sink.rows(classes, rows, transform(classes, source_.coefficients(), source_.present()));
      return;
    }
    sink.before_blocks(classes, rows);
    for (std::size_t i = 0; i < classes.size(); ++i) {
      transform.through(classes.first + i, source_.coefficients(), source_.present(),
                        [&](const ValueBlock& block) { sink.block(i, block); });
    }
    sink.after_blocks(classes, rows, transform.scratch());
  }

  Source source_;
  std::vector<ResidueShares> shares_;
  std::size_t rows_at_once_;
  std::size_t first_row_;
  std::vector<CosetTransform> transforms_;
};

/// encode(classes) for all classes of this rank's positions: for all together, or for one after the other by a rank
/// that is alone.
template <class Encode>
void for_classes(const ResidueShares& positions, bool alone, const Encode& encode) {
  const Range mine = positions.mine();
  for (std::size_t first = mine.first; first < (alone ? mine.last : mine.first + 1); ++first) {
    encode(alone ? Range{first, first + 1} : mine);
  }
}

}  // namespace tessera

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
  /// `rows_at_once`: 8 or 16. `first_row`: what the sink calls the first row.
  CosetEncoder(Source source, unsigned log_columns, const ResidueShares& positions, std::size_t rows_at_once,
               std::size_t first_row = 0)
      : source_(std::move(source)),
        positions_(positions),
        rows_at_once_(rows_at_once),
        first_row_(first_row),
        transform_(log_columns, positions_, rows_at_once_) {}

  /// All rows at the positions of `classes`. Collective.
  void encode(Range classes, const RowSink& sink) {
    for (std::size_t row = 0; row < source_.rows(); row += rows_at_once_) {
      source_.gather({row, row + rows_at_once_});
      const Range rows{first_row_ + row, first_row_ + row + rows_at_once_};
      if (sink.block && positions_.log_size() >= log_short) {
        encode_through(classes, rows, sink);
      } else {
        sink.rows(classes, rows, transform_(classes, source_.coefficients(), source_.present()));
      }
    }
  }

 private:
  /// Shorter classes take one pass, of one thread, and stay in a cache.
  static constexpr unsigned log_short = 13;

  void encode_through(Range classes, Range rows, const RowSink& sink) {
    sink.before_blocks(classes, rows);
    for (std::size_t i = 0; i < classes.size(); ++i) {
      transform_.through(classes.first + i, source_.coefficients(), source_.present(),
                         [&](const ValueBlock& block) { sink.block(i, block); });
    }
    sink.after_blocks(classes, rows, transform_.scratch());
  }

  Source source_;
  ResidueShares positions_;
  std::size_t rows_at_once_;
  std::size_t first_row_;
  CosetTransform transform_;
};

/// encode(classes) for all classes of this rank's positions: for all together, or for one after the other by a rank
/// that is alone.
template <class Encode>
void for_classes(const ResidueShares& positions, bool alone, const Encode& encode) {
  for (std::size_t part = 0; part < (alone ? positions.mine().size() : 1); ++part) {
    encode(alone ? Range{part, part + 1} : positions.mine());
  }
}

}  // namespace tessera

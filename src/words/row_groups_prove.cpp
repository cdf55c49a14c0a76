#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>
#include "words/row_groups.hpp"
#include "words/coset_transform.hpp"
#include "words/node_transform.hpp"
#include "words/transposed_transform.hpp"
#include "memory/storage.hpp"

#include "words/oracle_matrix.hpp"

namespace tessera {
namespace {

/// Rows that a rank encodes at once if it is alone: two cache lines of a column, or one where two would take more
/// memory than this, or be more than a band of rows has. Touching it for the first time would cost more; but after a
/// witness is hashed look-ups take as much.
constexpr std::size_t alone_rows = 16;
constexpr std::size_t stored_bytes = std::size_t{1} << 26;
constexpr std::size_t hashed_bytes = std::size_t{1} << 29;

/// As many in all bands: the order in which a transform leaves its values hangs on it.
std::size_t group_of_rows(const OracleParameters& parameters, const ResidueShares& positions, bool alone, bool hashed) {
  const std::size_t most = hashed ? hashed_bytes : stored_bytes;
  const bool two_lines = alone && (alone_rows * sizeof(F)) << positions.log_size() <= most;
  return std::min(parameters.band(parameters.band_count() - 1).rows(), two_lines ? alone_rows : CosetTransform::lanes);
}

/// Encodes groups of a band's rows at a rank's positions.
class CosetEncoder {
 public:
  CosetEncoder(const OracleLayout& layout, const OracleParameters& parameters, std::size_t band,
               std::span<const IntegerTensor> tensors, const ResidueShares& positions, Communicator& comm, bool hashed)
      : matrix_(layout, parameters, band, tensors, comm),
        band_(parameters.band(band)),
        positions_(positions),
        alone_(comm.size() == 1),
        rows_at_once_(group_of_rows(parameters, positions_, alone_, hashed)),
        transform_(layout.log_columns(parameters), positions_, rows_at_once_) {
    const std::size_t present = layout.columns(parameters);  // of the band with most of them: one way for all bands
    if (NodeTransform::pays(positions_, present, comm.ranks_together())) {
      of_node_.emplace(matrix_, positions_, comm);
    } else if (TransposedTransform::pays(positions_, present)) {
      transposed_.emplace(matrix_, positions_, comm);
    }
  }

  [[nodiscard]] std::size_t steps() const { return band_.rows() / rows_at_once_; }
  /// A step's rows, counted from the oracle's first one.
  [[nodiscard]] Range rows(std::size_t step) const {
    const Range rows = in_band(step);
    return {band_.first + rows.first, band_.first + rows.last};
  }

  /// The step's rows at the positions of `classes`: values[place * rows + row]. Collective.
  std::span<F> encode(Range classes, std::size_t step) {
    if (transposed_) {
      return (*transposed_)(in_band(step).first);
    }
    gather(step);
    if (of_node_) {
      return (*of_node_)(gathered_);
    }
    return transform_(classes, GatheredCoefficients{matrix_, gathered_}, matrix_.present());
  }

  /// Whether encode_through() can be.
  [[nodiscard]] bool passes_through() const { return !transposed_ && positions_.log_size() >= log_short; }
  /// The step's rows of `classes` to the sink's blocks. Collective.
  void encode_through(Range classes, std::size_t step, const RowSink& sink) {
    gather(step);
    sink.before_blocks(classes, rows(step));
    if (of_node_) {  // one class a rank
      of_node_->through(gathered_, [&](const ValueBlock& block) { sink.block(0, block); });
      sink.after_blocks(classes, rows(step), of_node_->scratch());
      return;
    }
    for (std::size_t i = 0; i < classes.size(); ++i) {
      transform_.through(classes.first + i, GatheredCoefficients{matrix_, gathered_}, matrix_.present(),
                         [&](const ValueBlock& block) { sink.block(i, block); });
    }
    sink.after_blocks(classes, rows(step), transform_.scratch());
  }

 private:
  /// Shorter classes take one pass, of one thread, and stay in a cache.
  static constexpr unsigned log_short = 13;

  [[nodiscard]] Range in_band(std::size_t step) const { return {step * rows_at_once_, (step + 1) * rows_at_once_}; }
  void gather(std::size_t step) {
    if (!gathered_.bytes.shared()) {
      gathered_ = {};
    }
    gathered_ = matrix_.gather(in_band(step));
  }

  OracleMatrix matrix_;
  RowBand band_;
  ResidueShares positions_;
  bool alone_;
  std::size_t rows_at_once_;
  CosetTransform transform_;
  std::optional<TransposedTransform> transposed_;
  std::optional<NodeTransform> of_node_;
  GatheredRows gathered_;
};

/// Values at this rank's positions, `count` each, to the ranks that have these columns; result: those of this rank's,
/// ascending. Collective.
class ColumnExchange {
 public:
  ColumnExchange(const ResidueShares& positions, Range columns, Communicator& comm)
      : positions_(positions), columns_(columns), comm_(comm) {
    const std::array<std::int64_t, 2> mine{static_cast<std::int64_t>(columns.first),
                                           static_cast<std::int64_t>(columns.last)};
    ranges_ = comm.all_gather<std::int64_t>(mine);
  }

  template <class T>
  RawVector<T> operator()(std::span<const T> values, std::size_t count) const {
    std::vector<MessageBytes> send(static_cast<std::size_t>(comm_.size()));
    for (std::size_t rank = 0; rank < send.size(); ++rank) {
      visit(positions_.mine(),
            {static_cast<std::size_t>(ranges_[2 * rank]), static_cast<std::size_t>(ranges_[2 * rank + 1])},
            [&](std::size_t position) {
              const auto part = std::as_bytes(values.subspan(positions_.own_place(position) * count, count));
              send[rank].insert(send[rank].end(), part.begin(), part.end());
            });
    }
    const std::vector<MessageBytes> received = comm_.all_to_all_bytes(std::move(send));
    RawVector<T> result(columns_.size() * count);
    for (std::size_t rank = 0; rank < received.size(); ++rank) {
      const ResidueShares theirs =
          ResidueShares::of_domain(positions_.log_indices(), static_cast<int>(rank), comm_.size());
      std::size_t read = 0;
      visit(theirs.mine(), columns_, [&](std::size_t position) {
        if (read + count * sizeof(T) > received[rank].size()) {
          throw std::runtime_error("commit_oracle: a rank sent too few columns");
        }
        std::memcpy(static_cast<void*>(result.data() + (position - columns_.first) * count),
                    received[rank].data() + read, count * sizeof(T));
        read += count * sizeof(T);
      });
    }
    return result;
  }

 private:
  /// The positions of `classes` in `columns`.
  template <class Visit>
  void visit(Range classes, Range columns, const Visit& visit) const {
    const std::size_t stride = std::size_t{1} << positions_.log_count();
    for (std::size_t number = classes.first; number < classes.last; ++number) {
      const std::size_t residue = positions_.residue(number);
      const std::size_t skipped = (columns.first + stride - 1 - residue) / stride;
      for (std::size_t position = residue + skipped * stride; position < columns.last; position += stride) {
        visit(position);
      }
    }
  }

  const ResidueShares& positions_;
  Range columns_;
  Communicator& comm_;
  std::vector<std::int64_t> ranges_;
};

}  // namespace

void encode_cosets(const OracleLayout& layout, const OracleParameters& parameters,
                   std::span<const IntegerTensor> tensors, const ResidueShares& positions, Communicator& comm,
                   const RowSink& sink) {
  const bool alone = comm.size() == 1;
  const std::size_t bands = parameters.band_count();
  std::unique_ptr<CosetEncoder> encoder;
  // classes are encoded together, or one after the other by a rank that is alone
  for (std::size_t part = 0; part < (alone ? positions.mine().size() : 1); ++part) {
    const Range classes = alone ? Range{part, part + 1} : positions.mine();
    for (std::size_t band = 0; band < bands; ++band) {
      if (!encoder || bands > 1) {
        encoder.reset();
        encoder = std::make_unique<CosetEncoder>(layout, parameters, band, tensors, positions, comm, bool{sink.block});
      }
      for (std::size_t step = 0; step < encoder->steps(); ++step) {
        if (sink.block && encoder->passes_through()) {
          encoder->encode_through(classes, step, sink);
        } else {
          sink.rows(classes, encoder->rows(step), encoder->encode(classes, step));
        }
      }
    }
  }
}

void encode_rows(const OracleLayout& layout, const OracleParameters& parameters, std::span<const IntegerTensor> tensors,
                 Range columns, Communicator& comm,
                 const std::function<void(Range rows, std::span<const F> values)>& visit) {
  const ResidueShares positions = ResidueShares::of_domain(layout.log_domain(parameters), comm.rank(), comm.size());
  const ColumnExchange exchange(positions, columns, comm);
  RowSink sink;
  sink.rows = [&](Range, Range rows, std::span<F> values) {
    if (comm.size() == 1) {
      visit(rows, values);
    } else {
      visit(rows, exchange(std::span<const F>(values), rows.size()));
    }
  };
  encode_cosets(layout, parameters, tensors, positions, comm, sink);
}

TreeLevel to_columns(const ResidueShares& positions, const TreeLevel& digests, Range columns, Communicator& comm) {
  return ColumnExchange(positions, columns, comm)(std::span<const Digest>(digests), 1);
}

}  // namespace tessera

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include "words/row_groups.hpp"
#include "words/coset_encoder.hpp"
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

std::size_t most_rows_alone(const ResidueShares& positions, bool hashed) {
  const bool two_lines = (alone_rows * sizeof(F)) << positions.log_size() <= (hashed ? hashed_bytes : stored_bytes);
  return two_lines ? alone_rows : CosetTransform::lanes;
}

/// The matrices of an oracle's bands, each made once: chunks may be many.
class BandMatrices {
 public:
  BandMatrices(const OracleLayout& layout, const OracleParameters& parameters, std::span<const IntegerTensor> tensors,
               Communicator& comm)
      : layout_(layout), parameters_(parameters), tensors_(tensors), comm_(comm), matrices_(parameters.band_count()) {}
  [[nodiscard]] const OracleLayout& layout() const { return layout_; }
  [[nodiscard]] const OracleParameters& parameters() const { return parameters_; }
  const OracleMatrix& of_band(std::size_t band) {
    if (matrices_[band] == nullptr) {
      matrices_[band] = std::make_unique<OracleMatrix>(layout_, parameters_, band, tensors_, comm_);
    }
    return *matrices_[band];
  }

 private:
  const OracleLayout& layout_;
  const OracleParameters& parameters_;
  std::span<const IntegerTensor> tensors_;
  Communicator& comm_;
  std::vector<std::unique_ptr<OracleMatrix>> matrices_;
};

/// A band of an oracle's rows, for a CosetEncoder.
class BandSource {
 public:
  explicit BandSource(const OracleMatrix& matrix) : matrix_(matrix) {}
  [[nodiscard]] std::size_t rows() const { return std::size_t{1} << matrix_.log_rows(); }
  [[nodiscard]] std::size_t present() const { return matrix_.present(); }
  void gather(Range rows) {
    if (!gathered_.bytes.shared()) {
      gathered_ = {};
    }
    gathered_ = matrix_.gather(rows);
  }
  [[nodiscard]] GatheredCoefficients coefficients() const { return {matrix_, gathered_}; }

 private:
  const OracleMatrix& matrix_;
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
      const ResidueShares theirs = ResidueShares(positions_.log_indices(), static_cast<int>(rank), comm_.size());
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
      const std::size_t skipped = (columns.first + stride - 1 - number) / stride;
      for (std::size_t position = number + skipped * stride; position < columns.last; position += stride) {
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

namespace {

/// Bands of rows, one after the other, for lists of positions.
class BandEncoder {
 public:
  BandEncoder(BandMatrices& matrices, std::span<const ResidueShares> shares, std::size_t most_at_once)
      : matrices_(matrices), shares_(shares), most_at_once_(most_at_once) {}

  template <class Encode>
  void operator()(const Encode& encode) {
    const OracleParameters& parameters = matrices_.parameters();
    for (std::size_t band = 0; band < parameters.band_count(); ++band) {
      if (!encoder_ || parameters.band_count() > 1) {
        encoder_.reset();  // before the next one takes memory
        const RowBand rows = parameters.band(band);
        encoder_.emplace(BandSource(matrices_.of_band(band)), matrices_.layout().log_columns(parameters), shares_,
                         std::min(rows.rows(), most_at_once_), rows.first);
      }
      encode(*encoder_);
    }
  }

 private:
  BandMatrices& matrices_;
  std::span<const ResidueShares> shares_;
  std::size_t most_at_once_;
  std::optional<CosetEncoder<BandSource>> encoder_;
};

}  // namespace

void encode_cosets(const OracleLayout& layout, const OracleParameters& parameters,
                   std::span<const IntegerTensor> tensors, std::span<const ResidueShares> shares, Communicator& comm,
                   std::span<const RowSink> sinks) {
  BandMatrices matrices(layout, parameters, tensors, comm);
  if (comm.size() > 1) {
    BandEncoder bands(matrices, shares, CosetTransform::lanes);
    bands([&](CosetEncoder<BandSource>& encoder) { encoder.encode(sinks); });
    return;
  }
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const std::size_t most = most_rows_alone(shares[i], bool{sinks[i].block});
    BandEncoder bands(matrices, shares.subspan(i, 1), most);
    for_classes(shares[i], true, [&](Range classes) {
      bands([&](CosetEncoder<BandSource>& encoder) { encoder.encode(classes, sinks[i]); });
    });
  }
}

void encode_rows(const OracleLayout& layout, const OracleParameters& parameters, std::span<const IntegerTensor> tensors,
                 Range columns, Communicator& comm,
                 const std::function<void(Range rows, std::span<const F> values)>& visit) {
  const ResidueShares positions = ResidueShares(layout.log_domain(parameters), comm.rank(), comm.size());
  const ColumnExchange exchange(positions, columns, comm);
  RowSink sink;
  sink.rows = [&](Range, Range rows, std::span<F> values) {
    if (comm.size() == 1) {
      visit(rows, values);
    } else {
      visit(rows, exchange(std::span<const F>(values), rows.size()));
    }
  };
  encode_cosets(layout, parameters, tensors, std::span(&positions, 1), comm, std::span(&sink, 1));
}

TreeLevel to_columns(const ResidueShares& positions, const TreeLevel& digests, Range columns, Communicator& comm) {
  return ColumnExchange(positions, columns, comm)(std::span<const Digest>(digests), 1);
}

}  // namespace tessera

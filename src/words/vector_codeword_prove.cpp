#include <algorithm>
#include <cstring>

#include "field/point_evaluation.hpp"
#include "words/codeword.hpp"
#include "words/coset_encoder.hpp"

namespace tessera {
namespace {

/// Shorter codewords are kept: less than what computing columns again takes.
constexpr std::size_t kept_bytes = std::size_t{8} << 20;
/// Ranks that all have a vector share the work on its codeword if this is longer: messages would cost more.
constexpr std::size_t shared_bytes = std::size_t{1} << 20;

/// A vector's rows for a CosetEncoder, two of them for a row of elements of E.
class VectorSource {
 public:
  VectorSource(const SharedVector& vector, Communicator& comm) : vector_(vector), comm_(comm) {}
  [[nodiscard]] std::size_t rows() const { return width(); }
  /// Columns from this one on are zero. Of those that ranks share each class has as many.
  [[nodiscard]] std::size_t present() const {
    return vector_.columns.ranks() == 1 ? here() : of_class() << vector_.columns.log_count();
  }
  void gather(Range rows) {
    rows_ = rows;
    if (vector_.columns.ranks() == 1) {
      return;
    }
    MessageBytes mine(here() * row_bytes());
    for (std::size_t place = 0; place < here(); ++place) {
      std::memcpy(mine.data() + place * row_bytes(), row(place), row_bytes());
    }
    if (!gathered_.shared()) {
      gathered_ = {};
    }
    gathered_ = comm_.gather_shared(mine);
  }

  /// Coefficients of the rows that were gathered last.
  struct Coefficients {
    const VectorSource& source;
    void operator()(std::size_t column, std::size_t count, F* to) const {
      for (std::size_t i = column; i < column + count; ++i, to += source.rows_.size()) {
        std::memcpy(static_cast<void*>(to), source.coefficients_of(i), source.row_bytes());
      }
    }
  };
  [[nodiscard]] Coefficients coefficients() const { return {*this}; }

 private:
  [[nodiscard]] std::size_t width() const { return std::size_t{2} << vector_.log_rows; }
  [[nodiscard]] std::size_t row_bytes() const { return rows_.size() * sizeof(F); }
  /// Columns that this rank has.
  [[nodiscard]] std::size_t here() const { return vector_.values.size() >> vector_.log_rows; }
  [[nodiscard]] std::size_t of_class() const { return here() / vector_.columns.mine().size(); }
  /// The gathered rows of a column of this rank's.
  [[nodiscard]] const std::byte* row(std::size_t place) const {
    return std::as_bytes(vector_.values.subspan(place * width() / 2)).data() + rows_.first * sizeof(F);
  }
  [[nodiscard]] const std::byte* coefficients_of(std::size_t column) const {
    const ResidueShares& columns = vector_.columns;
    if (columns.ranks() == 1) {
      return row(column);
    }
    const std::size_t place = columns.class_of(column) * of_class() + (column >> columns.log_count());
    return gathered_.data() + place * row_bytes();
  }

  SharedVector vector_;
  Communicator& comm_;
  Range rows_{0, 0};
  SharedBytes gathered_;
};

/// The columns of these leaves, the same on every rank. Collective.
std::vector<F> columns_at(const SharedVector& vector, const WordDomain& domain, std::span<const std::size_t> leaves,
                          Communicator& comm) {
  const std::size_t rows = std::size_t{1} << vector.log_rows;
  const std::size_t lanes = 2 * rows;
  const std::size_t present = vector.values.size() >> vector.log_rows;
  const ResidueShares& shares = vector.columns;
  PointEvaluation evaluation(domain.log_size, lanes, domain.log_size - shares.log_indices(), exponents(domain, leaves));
  const std::size_t stride = std::size_t{1} << shares.log_count();
  for (std::size_t residue = shares.mine().first; residue < shares.mine().last; ++residue) {
    evaluation.add({residue, stride}, evaluation.parts() / stride, [&](std::size_t part, F* to) {
      for (std::size_t column = part; column >> shares.log_indices() == 0; column += evaluation.parts()) {
        F* const lane = to + evaluation.place(column);
        if (const std::size_t place = shares.own_place(column); place < present) {
          std::memcpy(static_cast<void*>(lane), vector.values.data() + place * rows, lanes * sizeof(F));
        } else {
          std::fill_n(lane, lanes, F::zero());
        }
      }
    });
  }
  return sum_over_ranks(evaluation.values(), comm);
}

/// What a rank does that has all of a vector, without the others.
Communicator& alone() {
  static SelfCommunicator self;
  return self;
}

/// Encodes and hashes a vector of which this rank has all, or a part of its columns. Collective.
std::unique_ptr<CodewordStore> commit_columns(const SharedVector& vector, const WordDomain& domain, bool keep,
                                              Communicator& comm, std::shared_ptr<const LeafExtras> extras) {
  const unsigned log_columns = vector.columns.log_indices();
  const WordShape shape{std::size_t{2} << vector.log_rows, log_columns, domain, VectorSource(vector, comm).present()};
  const bool is_alone = comm.size() == 1;
  const std::size_t rows_at_once = std::min(shape.width, (is_alone ? 2 : 1) * CosetTransform::lanes);
  const auto encode = [&](std::span<const ResidueShares> shares, std::span<const RowSink> sinks) {
    if (!is_alone) {
      CosetEncoder<VectorSource>(VectorSource(vector, comm), log_columns, shares, rows_at_once).encode(sinks);
      return;
    }
    for (std::size_t i = 0; i < shares.size(); ++i) {
      CosetEncoder<VectorSource> encoder(VectorSource(vector, comm), log_columns, shares.subspan(i, 1), rows_at_once);
      for_classes(shares[i], true, [&](Range classes) { encoder.encode(classes, sinks[i]); });
    }
  };
  Codeword codeword = encode_word(shape, keep, comm, std::move(extras), encode);
  MemoryCodewordStore::Columns compute;
  if (!keep) {
    Communicator& sharing = vector.columns.ranks() > 1 ? comm : alone();
    compute = [vector, domain, &sharing](std::span<const std::size_t> leaves) {
      return columns_at(vector, domain, leaves, sharing);
    };
  }
  return std::make_unique<MemoryCodewordStore>(std::move(codeword), comm, std::move(compute));
}

}  // namespace

std::unique_ptr<CodewordStore> commit_vector(const SharedVector& vector, const WordDomain& domain, Communicator& comm,
                                             std::shared_ptr<const LeafExtras> extras) {
  if (vector.columns.ranks() > 1) {
    return commit_columns(vector, domain, false, comm, std::move(extras));
  }
  const std::size_t bytes = (sizeof(E) << vector.log_rows) * domain.points();
  if (comm.size() == 1 || bytes <= shared_bytes) {
    return commit_columns(vector, domain, domain.whole() && bytes <= kept_bytes, alone(), std::move(extras));
  }
  return commit_columns(vector, domain, domain.whole(), comm, std::move(extras));
}

}  // namespace tessera

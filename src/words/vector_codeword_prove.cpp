#include <omp.h>

#include <algorithm>
#include <cstring>
#include "words/codeword.hpp"
#include "words/coset_transform.hpp"
#include "words/leaf_hasher.hpp"
#include "words/row_groups.hpp"
#include "field/point_evaluation.hpp"

namespace tessera {
namespace {

/// Shorter codewords are kept: less than what computing columns again takes.
constexpr std::size_t kept_bytes = std::size_t{8} << 20;
/// Ranks that all have a vector share the work on its codeword if this is longer: messages would cost more.
constexpr std::size_t shared_bytes = std::size_t{1} << 20;
/// Elements of E of a column that are encoded at once: a block of the hash, a vector of the transform.
constexpr std::size_t group = CosetTransform::lanes / 2;
/// Parts of an evaluation between which threads add up what they have.
constexpr std::size_t parts_of_a_thread = 8;
/// Elements of E of a column that are encoded at once where values are hashed as soon as they are encoded, and log2 of
/// the shortest coset for which that pays.
constexpr std::size_t group_hashed_at_once = 2 * group;
constexpr unsigned log_hashed_at_once = 13;

class VectorEncoder {
 public:
  VectorEncoder(const SharedVector& vector, unsigned log_inverse_rate, Communicator& comm, const LeafExtras* extras)
      : vector_(vector),
        log_inverse_rate_(log_inverse_rate),
        comm_(comm),
        extras_(extras),
        positions_(
            ResidueShares::of_domain(vector.columns.log_indices() + log_inverse_rate, comm.rank(), comm.size())) {}

  [[nodiscard]] std::size_t rows() const { return std::size_t{1} << vector_.log_rows; }
  [[nodiscard]] const ResidueShares& positions() const { return positions_; }

  /// Leaves of columns that lie one after the other, of a rank that is alone.
  [[nodiscard]] TreeLevel hash_whole(std::span<const F> columns) const {
    const std::size_t leaf_values = 2 * rows();
    if (extras_ == nullptr) {
      return hash_columns(columns, leaf_values);
    }
    ColumnHasher hasher(positions_.size(), (leaf_values + LeafExtras::block) * sizeof(F));
    hasher.absorb({reinterpret_cast<const std::uint8_t*>(columns.data()), columns.size_bytes()},
                  leaf_values * sizeof(F));
    absorb_extras(hasher);
    return std::move(hasher).digests();
  }
  /// Every row, of a rank that is alone.
  [[nodiscard]] RawVector<F> encode() const {
    const std::size_t lanes = 2 * rows();
    RawVector<F> values(lanes << positions_.log_indices());
#pragma omp parallel for schedule(static)
    for (std::size_t column = 0; column < vector_.columns.size(); ++column) {
      F* const to = values.data() + bit_reverse(column, positions_.log_indices()) * lanes;
      if (column < present()) {
        std::memcpy(static_cast<void*>(to), vector_.values.data() + column * rows(), lanes * sizeof(F));
      } else {
        std::fill_n(to, lanes, F::zero());
      }
    }
    ntt(values, positions_.log_indices(), lanes, log_inverse_rate_);
    return values;
  }

  /// A group of rows after the other, hashed; leaves that are kept go to `columns`. Collective.
  [[nodiscard]] ColumnHasher hash(std::span<F> columns = {}) const {
    const std::size_t extra_bytes = extras_ != nullptr ? LeafExtras::block * sizeof(F) : 0;
    ColumnHasher hasher(positions_.size(), 2 * rows() * sizeof(F) + extra_bytes);
    CosetTransform transform(vector_.columns.log_indices(), positions_);
    SharedBytes gathered;
    for (std::size_t first = 0; first < rows(); first += group) {
      const std::span<const F> encoded =
          vector_.columns.ranks() == 1 ? encode_local(first, transform) : encode_shared(first, transform, gathered);
      for (std::size_t place = 0; place < (columns.empty() ? 0 : positions_.size()); ++place) {
        std::copy_n(encoded.data() + place * 2 * group, 2 * group, columns.data() + 2 * (place * rows() + first));
      }
      hasher.absorb({reinterpret_cast<const std::uint8_t*>(encoded.data()), encoded.size_bytes()}, group * sizeof(E));
    }
    absorb_extras(hasher);
    return hasher;
  }

  /// Leaves of a rank that is alone, which encodes a coset after the other and hashes values as soon as they are
  /// encoded: it touches less memory.
  [[nodiscard]] TreeLevel leaves_hashed_at_once() const {
    const ResidueShares positions = ResidueShares::alone(positions_.log_indices(), log_inverse_rate_);
    LeafHasher hasher(positions, 2 * rows(), extras_);
    std::optional<CosetTransform> transform(std::in_place, vector_.columns.log_indices(), positions,
                                            2 * group_hashed_at_once);
    for (std::size_t coset = 0; coset < positions.mine().size(); ++coset) {
      for (std::size_t first = 0; first < rows(); first += group_hashed_at_once) {
        const Range some{2 * first, 2 * (first + group_hashed_at_once)};
        hasher.begin({coset, coset + 1}, some);
        transform->through(coset, Coefficients{*this, first, group_hashed_at_once}, present(),
                           [&](const ValueBlock& block) { hasher.absorb(0, block); });
        hasher.end({coset, coset + 1}, some);
      }
    }
    transform.reset();
    return std::move(hasher).leaves();
  }
  [[nodiscard]] bool pays_to_hash_at_once() const {
    return comm_.size() == 1 && rows() % group_hashed_at_once == 0 &&
           vector_.columns.log_indices() >= log_hashed_at_once;
  }

  /// The columns at `positions`, the same on every rank. Collective.
  [[nodiscard]] std::vector<F> columns_at(std::span<const std::size_t> positions) const {
    const std::size_t lanes = 2 * rows();
    PointEvaluation evaluation(positions_.log_indices(), lanes, log_inverse_rate_, positions);
    const ResidueShares& shares = vector_.columns;
    const std::size_t stride = std::size_t{1} << shares.log_count();
    const std::size_t parts = evaluation.parts() / stride;  // of a class
    const std::size_t wave = std::min(parts, parts_of_a_thread * static_cast<std::size_t>(omp_get_max_threads()));
    RawVector<F> buffer(wave * evaluation.part_size());
    for (std::size_t residue = shares.mine().first; residue < shares.mine().last; ++residue) {
      for (std::size_t first = 0; first < parts; first += wave) {
        const std::size_t count = std::min(wave, parts - first);
#pragma omp parallel for schedule(static)
        for (std::size_t i = 0; i < count; ++i) {
          for (std::size_t column = residue + (first + i) * stride; column >> shares.log_indices() == 0;
               column += evaluation.parts()) {
            F* const to = buffer.data() + i * evaluation.part_size() + evaluation.place(column);
            if (const std::size_t place = shares.own_place(column); place < present()) {
              std::memcpy(static_cast<void*>(to), vector_.values.data() + place * rows(), lanes * sizeof(F));
            } else {
              std::fill_n(to, lanes, F::zero());
            }
          }
        }
        evaluation.add({residue + first * stride, stride}, std::span(buffer).first(count * evaluation.part_size()));
      }
    }
    return sum_over_ranks(evaluation.values(), comm_);
  }

 private:
  void absorb_extras(ColumnHasher& hasher) const {
    if (extras_ != nullptr) {
      std::vector<F> blocks(positions_.size() * LeafExtras::block);
      extras_->fill(positions_, positions_.mine(), blocks);
      const std::span<const F> bytes(blocks);
      hasher.absorb({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size_bytes()},
                    LeafExtras::block * sizeof(F));
    }
  }
  /// Columns that this rank has.
  [[nodiscard]] std::size_t present() const { return vector_.values.size() >> vector_.log_rows; }

  /// `count` rows from `first` on of whole columns.
  struct Coefficients {
    const VectorEncoder& encoder;
    std::size_t first, count;
    void operator()(std::size_t column, std::size_t columns, F* to) const {
      for (std::size_t i = 0; i < columns; ++i) {
        std::memcpy(static_cast<void*>(to + 2 * i * count),
                    encoder.vector_.values.data() + (column + i) * encoder.rows() + first, count * sizeof(E));
      }
    }
  };

  /// A group of rows at this rank's positions, if every rank has the vector.
  [[nodiscard]] std::span<const F> encode_local(std::size_t first, CosetTransform& transform) const {
    return transform(positions_.mine(), Coefficients{*this, first, group}, present());
  }

  /// A group of rows at this rank's positions, if ranks share the vector's columns. Collective.
  [[nodiscard]] std::span<const F> encode_shared(std::size_t first, CosetTransform& transform, SharedBytes& all) const {
    const ResidueShares& columns = vector_.columns;
    const std::size_t of_class = present() / columns.mine().size();  // the same on every rank; the others are zero
    std::vector<E> mine;
    mine.reserve(present() * group);
    for (std::size_t place = 0; place < present(); ++place) {
      const std::span<const E> part = vector_.values.subspan(place * rows() + first, group);
      mine.insert(mine.end(), part.begin(), part.end());
    }
    if (!all.shared()) {
      all = {};
    }
    all = comm_.gather_shared(std::as_bytes(std::span(mine)));
    const auto coefficients = [&](std::size_t column, std::size_t count, F* to) {
      for (std::size_t i = column; i < column + count; ++i, to += CosetTransform::lanes) {
        const std::size_t place = columns.class_of(i) * of_class + (i >> columns.log_count());
        std::memcpy(static_cast<void*>(to), all.data() + place * group * sizeof(E), group * sizeof(E));
      }
    };
    return transform(positions_.mine(), coefficients, of_class << columns.log_count());
  }

  SharedVector vector_;
  unsigned log_inverse_rate_;
  Communicator& comm_;
  const LeafExtras* extras_;
  ResidueShares positions_;
};

}  // namespace

namespace {

/// Commits to a vector of which this rank has all, alone, or a part of its columns. Collective.
std::unique_ptr<CodewordStore> commit_part(const SharedVector& vector, unsigned log_inverse_rate, Communicator& comm,
                                           std::shared_ptr<const LeafExtras> extras) {
  const VectorEncoder encoder(vector, log_inverse_rate, comm, extras.get());
  const std::size_t leaf_values = 2 * encoder.rows();
  const std::size_t bytes = (leaf_values * sizeof(F)) << encoder.positions().log_indices();
  if (comm.size() == 1 && (bytes <= kept_bytes || encoder.rows() % group != 0)) {
    Codeword codeword{leaf_values, encoder.positions().log_indices(), encoder.positions(), encoder.encode(), 0, {}, 0,
                      extras};
    codeword.levels = merkle_levels(encoder.hash_whole(codeword.columns));
    return std::make_unique<MemoryCodewordStore>(std::move(codeword), comm);
  }
  Codeword codeword = hashed_codeword(
      leaf_values, encoder.positions(),
      encoder.pays_to_hash_at_once() ? encoder.leaves_hashed_at_once() : encoder.hash().digests(), comm);
  codeword.extras = std::move(extras);
  return std::make_unique<MemoryCodewordStore>(
      std::move(codeword), comm,
      [encoder](std::span<const std::size_t> positions) { return encoder.columns_at(positions); });
}

}  // namespace

std::unique_ptr<CodewordStore> commit_vector(const SharedVector& vector, unsigned log_inverse_rate, Communicator& comm,
                                             std::shared_ptr<const LeafExtras> extras) {
  if (vector.columns.ranks() > 1) {
    return commit_part(vector, log_inverse_rate, comm, std::move(extras));
  }
  const std::size_t leaf_values = std::size_t{2} << vector.log_rows;
  const std::size_t columns = vector.columns.size() << log_inverse_rate;
  static SelfCommunicator self;
  if (comm.size() == 1 || leaf_values * columns * sizeof(F) <= shared_bytes || (leaf_values / 2) % group != 0) {
    return commit_part(vector, log_inverse_rate, self, std::move(extras));
  }
  const VectorEncoder encoder(vector, log_inverse_rate, comm, extras.get());
  RawVector<F> kept(leaf_values * encoder.positions().size());
  TreeLevel leaves = encoder.hash(kept).digests();
  Codeword codeword = hashed_codeword(leaf_values, encoder.positions(), std::move(leaves), comm);
  codeword.columns = std::move(kept);
  codeword.extras = std::move(extras);
  return std::make_unique<MemoryCodewordStore>(std::move(codeword), comm);
}

}  // namespace tessera

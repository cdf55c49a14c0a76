#include <algorithm>
#include <cstring>
#include "commitment/codeword.hpp"
#include "field/point_evaluation.hpp"

namespace tessera {
namespace {

/// Shorter codewords are kept: less than what computing columns again takes.
constexpr std::size_t kept_bytes = std::size_t{8} << 20;
/// Elements of E of a column that are encoded at once: a block of the hash, a vector of the transform.
constexpr std::size_t group = 64 / sizeof(E);

/// A vector as a matrix of 2^log_rows rows.
struct VectorMatrix {
  std::span<const E> vector;
  unsigned log_rows;
  unsigned log_inverse_rate;
  [[nodiscard]] std::size_t rows() const { return std::size_t{1} << log_rows; }
  [[nodiscard]] std::size_t columns() const { return vector.size() >> log_rows; }
  [[nodiscard]] unsigned log_domain() const { return ceil_log2(columns()) + log_inverse_rate; }
};

/// Rows [first, first + count) of the codeword.
void encode(const VectorMatrix& matrix, std::size_t first, std::size_t count, std::span<F> values) {
  const unsigned log_domain = matrix.log_domain();
#pragma omp parallel for schedule(static)
  for (std::size_t column = 0; column < matrix.columns(); ++column) {
    std::memcpy(static_cast<void*>(values.data() + bit_reverse(column, log_domain) * 2 * count),
                matrix.vector.data() + column * matrix.rows() + first, count * sizeof(E));
  }
  ntt(values, log_domain, 2 * count, matrix.log_inverse_rate);
}

std::vector<F> columns_of(const VectorMatrix& matrix, std::span<const std::size_t> positions) {
  const std::size_t lanes = 2 * matrix.rows();
  PointEvaluation evaluation(matrix.log_domain(), lanes, matrix.log_inverse_rate, positions);
  const std::size_t parts = evaluation.parts();
  const std::size_t wave = std::clamp(kept_bytes / (evaluation.part_size() * sizeof(F)), std::size_t{1}, parts);
  RawVector<F> buffer(wave * evaluation.part_size());
  for (std::size_t first = 0; first < parts; first += wave) {
    const std::size_t count = std::min(wave, parts - first);
#pragma omp parallel for schedule(static)
    for (std::size_t part = 0; part < count; ++part) {
      for (std::size_t column = first + part; column < matrix.columns(); column += parts) {
        std::memcpy(static_cast<void*>(buffer.data() + part * evaluation.part_size() + evaluation.place(column)),
                    matrix.vector.data() + column * matrix.rows(), lanes * sizeof(F));
      }
    }
    evaluation.add(first, std::span(buffer).first(count * evaluation.part_size()));
  }
  return {evaluation.values().begin(), evaluation.values().end()};
}

}  // namespace

std::unique_ptr<CodewordStore> commit_vector(std::span<const E> vector, unsigned log_rows, unsigned log_inverse_rate) {
  static SelfCommunicator self;
  const VectorMatrix matrix{vector, log_rows, log_inverse_rate};
  const std::size_t leaf_values = 2 * matrix.rows();
  const std::size_t domain = std::size_t{1} << matrix.log_domain();
  Codeword codeword{leaf_values, matrix.log_domain(), Cosets(matrix.log_domain(), 0, 1), {}, 0, {}, 0};
  if (leaf_values * domain * sizeof(F) <= kept_bytes || matrix.rows() % group != 0) {
    codeword.columns.resize(leaf_values * domain);
    encode(matrix, 0, matrix.rows(), codeword.columns);
    codeword.levels = merkle_levels(hash_columns(codeword.columns, leaf_values));
    return std::make_unique<MemoryCodewordStore>(std::move(codeword), self);
  }
  ColumnHasher hasher(domain, leaf_values * sizeof(F));
  RawVector<F> values(2 * group * domain);
  for (std::size_t first = 0; first < matrix.rows(); first += group) {
    encode(matrix, first, group, values);
    hasher.absorb({reinterpret_cast<const std::uint8_t*>(values.data()), values.size() * sizeof(F)}, group * sizeof(E));
  }
  values = RawVector<F>();
  codeword.levels = merkle_levels(std::move(hasher).digests());
  return std::make_unique<MemoryCodewordStore>(
      std::move(codeword), self,
      [matrix](std::span<const std::size_t> positions) { return columns_of(matrix, positions); });
}

}  // namespace tessera

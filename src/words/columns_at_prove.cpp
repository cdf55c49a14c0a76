#include <algorithm>
#include "words/row_groups.hpp"
#include "field/point_evaluation.hpp"

#include "words/oracle_matrix.hpp"
#include "base/shares.hpp"

namespace tessera {
std::vector<F> sum_over_ranks(std::span<const F> values, Communicator& comm) {
  if (comm.size() == 1) {
    return {values.begin(), values.end()};
  }
  std::vector<E> sums(values.begin(), values.end());  // ranks add elements of E
  comm.all_reduce_sum(sums);
  std::vector<F> result(sums.size());
  std::ranges::transform(sums, result.begin(), &E::c0);
  return result;
}

namespace {

/// Adds the rows of a band whose tensors this rank has to itself, part by part from the tensors.
void add_alone(const OracleMatrix& matrix, std::size_t rows, PointEvaluation& evaluation) {
  constexpr std::size_t ahead = 8;  // columns of a part, which are far from each other
  const GatheredRows gathered = matrix.gather({0, rows});
  evaluation.add({}, evaluation.parts(), [&](std::size_t part, F* to) {
    const std::size_t step = evaluation.parts();
    for (std::size_t column = part; column < matrix.columns(); column += step) {
      matrix.prefetch(gathered, column + ahead * step, 1);
      matrix.values(gathered, column, 1, to + evaluation.place(column));
    }
  });
}

/// Adds the rows of a band by the parts that each rank gets of all columns.
void add_exchanged(const OracleMatrix& matrix, std::size_t rows, PointEvaluation& evaluation, Communicator& comm) {
  const std::size_t parts = evaluation.parts();
  const std::size_t part_size = evaluation.part_size();
  const std::size_t wave = evaluation.parts_at_once();  // one exchange between ranks
  const auto ranks = static_cast<std::size_t>(comm.size());
  RawVector<F> buffer(wave * part_size);
  for (std::size_t step = 0; step * wave * ranks < parts; ++step) {
    const auto selection = [&](int rank) {
      const std::size_t first = (step * ranks + static_cast<std::size_t>(rank)) * wave;
      return PartSelection{std::min(parts, first), std::min(parts, first + wave), evaluation.log_parts()};
    };
    const PartSelection mine = selection(comm.rank());
    const auto place = [&](std::size_t column) {
      return buffer.data() + ((column & (parts - 1)) - mine.first) * part_size + evaluation.place(column);
    };
#pragma omp parallel for schedule(dynamic, share_of(mine.last - mine.first))
    for (std::size_t part = mine.first; part < mine.last; ++part) {
      for (std::size_t column = part; column < matrix.columns(); column += parts) {
        if (!matrix.filled(column)) {
          std::fill_n(place(column), rows, F::zero());
        }
      }
    }
    matrix.collect(selection, [&](std::size_t column, auto values) { to_field(values, place(column)); });
    evaluation.add({mine.first}, std::span(buffer).first((mine.last - mine.first) * part_size));
  }
}

/// The rows of one band at omega^positions, by this rank's columns: those of all ranks add up.
void add_band(const OracleLayout& layout, const OracleParameters& parameters, std::size_t band,
              std::span<const IntegerTensor> tensors, std::span<const std::size_t> positions, Communicator& comm,
              std::span<F> sums) {
  const RowBand rows = parameters.band(band);
  const OracleMatrix matrix(layout, parameters, band, tensors, comm);
  PointEvaluation evaluation(layout.log_domain(parameters), rows.rows(), parameters.log_inverse_rate, positions);
  if (comm.size() == 1) {
    add_alone(matrix, rows.rows(), evaluation);
  } else {
    add_exchanged(matrix, rows.rows(), evaluation, comm);
  }
  for (std::size_t i = 0; i < positions.size(); ++i) {
    std::ranges::copy(evaluation.values().subspan(i * rows.rows(), rows.rows()),
                      sums.data() + i * parameters.rows() + rows.first);
  }
}

}  // namespace

std::vector<F> columns_at(const OracleLayout& layout, const OracleParameters& parameters,
                          std::span<const IntegerTensor> tensors, std::span<const std::size_t> positions,
                          Communicator& comm) {
  const std::vector<std::size_t> points = exponents(layout.domain(parameters), positions);
  std::vector<F> columns(positions.size() * parameters.rows());
  for (std::size_t band = 0; band < parameters.band_count(); ++band) {
    add_band(layout, parameters, band, tensors, points, comm, columns);
  }
  return sum_over_ranks(columns, comm);
}

}  // namespace tessera

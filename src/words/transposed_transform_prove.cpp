#include "words/transposed_transform.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

#include "field/ntt.hpp"

namespace tessera {
namespace {

constexpr std::size_t transposed_slot = TransposedTransform::rows_at_once * sizeof(F);

template <class T>
void read_as(const std::byte* from, std::size_t count, F* to) {
  std::array<T, TransposedTransform::rows_at_once> values;  // the bytes are not aligned
  std::memcpy(values.data(), from, count * sizeof(T));
  to_field(std::span<const T>(values).first(count), to);
}

/// Bytes of an integer, by type_number().
constexpr std::array size_of_type{sizeof(std::int16_t), sizeof(std::uint16_t), sizeof(std::int32_t),
                                  sizeof(std::int64_t)};

template <class T>
constexpr std::uint8_t type_number() {
  return std::is_same_v<T, std::int16_t>    ? 0
         : std::is_same_v<T, std::uint16_t> ? 1
         : std::is_same_v<T, std::int32_t>  ? 2
                                            : 3;
}

/// Slots for the j of `part`, ascending, to where a transform of length 2^log_length has its coefficients.
void place_sums(std::span<const std::byte> sums, Range part, unsigned log_length, F* values) {
#pragma omp parallel for schedule(static)
  for (std::size_t j = part.first; j < part.last; ++j) {
    std::memcpy(static_cast<void*>(values + bit_reverse(j, log_length) * TransposedTransform::rows_at_once),
                sums.data() + (j - part.first) * transposed_slot, transposed_slot);
  }
}

}  // namespace

TransposedTransform::TransposedTransform(const OracleMatrix& matrix, const ResidueShares& positions, Communicator& comm)
    : positions_(positions),
      comm_(comm),
      mine_(share_of(static_cast<std::size_t>(comm.rank()))),
      terms_((matrix.present() + length() - 1) >> positions.log_size()),
      at_once_(std::max<std::size_t>(1, sent_bytes / (classes() * transposed_slot))),
      columns_(terms_ * mine_.size()) {
  const auto selection = [&](int rank) {
    const Range share = share_of(static_cast<std::size_t>(rank));
    return PartSelection{share.first, share.last, positions_.log_size()};
  };
  bytes_.reserve(columns_.size() * sizeof(std::int16_t) << matrix.log_rows());  // most have 16 bits
  matrix.collect(selection, [&](std::size_t column, auto values) {
    using T = std::remove_cvref_t<decltype(values[0])>;
    const std::size_t j = column % length();
    columns_[(column >> positions_.log_size()) * mine_.size() + j - mine_.first] = {
        bytes_.size(), static_cast<std::uint8_t>(values.size()), type_number<T>()};
    const auto raw = std::as_bytes(values);
    bytes_.insert(bytes_.end(), raw.begin(), raw.end());
  });
}

Range TransposedTransform::part_of(std::size_t rank, std::size_t step) const {
  const Range share = share_of(rank);
  return {std::min(share.last, share.first + step * at_once_),
          std::min(share.last, share.first + (step + 1) * at_once_)};
}

void TransposedTransform::read(const Column& column, std::size_t first_row, F* to) const {
  const std::size_t count = std::min(rows_at_once, column.rows - std::min<std::size_t>(column.rows, first_row));
  std::fill(to + count, to + rows_at_once, F::zero());
  if (count == 0) {
    return;
  }
  const std::byte* const from = bytes_.data() + column.first + first_row * size_of_type[column.type];
  switch (column.type) {
    case 0:
      read_as<std::int16_t>(from, count, to);
      break;
    case 1:
      read_as<std::uint16_t>(from, count, to);
      break;
    case 2:
      read_as<std::int32_t>(from, count, to);
      break;
    default:
      read_as<std::int64_t>(from, count, to);
  }
}

std::vector<MessageBytes> TransposedTransform::sums(Range part, std::size_t first_row) const {
  std::vector<MessageBytes> messages(static_cast<std::size_t>(comm_.size()));
  std::vector<std::byte*> to(classes());  // where a class's sums go
  for (std::size_t rank = 0; rank < messages.size(); ++rank) {
    const Range theirs = contiguous_range(classes(), static_cast<int>(rank), comm_.size());
    messages[rank].resize(theirs.size() * part.size() * transposed_slot);
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      to[theirs.first + i] = messages[rank].data() + i * part.size() * transposed_slot;
    }
  }
  const unsigned log_padding = positions_.log_count() - ceil_log2(terms_);
  const std::size_t fitting = std::max<std::size_t>(1, block_bytes / (classes() * transposed_slot));
#pragma omp parallel
  {
    std::vector<F> block(fitting * rows_at_once << positions_.log_count());
#pragma omp for schedule(static)
    for (std::size_t first = part.first; first < part.last; first += fitting) {
      const std::size_t count = std::min(fitting, part.last - first);
      const std::size_t lanes = count * rows_at_once;
      for (std::size_t m = 0; m >> ceil_log2(terms_) == 0; ++m) {
        F* const slot = block.data() + bit_reverse(m, positions_.log_count()) * lanes;
        for (std::size_t i = 0; m < terms_ && i < count; ++i) {
          read(columns_[m * mine_.size() + first + i - mine_.first], first_row, slot + i * rows_at_once);
        }
        std::fill_n(slot, m < terms_ ? 0 : lanes, F::zero());
      }
      ntt(std::span(block).first(lanes << positions_.log_count()), positions_.log_count(), lanes, log_padding);
      for (std::size_t q = 0; q < classes(); ++q) {
        std::memcpy(to[positions_.class_of(q)] + (first - part.first) * transposed_slot, block.data() + q * lanes,
                    lanes * sizeof(F));
      }
    }
  }
  return messages;
}

void TransposedTransform::place(const MessageBytes& message, Range part) {
  if (message.size() != positions_.mine().size() * part.size() * transposed_slot) {
    throw std::runtime_error("commit_oracle: a rank sent too few sums");
  }
  const std::size_t size = part.size() * transposed_slot;
  for (std::size_t i = 0; i < positions_.mine().size(); ++i) {
    place_sums(std::span(message).subspan(i * size, size), part, positions_.log_size(),
               values_.data() + i * length() * rows_at_once);
  }
}

std::span<F> TransposedTransform::operator()(std::size_t first_row) {
  values_.resize(positions_.size() * rows_at_once);
  const std::size_t most = share_of(0).size() + 1;  // shares differ by one
  for (std::size_t step = 0; step * at_once_ < most; ++step) {
    const std::vector<MessageBytes> received =
        comm_.all_to_all_bytes(sums(part_of(static_cast<std::size_t>(comm_.rank()), step), first_row));
    for (std::size_t rank = 0; rank < received.size(); ++rank) {
      place(received[rank], part_of(rank, step));
    }
  }
  const std::size_t part = rows_at_once << positions_.log_size();
  for (std::size_t i = 0; i < positions_.mine().size(); ++i) {
    ntt(std::span(values_).subspan(i * part, part), positions_.log_size(), rows_at_once, 0, rows_at_once,
        {positions_.residue(positions_.mine().first + i), positions_.log_count()});
  }
  return values_;
}

}  // namespace tessera

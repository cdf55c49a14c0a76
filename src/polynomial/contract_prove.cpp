#include <tessera/polynomial/contract.hpp>

#include <omp.h>

#include <algorithm>
#include <cassert>

namespace tessera {
namespace {

/// Places of a chunk's rows (all inner indices but the last) in weights and result.
class Contraction {
 public:
  Contraction(const Shape& shape, const std::vector<Axis>& axes) : shape_(shape), axes_(axes), stride_(axes.size(), 0) {
    assert(axes.size() == shape.dimensions().size());
    for (std::size_t j = axes.size(); j-- > 0;) {
      if (!axes[j]) {
        stride_[j] = result_size_;
        result_size_ <<= shape.dimensions()[j].bits();
      }
    }
  }

  [[nodiscard]] std::size_t result_size() const { return result_size_; }

  template <class T>
  void add_chunk(const ChunkedTensor<T>& tensor, std::size_t chunk, std::vector<E>& result) const {
    const auto& dimensions = shape_.dimensions();
    const std::size_t last = dimensions.size() - 1;
    std::vector<std::size_t> base(dimensions.size());
    for (std::size_t j = 0; j <= last; ++j) {
      base[j] = shape_.coordinate(chunk, j) << dimensions[j].log_chunk;
    }
    const std::span<const T> values = tensor.chunk(chunk);
    const std::size_t row_length = dimensions[last].chunk();
    const std::size_t rows = values.size() / row_length;
    for (std::size_t row = 0; row < rows; ++row) {
      E weight = E::one();
      std::size_t place = 0;
      std::size_t rest = row;
      for (std::size_t j = last; j-- > 0;) {
        const std::size_t index = base[j] + (rest & (dimensions[j].chunk() - 1));
        rest >>= dimensions[j].log_chunk;
        if (axes_[j]) {
          weight *= (*axes_[j])[index];
        } else {
          place += index * stride_[j];
        }
      }
      const T* entry = values.data() + row * row_length;
      if (axes_[last]) {
        result[place] += weight * dot(entry, axes_[last]->data() + base[last], row_length);
      } else {
        E* out = result.data() + place + base[last] * stride_[last];
        for (std::size_t i = 0; i < row_length; ++i) {
          out[i * stride_[last]] += weight * F::from_signed(entry[i]);
        }
      }
    }
  }

 private:
  /// sum_i entry_i * weight_i. Values below 2^32 in absolute size are summed in 128 bits and reduced once.
  template <class T>
  static E dot(const T* entry, const E* weight, std::size_t length) {
    if constexpr (sizeof(T) <= 4) {
      __int128 sum0 = 0;
      __int128 sum1 = 0;
      for (std::size_t i = 0; i < length; ++i) {
        const auto value = static_cast<std::int64_t>(entry[i]);
        // |value| < 2^31 and weight < 2^64: 2^32 terms fit
        sum0 += static_cast<__int128>(value) * weight[i].c0.value();
        sum1 += static_cast<__int128>(value) * weight[i].c1.value();
      }
      return {reduce_signed(sum0), reduce_signed(sum1)};
    } else {
      E sum;
      for (std::size_t i = 0; i < length; ++i) {
        sum += weight[i] * F::from_signed(entry[i]);
      }
      return sum;
    }
  }

  static F reduce_signed(__int128 value) {
    return value >= 0 ? F::reduce128(static_cast<unsigned __int128>(value))
                      : -F::reduce128(static_cast<unsigned __int128>(-value));
  }

  const Shape& shape_;
  const std::vector<Axis>& axes_;
  std::vector<std::size_t> stride_;  // of kept dimensions in the result
  std::size_t result_size_ = 1;
};

}  // namespace

std::vector<E> contract(const IntegerTensor& tensor, const Shape& shape, const std::vector<Axis>& axes,
                        Communicator& comm) {
  const Contraction contraction(shape, axes);
  std::vector<E> result(contraction.result_size());
  std::visit(
      [&](const auto* values) {
        const std::vector<std::size_t>& held = values->held();
        const bool mine = values->ownership().dimension != Ownership::replicated || comm.rank() == 0;
        assert(values->shape().chunk_count() == shape.chunk_count() && values->shape().bits() == shape.bits());
        if (!mine || held.empty()) {
          return;
        }
#pragma omp parallel
        {
          std::vector<E> partial(result.size());
#pragma omp for schedule(dynamic)
          for (std::size_t i = 0; i < held.size(); ++i) {
            contraction.add_chunk(*values, held[i], partial);
          }
#pragma omp critical
          for (std::size_t i = 0; i < result.size(); ++i) {
            result[i] += partial[i];
          }
        }
      },
      tensor);
  comm.all_reduce_sum(result);
  return result;
}

E weighted_sum(const IntegerTensor& tensor, const Shape& shape, std::span<const Factor> weight, Communicator& comm) {
  std::vector<Axis> axes;
  for (const Factor& factor : weight) {
    axes.emplace_back(factor.table());
  }
  return contract(tensor, shape, axes, comm).front();
}

}  // namespace tessera

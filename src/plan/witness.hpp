#pragma once

#include <deque>

#include "plan/parameters.hpp"
#include "plan/plan.hpp"
#include "plan/sampling.hpp"
#include "plan/trace.hpp"

namespace tessera {

/// The int16 parameters as tensors of the parameter oracle: every rank holds its share (output features, heads or
/// vocabulary rows by contiguous ranges; vectors are replicated).
struct ParameterTensors {
  std::vector<ChunkedTensor<std::int16_t>> tensors;  // in the oracle's order
  static ParameterTensors of(const ModelShape& shape, const Parameters& parameters, int rank = 0,
                             const Division& division = {});
  /// In each parameter's own memory where that is possible; frees it when it is copied.
  static ParameterTensors of(const ModelShape& shape, Parameters&& parameters, int rank = 0,
                             const Division& division = {});
  [[nodiscard]] std::vector<IntegerTensor> views() const;
};

/// Everything that the prover commits to or looks up, computed from a trace: loops over what the plan declares, and
/// what the layers' witness steps add. Holds views into the trace and the parameters, which must outlive it.
class Witness {
 public:
  /// Values of one chunk that this rank holds.
  using Filler = std::function<void(std::size_t chunk, std::span<std::int64_t> values)>;

  /// Derived tensors allocated, recorded tensors in place; the layers' witness steps follow, then finish().
  Witness(const Plan& plan, const Trace& trace, const ParameterTensors& parameters, Communicator& comm);
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;

  // What witness steps call.
  ChunkedTensor<std::int64_t>& operator[](const Derived& tensor) { return derived_[tensor.derived]; }
  const ChunkedTensor<std::int64_t>& operator[](const Derived& tensor) const { return derived_[tensor.derived]; }
  template <class T>
  const ChunkedTensor<T>& operator[](const Recorded<T>& tensor) const {
    return trace_[tensor];
  }
  /// The input of a pair of a function table.
  void set_input(const PairLookup& pair, const Filler& fill);
  /// Makes the input the values of a tensor, each with an offset.
  template <class T>
  void set_input(const PairLookup& pair, const ChunkedTensor<T>& values, std::uint32_t offset);
  /// The values of a range that is declared as its layer's.
  void set_range(RangeId id, Ownership ownership, const Filler& fill);

  /// Committed pieces, look-up columns and multiplicities. Collective. Throws std::logic_error if a declared tensor has
  /// no values.
  void finish(Communicator& comm, OutOfRange out_of_range = OutOfRange::refuse);

  /// A recorded or derived tensor as the provers' sums take it.
  template <class T>
  [[nodiscard]] IntegerTensor view(const Recorded<T>& tensor) const {
    return recorded[tensor.recorded];
  }

  [[nodiscard]] const IntegerTensor& view(const Integers& integers) const {
    return (integers.kind == Integers::Kind::recorded ? recorded : tensors)[integers.number];
  }

  /// The entries of a list of exceptions; none if the key allows none.
  [[nodiscard]] std::vector<Exception> exceptions_of(ClampId id) const {
    return id.known() ? exceptions[id.list] : std::vector<Exception>();
  }

  [[nodiscard]] const IntegerTensor& parameter(ParameterId id) const { return parameters[plan_.parameter_index[id]]; }

  std::vector<IntegerTensor> recorded;    // by number in Plan::recorded: the trace's
  std::vector<IntegerTensor> parameters;  // in the oracle's order
  std::vector<IntegerTensor> tensors;     // by TensorId of the witness oracle
  std::vector<LookupColumnData> columns;  // by look-up column
  std::vector<std::vector<std::int64_t>> multiplicities;
  ExceptionLists exceptions;                            // the trace's
  Candidates candidates;                                // where tokens are sampled
  std::vector<ChunkedTensor<std::int16_t>> past, kept;  // states by StateTensor, (B,A,S); empty: the pass has none

 private:
  [[nodiscard]] IntegerTensor source(const Source& source) const;
  void commit_pieces(const RangeCheck& range, Ownership ownership, const Filler& fill);

  const Plan& plan_;
  const Trace& trace_;
  int rank_, ranks_;
  std::vector<ChunkedTensor<std::int64_t>> derived_;
  std::deque<ChunkedTensor<std::uint16_t>> pieces_;
  std::deque<ChunkedTensor<std::int64_t>> counts_;  // multiplicities
};

}  // namespace tessera

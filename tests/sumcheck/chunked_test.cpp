#include <gtest/gtest.h>
#include <omp.h>

#include "cluster/thread_communicator.hpp"
#include "sumcheck/chunked.hpp"
#include "sumcheck/product_relations.hpp"

#include "../tensor/random_values.hpp"
#include "relations.hpp"

namespace tessera::test {
namespace {

/// The weight of a claim, or a table over some dimensions, as a table in flat order.
template <class Value>
std::vector<E> flat_table(const Shape& shape, const Value& value) {
  std::vector<E> table(std::size_t{1} << shape.bits());
  for (const Entry& entry : all_entries(shape)) {
    table[entry.flat] = value(entry);
  }
  return table;
}

/// Two tensors, a weight of two terms and a broadcast factor over one shape, and the relation of their first ones.
class ChunkedCase {
 public:
  ChunkedCase(const Shape& shape, Ownership ownership, bool with_eq, std::uint64_t number)
      : shape_(shape), ownership_(ownership), number_(number) {
    RandomElements random(number);
    const std::size_t n = shape.dimensions().size();
    for (int i = 0; i < 2; ++i) {
      ScaledWeight term{{}, random.element()};
      for (const Dimension& dimension : shape.dimensions()) {
        const auto head_bits = static_cast<unsigned>(random.below(dimension.bits() + 1));
        term.weight.push_back(
            {random.elements(std::size_t{1} << head_bits), random.elements(dimension.bits() - head_bits)});
      }
      weights_.push_back(std::move(term));
    }
    std::size_t size = 1;
    for (std::size_t j = 0; j < n; ++j) {
      kept_.push_back((number >> j) % 2 == 0);
      size <<= kept_[j] ? shape.dimensions()[j].bits() : 0;
    }
    broadcast_ = random.elements(size);
    if (with_eq) {
      at_ = random.elements(shape.bits());
    }
  }

  [[nodiscard]] const Point& at() const { return at_; }

  /// All four factors in flat order, absent chunks of tensors zero.
  [[nodiscard]] std::vector<std::vector<E>> tables() const {
    SelfCommunicator self;
    const auto first = filled<std::int16_t>(shape_, ownership_, number_, self);
    const auto second = filled<std::int64_t>(shape_, ownership_, number_ + 1, self);
    const auto of_tensor = [](const auto& tensor) {
      return [&tensor](const Entry& entry) {
        return entry.present ? E::from_signed(tensor.chunk(entry.chunk)[entry.place]) : E::zero();
      };
    };
    const auto of_weights = [&](const Entry& entry) {
      E sum;
      for (const ScaledWeight& term : weights_) {
        E product = term.scale;
        for (std::size_t j = 0; j < term.weight.size(); ++j) {
          product *= term.weight[j].table()[entry.index[j]];
        }
        sum += product;
      }
      return sum;
    };
    const auto of_broadcast = [&](const Entry& entry) {
      std::size_t place = 0;
      for (std::size_t j = 0; j < kept_.size(); ++j) {
        place = kept_[j] ? (place << shape_.dimensions()[j].bits()) + entry.index[j] : place;
      }
      return broadcast_[place];
    };
    return {flat_table(shape_, of_tensor(first)), flat_table(shape_, of_tensor(second)), flat_table(shape_, of_weights),
            flat_table(shape_, of_broadcast)};
  }

  template <class R>
  ProvenSumcheck prove(ProverTranscript& transcript, const R& relation, Communicator& comm) const {
    const auto first = filled<std::int16_t>(shape_, ownership_, number_, comm);
    const auto second = filled<std::int64_t>(shape_, ownership_, number_ + 1, comm);
    std::vector<ChunkedFactor> factors{TensorFactor{&first}, TensorFactor{&second}, WeightFactor(shape_, weights_),
                                       BroadcastFactor(shape_, broadcast_, kept_)};
    factors.erase(factors.begin() + static_cast<std::ptrdiff_t>(relation.factors()), factors.end());
    return prove_chunked_sumcheck(transcript, round_kernel(relation), shape_, ownership_, factors, at_, comm);
  }

 private:
  Shape shape_;
  Ownership ownership_;
  std::uint64_t number_;
  std::vector<ScaledWeight> weights_;
  std::vector<bool> kept_;
  std::vector<E> broadcast_;
  Point at_;
};

std::vector<Shape> shapes() {
  return {Shape({Dimension::whole(1)}),
          Shape({Dimension::outer(5)}),
          Shape({Dimension::outer(3), Dimension{12, 2}, Dimension::whole(4)}),
          Shape({Dimension{6, 1}, Dimension::outer(3), Dimension{3, 1}}),
          Shape({Dimension::outer(3), Dimension{24, 1}, Dimension{5, 2}}),  // many chunks
          Shape({Dimension::outer(3), Dimension{8, 1}, Dimension{8, 1}}, Presence::causal),
          Shape({Dimension::outer(2), Dimension::outer(3), Dimension{4, 2}, Dimension{4, 2}}, Presence::causal)};
}

template <class Body>
void for_each_case(const Body& body) {
  std::uint64_t number = 20;
  for (const Shape& shape : shapes()) {
    const std::size_t last = std::min<std::size_t>(1, shape.dimensions().size() - 1);
    for (const Ownership ownership : {Ownership{last}, Ownership{}}) {
      for (const bool with_eq : {false, true}) {
        const ChunkedCase data(shape, ownership, with_eq, number++);
        for (const MonomialRelation relation : {MonomialRelation{1, 1}, {2, 4}, {3, 3}, {4, 4}}) {
          std::vector<std::vector<E>> tables = data.tables();
          tables.resize(relation.factors());
          body(data, relation, tables);
        }
      }
    }
  }
}

TEST(ChunkedSumcheck, the_sum_over_present_chunks_is_accepted) {
  for_each_case([](const ChunkedCase& data, const MonomialRelation& relation, const auto& tables) {
    SelfCommunicator self;
    ProverTranscript prover(transcript_seed);
    const ProvenSumcheck proven = data.prove(prover, relation, self);
    const E claim = naive_sum(relation, tables, data.at());
    EXPECT_TRUE(accepts(relation, tables, data.at(), claim, prover.payload()));
    EXPECT_FALSE(accepts(relation, tables, data.at(), claim + E::one(), prover.payload()));
    for (std::size_t k = 0; k < tables.size(); ++k) {
      EXPECT_EQ(proven.factors[k], evaluate(tables[k], proven.point)) << k;
    }
  });
}

TEST(ChunkedSumcheck, sends_what_the_dense_one_sends) {
  for_each_case([](const ChunkedCase& data, const MonomialRelation& relation, const auto& tables) {
    SelfCommunicator self;
    ProverTranscript chunked(transcript_seed);
    ProverTranscript dense(transcript_seed);
    (void)data.prove(chunked, relation, self);
    (void)prove_dense_sumcheck(dense, round_kernel(relation), tables, data.at());
    EXPECT_EQ(chunked.payload(), dense.payload());
  });
}

/// Few variables of many chunks, an odd number of them, on 1 to 3 ranks: of the vector kernels' relations.
TEST(ChunkedSumcheck, many_chunks_send_what_the_dense_one_sends) {
  const Shape shape({Dimension::outer(7), Dimension{39, 1}, Dimension{64, 6}});
  const auto expect_equal = [&](const auto& relation, bool with_eq) {
    const ChunkedCase data(shape, Ownership{1}, with_eq, 91);
    std::vector<std::vector<E>> tables = data.tables();
    tables.resize(relation.factors());
    ProverTranscript dense(transcript_seed);
    (void)prove_dense_sumcheck(dense, round_kernel(relation), tables, data.at());
    for (int ranks = 1; ranks <= 3; ++ranks) {
      run_ranks(ranks, [&](Communicator& comm) {
        ProverTranscript chunked(transcript_seed);
        (void)data.prove(chunked, relation, comm);
        EXPECT_EQ(chunked.payload(), dense.payload()) << relation.factors() << " on " << ranks;
      });
    }
  };
  for (const bool with_eq : {false, true}) {
    expect_equal(ProductRelation{}, with_eq);
    expect_equal(TripleProductRelation{}, with_eq);
  }
}

TEST(ChunkedSumcheck, every_altered_message_fails_the_final_check) {
  for_each_case([](const ChunkedCase& data, const MonomialRelation& relation, const auto& tables) {
    SelfCommunicator self;
    ProverTranscript prover(transcript_seed);
    (void)data.prove(prover, relation, self);
    const E claim = naive_sum(relation, tables, data.at());
    for (std::size_t word = 0; word < prover.payload().size() / 8; ++word) {
      std::vector<std::uint8_t> altered = prover.payload();
      altered[8 * word + 3] ^= 0x10;
      EXPECT_FALSE(accepts(relation, tables, data.at(), claim, altered)) << word;
    }
  });
}

TEST(ChunkedSumcheck, bytes_depend_neither_on_ranks_nor_on_threads) {
  for_each_case([](const ChunkedCase& data, const MonomialRelation& relation, const auto& /*tables*/) {
    SelfCommunicator self;
    ProverTranscript alone(transcript_seed);
    const ProvenSumcheck expected = data.prove(alone, relation, self);
    for (int ranks = 2; ranks <= 4; ++ranks) {
      run_ranks(ranks, [&](Communicator& comm) {
        omp_set_num_threads(1 + ranks % 2);
        ProverTranscript prover(transcript_seed);
        const ProvenSumcheck proven = data.prove(prover, relation, comm);
        EXPECT_EQ(prover.payload(), alone.payload()) << ranks;
        EXPECT_EQ(proven.point, expected.point);
        EXPECT_EQ(proven.factors, expected.factors);
      });
    }
  });
}

/// A weight that is one in the first rows of each column, of any number of rows: in chunks, on the outer cube once the
/// inner variables are bound, and where the verifier evaluates it.
TEST(ChunkedWeights, of_columns_beginnings_are_their_extension) {
  RandomElements random(77);
  SelfCommunicator self;
  for (const unsigned log_chunk : {1U, 2U, 4U}) {
    const Shape shape({Dimension{13, log_chunk}, Dimension::outer(3)});
    for (const std::vector<std::size_t>& ends :
         {std::vector<std::size_t>{0, 7, 13}, {1, 4, 8}, {5, 3, 12}, {2, 9, 11}, {6, 10, 0}}) {
      const Beginnings matrix{ends, random.elements(3)};
      const E scale = random.element();
      const ChunkedFactor factor = WeightFactor(shape, {{{}, scale, nullptr, &matrix}});
      const std::vector<E> expected = flat_table(shape, [&](const Entry& entry) {
        const std::size_t column = entry.index[1];
        return column < 3 && entry.index[0] < ends[column] ? scale * matrix.scales[column] : E::zero();
      });
      for (const Entry& entry : all_entries(shape)) {
        if (entry.present) {
          std::vector<E> values(shape.chunk_size());
          fill_chunk(factor, entry.chunk, values);
          EXPECT_EQ(values[entry.place], expected[entry.flat]);
        }
      }
      const Point point = random.elements(shape.bits());
      EXPECT_EQ(scale * evaluate(matrix, to_tensor_point(shape, point)), evaluate(expected, point));
      const std::span<const E> inner = std::span(point).last(shape.inner_bits());
      const std::vector<E> outer = outer_table(factor, inner, self).value();
      EXPECT_EQ(evaluate(outer, std::span(point).first(shape.outer_bits())), evaluate(expected, point));
    }
  }
}

}  // namespace
}  // namespace tessera::test

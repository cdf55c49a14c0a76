#include <gtest/gtest.h>

#include <cstring>

#include "instance.hpp"

namespace tessera::test {
namespace {

constexpr const char* not_the_sum = "a node is not the sum of its children";
constexpr const char* wrong_numerators = "numerators of the leaves do not match the columns and multiplicities";
constexpr const char* wrong_denominators = "denominators of the leaves do not match the columns and tables";

using Bytes = std::vector<std::uint8_t>;
using Multiplicities = std::vector<std::vector<std::int64_t>>;

std::string rejection_of(const Instance& instance, const Multiplicities& multiplicities) {
  SelfCommunicator self;
  return rejection(instance.structure, prove(instance, multiplicities, self).payload);
}

TEST(LookupLies, value_outside_the_table) {
  Instance instance = mixed_instance(1);
  const Multiplicities honest = instance.multiplicities();
  ASSERT_EQ(rejection_of(instance, honest), "");
  for (const std::uint32_t value : {256U, 0xFFFFFFFFU}) {
    instance.a[0][17] = value;
    EXPECT_EQ(rejection_of(instance, honest), not_the_sum);
  }
}

TEST(LookupLies, another_value_of_the_table_than_counted) {
  Instance instance = mixed_instance(1);
  const Multiplicities honest = instance.multiplicities();
  instance.a[0][17] ^= 1;
  EXPECT_EQ(rejection_of(instance, honest), not_the_sum);
}

TEST(LookupLies, right_row_with_wrong_second_value) {
  for (const std::size_t column : {std::size_t{1}, std::size_t{4}, std::size_t{6}}) {
    Instance instance = mixed_instance(1);
    const Multiplicities honest = instance.multiplicities();
    ++instance.b[column][5];
    EXPECT_EQ(rejection_of(instance, honest), not_the_sum);
  }
}

TEST(LookupLies, value_counted_in_another_table) {
  Instance instance = mixed_instance(1);
  Multiplicities multiplicities = instance.multiplicities();
  // row 200 exists in R8 only: without the tables' numbers in the leaves this would balance
  --multiplicities[0][instance.a[2][9]];
  instance.a[2][9] = 200;
  ++multiplicities[2][200];
  EXPECT_EQ(rejection_of(instance, multiplicities), not_the_sum);
}

TEST(LookupLies, multiplicity_off_by_one) {
  const Instance instance = mixed_instance(1);
  for (std::size_t t = 0; t < 3; ++t) {
    for (const std::int64_t change : {-1, 1}) {
      Multiplicities multiplicities = instance.multiplicities();
      multiplicities[t][3] += change;
      EXPECT_EQ(rejection_of(instance, multiplicities), not_the_sum);
    }
  }
}

TEST(LookupLies, table_of_the_provers_own) {
  const LookupStructure honest = mixed_instance(1).structure;
  Instance instance = mixed_instance(1);
  instance.structure.tables[1].values[instance.a[1][0]] += 5;
  for (std::size_t c : {std::size_t{1}, std::size_t{4}, std::size_t{6}}) {
    for (std::size_t i = 0; i < instance.a[c].size(); ++i) {
      instance.b[c][i] = static_cast<std::int32_t>(instance.structure.tables[1].values[instance.a[c][i]]);
    }
  }
  const Bytes payload = prove(instance).payload;
  EXPECT_EQ(rejection(instance.structure, payload), "");
  EXPECT_EQ(rejection(honest, payload), wrong_denominators);
}

TEST(LookupLies, other_shapes_than_the_verifiers) {
  const Instance instance = mixed_instance(1);
  const Bytes payload = prove(instance).payload;
  LookupStructure structure = instance.structure;
  structure.columns[3].shape = Shape({Dimension::outer(6)});  // as many variables as the prover's five
  EXPECT_EQ(rejection(structure, payload), wrong_numerators);
  structure = instance.structure;
  structure.columns[3].table = 0;
  EXPECT_EQ(rejection(structure, payload), wrong_denominators);
}

/// A proof that says 0 + 0/0 everywhere: every layer holds, and the claims are solved for at the end.
TEST(LookupLies, zero_over_zero) {
  LookupStructure structure;
  structure.tables.push_back({"R3", 3, {}});
  structure.columns.push_back({"column", Shape({Dimension::whole(8)}), 0});
  ProverTranscript transcript(seed_of(7));
  {
    const Transcript::Scope scope = transcript.scope("lookup");
    SelfCommunicator self;
    transcript.grind("work", structure.grinding_bits(), self);
    const E alpha = transcript.challenge("alpha");
    const E lambda = transcript.challenge("lambda");
    transcript.send("root", E::zero());
    Point point;
    for (std::size_t layer = 0; layer < 4; ++layer) {
      const Transcript::Scope layer_scope = transcript.scope("layer");
      static_cast<void>(transcript.challenge("tau"));
      Point next(layer);
      for (std::size_t i = layer; i-- > 0;) {
        transcript.send("round", std::vector<E>(2));
        next[i] = transcript.challenge("bind");
      }
      transcript.send("children", std::vector<E>(4));
      next.push_back(transcript.challenge("merge"));
      point = next;
    }
    const E column = E::one() - point[0];
    const E table = point[0];
    const E shift = alpha - lambda * lambda;
    const E rows = table * (shift - evaluate_identity(std::span(point).last(3)));
    transcript.send("column", shift + rows * column.inverse());
    transcript.send("multiplicities", column * table.inverse());
  }
  EXPECT_EQ(rejection(structure, transcript.payload()), "a denominator is zero");
}

/// Where each message of a proof begins, and the end.
std::vector<std::size_t> message_bounds(const LookupStructure& structure) {
  std::vector<std::size_t> bounds{0, 8, 24};
  for (unsigned layer = 0; layer < structure.slots().log_leaves; ++layer) {
    for (unsigned round = 0; round < layer; ++round) {
      bounds.push_back(bounds.back() + 32);
    }
    bounds.push_back(bounds.back() + 64);
  }
  for (const LookupColumn& column : structure.columns) {
    bounds.push_back(bounds.back() + (structure.tables[column.table].values.empty() ? 16 : 32));
  }
  bounds.push_back(bounds.back() + 16 * structure.tables.size());
  return bounds;
}

struct Mutations : testing::Test {
  Instance instance = mixed_instance(1);
  LookupStructure structure = instance.structure;
  Bytes honest = prove(instance).payload;
  std::vector<std::size_t> bounds = message_bounds(structure);

  static Bytes replaced(const Bytes& bytes, std::size_t first, std::size_t last, const Bytes& by) {
    Bytes result(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(first));
    result.insert(result.end(), by.begin(), by.end());
    result.insert(result.end(), bytes.begin() + static_cast<std::ptrdiff_t>(last), bytes.end());
    return result;
  }
  [[nodiscard]] Bytes message(std::size_t i) const {
    return {honest.begin() + static_cast<std::ptrdiff_t>(bounds[i]),
            honest.begin() + static_cast<std::ptrdiff_t>(bounds[i + 1])};
  }
};

TEST_F(Mutations, every_element_of_every_message_counts) {
  ASSERT_EQ(bounds.back(), honest.size());
  ASSERT_EQ(rejection(structure, honest), "");
  for (std::size_t i = 8; i < honest.size(); i += 8) {
    Bytes payload = honest;
    payload[i] ^= 1;
    EXPECT_NE(rejection(structure, payload), "") << "element at " << i;
  }
}

TEST_F(Mutations, children_are_checked_in_every_layer) {
  std::size_t children = 24;
  for (unsigned layer = 0; layer < structure.slots().log_leaves; ++layer, children += 64) {
    children += 32 * layer;
    for (std::size_t element = 0; element < 8; ++element) {
      Bytes payload = honest;
      payload[children + 8 * element] ^= 1;
      EXPECT_EQ(rejection(structure, payload), not_the_sum) << layer;
    }
  }
}

TEST_F(Mutations, final_claims_are_pinned) {
  const std::size_t columns = bounds[bounds.size() - 2 - structure.columns.size()];
  const std::size_t multiplicities = bounds[bounds.size() - 2];
  for (std::size_t i = columns; i < honest.size(); i += 8) {
    Bytes payload = honest;
    payload[i] ^= 1;
    EXPECT_EQ(rejection(structure, payload), i < multiplicities ? wrong_denominators : wrong_numerators) << i;
  }
}

TEST_F(Mutations, messages_dropped_duplicated_reordered) {
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
    EXPECT_NE(rejection(structure, replaced(honest, bounds[i], bounds[i + 1], {})), "");
    EXPECT_NE(rejection(structure, replaced(honest, bounds[i], bounds[i], message(i))), "");
    if (i + 2 < bounds.size()) {
      Bytes swapped = message(i + 1);
      const Bytes first = message(i);
      swapped.insert(swapped.end(), first.begin(), first.end());
      EXPECT_NE(rejection(structure, replaced(honest, bounds[i], bounds[i + 2], swapped)), "");
    }
  }
}

TEST_F(Mutations, truncated_and_extended) {
  for (const std::size_t bound : bounds) {
    for (const std::size_t cut : {bound, bound + 1, bound + 15}) {
      if (cut < honest.size()) {
        const Bytes part(honest.begin(), honest.begin() + static_cast<std::ptrdiff_t>(cut));
        EXPECT_EQ(rejection(structure, part).rfind("proof ends inside message", 0), 0U);
      }
    }
  }
  Bytes extended = honest;
  extended.push_back(0);
  EXPECT_EQ(rejection(structure, extended), "trailing bytes after the proof");
}

TEST_F(Mutations, elements_plus_modulus) {
  const auto write = [](Bytes& payload, std::size_t at, std::uint64_t value) {
    std::memcpy(payload.data() + at, &value, 8);
  };
  for (std::size_t i = 8; i < honest.size(); i += 8) {
    Bytes payload = honest;
    write(payload, i, F::modulus);
    EXPECT_EQ(rejection(structure, payload).rfind("field element not below p", 0), 0U);
  }
  // a table that nobody uses has the claim 0, which p would be as well
  instance.add_table("unused", 4);
  structure = instance.structure;
  honest = prove(instance).payload;
  ASSERT_EQ(rejection(structure, honest), "");
  Bytes payload = honest;
  ASSERT_EQ(Bytes(payload.end() - 16, payload.end()), Bytes(16));
  write(payload, payload.size() - 8, F::modulus);
  EXPECT_EQ(rejection(structure, payload).rfind("field element not below p", 0), 0U);
}

TEST_F(Mutations, work_is_checked) {
  std::uint64_t nonce = 0;
  std::memcpy(&nonce, honest.data(), 8);
  ASSERT_GT(nonce, 0U);
  --nonce;  // the prover's is the least one with enough work
  std::memcpy(honest.data(), &nonce, 8);
  EXPECT_EQ(rejection(structure, honest), "not enough work in message work");
}

TEST_F(Mutations, another_statement) {
  VerifierTranscript transcript(seed_of(8), honest);
  EXPECT_THROW(verify_lookup(transcript, structure), Rejected);
}

}  // namespace
}  // namespace tessera::test

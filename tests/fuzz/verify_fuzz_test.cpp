#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/errors.hpp"

#include "../soundness/fixture.hpp"
#include "mutation.hpp"

namespace tessera::test {
namespace {

TEST(VerifyFuzz, mutated_proofs_are_rejected_without_crashing) {
  TestModel& test = odd_model();
  const Bytes honest = prove_lie(test, odd_statement(), {}).payload;
  const PayloadVerifier verify(test, odd_statement());
  ASSERT_TRUE(verify(honest).accepted);
  std::mt19937_64 random(20240601);
  for (std::size_t i = 0; i < rounds(); ++i) {
    Bytes payload = mutate(random, honest);
    if (random() % 4 == 0 && !payload.empty()) {
      payload = mutate(random, std::move(payload));
    }
    if (payload != honest) {
      ASSERT_FALSE(verify(payload).accepted) << "round " << i;
    }
  }
}

TEST(VerifyFuzz, random_bytes_are_rejected_without_crashing) {
  const PayloadVerifier verify(odd_model(), odd_statement());
  std::mt19937_64 random(7);
  for (std::size_t i = 0; i < rounds(); ++i) {
    const Bytes payload = random_bytes(random, random() % 4096);
    ASSERT_FALSE(verify(payload).accepted);
  }
}

/// Any statement against one proof: refused or rejected.
TEST(VerifyFuzz, random_statements_are_refused_or_rejected) {
  TestModel& test = odd_model();
  const Bytes honest = prove_lie(test, odd_statement(), {}).payload;
  std::mt19937_64 random(11);
  const auto ids = [&](std::size_t most) {
    std::vector<std::uint32_t> result(random() % most);
    std::ranges::generate(result, [&] { return static_cast<std::uint32_t>(random() % 303); });
    return result;
  };
  for (std::size_t i = 0; i < std::min<std::size_t>(rounds(), 200); ++i) {
    Statement statement{ids(30), ids(30)};
    statement.keeps = random() % 2 == 0;
    if (random() % 2 == 0) {
      statement.pass_length = static_cast<std::uint32_t>(random() % 2 == 0 ? 1U << (random() % 8) : random());
    }
    if (random() % 2 == 0) {
      statement.start = ConversationState{{}, random() >> (random() % 64), static_cast<std::uint32_t>(random() % 303)};
    }
    if (random() % 2 == 0) {
      const auto number = [&] { return static_cast<std::uint32_t>(random() >> (32 + random() % 32)); };
      statement.sampling = Sampling{number(), number(), number(), number(), {}};
    }
    try {
      ASSERT_FALSE(verify_inference(test.key, statement, honest).accepted);
    } catch (const InputError&) {
      continue;
    }
  }
}

}  // namespace
}  // namespace tessera::test

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "base/errors.hpp"

#include "../soundness/fixture.hpp"

namespace tessera::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;

std::size_t rounds() {
  const char* given = std::getenv("TESSERA_FUZZ_ROUNDS");
  return given != nullptr ? std::strtoul(given, nullptr, 10) : 2000;
}

Bytes random_bytes(std::mt19937_64& random, std::size_t size) {
  Bytes bytes(size);
  std::ranges::generate(bytes, [&] { return static_cast<std::uint8_t>(random()); });
  return bytes;
}

std::ptrdiff_t place_in(std::mt19937_64& random, const Bytes& bytes) {
  return static_cast<std::ptrdiff_t>(random() % (bytes.size() + 1));
}

Bytes mutate(std::mt19937_64& random, Bytes bytes) {
  const auto a = place_in(random, bytes);
  const auto b = place_in(random, bytes);
  const auto [low, high] = std::minmax(a, b);
  switch (random() % 7) {
    case 0:  // bits
      for (std::size_t i = 0; i <= random() % 4; ++i) {
        bytes[random() % bytes.size()] ^= static_cast<std::uint8_t>(1U << (random() % 8));
      }
      return bytes;
    case 1:  // truncated
      bytes.resize(static_cast<std::size_t>(a));
      return bytes;
    case 2: {  // random tail
      const Bytes tail = random_bytes(random, bytes.size() - static_cast<std::size_t>(a));
      std::ranges::copy(tail, bytes.begin() + a);
      return bytes;
    }
    case 3:  // a piece cut out
      bytes.erase(bytes.begin() + low, bytes.begin() + std::min(high, low + 64));
      return bytes;
    case 4: {  // a piece put in elsewhere
      const Bytes piece(bytes.begin() + low, bytes.begin() + std::min(high, low + 256));
      bytes.insert(bytes.begin() + place_in(random, bytes), piece.begin(), piece.end());
      return bytes;
    }
    case 5:  // extreme words
      std::fill(bytes.begin() + low, bytes.begin() + std::min(high, low + 64), random() % 2 == 0 ? 0x00 : 0xFF);
      return bytes;
    default:  // rotated
      std::rotate(bytes.begin() + low, bytes.begin() + (low + high) / 2, bytes.begin() + high);
      return bytes;
  }
}

TEST(VerifyFuzz, MutatedProofsAreRejectedWithoutCrashing) {
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

TEST(VerifyFuzz, RandomBytesAreRejectedWithoutCrashing) {
  const PayloadVerifier verify(odd_model(), odd_statement());
  std::mt19937_64 random(7);
  for (std::size_t i = 0; i < rounds(); ++i) {
    const Bytes payload = random_bytes(random, random() % 4096);
    ASSERT_FALSE(verify(payload).accepted);
  }
}

/// Any statement against one proof: refused or rejected.
TEST(VerifyFuzz, RandomStatementsAreRefusedOrRejected) {
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
    try {
      ASSERT_FALSE(verify_inference(test.key, statement, honest).accepted);
    } catch (const InputError&) {
      continue;
    }
  }
}

}  // namespace
}  // namespace tessera::testing

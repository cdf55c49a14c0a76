#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <string_view>
#include "base/little_endian.hpp"
#include "field/encoding.hpp"
#include "hash/merkle_tree.hpp"

#include "../field/instruction_sets.hpp"
#include "openssl_digest.hpp"

namespace tessera::test {
namespace {

std::string hex(const Digest& digest) {
  std::string text;
  for (const std::uint8_t byte : digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

TEST(Blake2s, rfc7693_vector) {
  const std::array<std::uint8_t, 3> abc{'a', 'b', 'c'};
  EXPECT_EQ(hex(blake2s(abc)), "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982");
}

void compare_with_the_library() {
  std::mt19937_64 random(3);
  for (const std::size_t length : {64U, 128U, 256U, 1024U}) {
    for (const std::size_t count : {1U, 3U, 16U, 17U, 300U}) {
      std::vector<std::uint8_t> messages(length * count);
      for (std::uint8_t& byte : messages) {
        byte = static_cast<std::uint8_t>(random());
      }
      TreeLevel digests(count);
      blake2s_many(messages, length, digests);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(digests[i], blake2s(std::span(messages).subspan(i * length, length))) << length << " " << i;
      }
      // in parts: the first block, then the rest
      ColumnHasher hasher(count, length);
      for (std::size_t from = 0, part = 64; from < length; from += part, part = length - from) {
        std::vector<std::uint8_t> parts;
        for (std::size_t i = 0; i < count; ++i) {
          const auto first = messages.begin() + static_cast<std::ptrdiff_t>(i * length + from);
          parts.insert(parts.end(), first, first + static_cast<std::ptrdiff_t>(part));
        }
        hasher.absorb(parts, part);
      }
      ASSERT_EQ(std::move(hasher).digests(), digests) << length << " " << count;
    }
  }
}

TEST(Blake2s, many_lanes_agree_with_the_library_on_every_instruction_set) {
  with_each_instruction_set([](const char* name) {
    SCOPED_TRACE(name);
    compare_with_the_library();
  });
}

TEST(Grinding, finds_the_nonce_of_the_plain_search) {
  for (std::uint8_t i = 0; i < 8; ++i) {
    const Digest state{i};
    const auto leading_zeros = [&](std::uint64_t nonce) {
      std::vector<std::uint8_t> message{4};
      message.insert(message.end(), state.begin(), state.end());
      append_little_endian(message, nonce);
      const Digest digest = blake2s(message);
      return std::countl_zero(
          static_cast<std::uint32_t>(digest[0] << 24 | digest[1] << 16 | digest[2] << 8 | digest[3]));
    };
    std::uint64_t nonce = 0;
    while (leading_zeros(nonce) < i * 2) {
      ++nonce;
    }
    EXPECT_EQ(find_nonce(state, i * 2U, 0, 1 << 17), nonce);
    EXPECT_EQ(find_nonce(state, i * 2U, nonce / 64 * 64, 64), nonce);
    EXPECT_EQ(find_nonce(state, i * 2U, 0, nonce / 64 * 64), std::nullopt);
  }
}

class Multiproof : public ::testing::Test {
 protected:
  static constexpr unsigned log_leaves = 7;
  Multiproof() {
    for (std::size_t i = 0; i >> log_leaves == 0; ++i) {
      leaves.push_back(hash_leaf(std::vector<F>(16, F::from_canonical(i))));
    }
    levels = merkle_levels(leaves);
  }
  std::vector<Digest> siblings(const std::vector<std::size_t>& positions) {
    std::vector<Digest> result;
    const auto indices = multiproof_siblings(positions, log_leaves);
    for (unsigned level = 0; level < log_leaves; ++level) {
      for (const std::size_t index : indices[level]) {
        result.push_back(levels[level][index]);
      }
    }
    return result;
  }
  std::vector<Digest> at(const std::vector<std::size_t>& positions) {
    std::vector<Digest> result;
    for (const std::size_t position : positions) {
      result.push_back(leaves[position]);
    }
    return result;
  }
  TreeLevel leaves;
  std::vector<TreeLevel> levels;
};

/// Of any number of leaves, whole blocks or not, what each of them is alone.
TEST(Leaves, are_hashed_together_as_alone) {
  std::mt19937_64 random(5);
  for (const std::size_t width : {16U, 17U, 23U, 24U, 40U}) {
    for (const std::size_t count : {0U, 1U, 7U, 8U, 16U, 17U, 33U}) {
      std::vector<F> values(width * count);
      std::ranges::generate(values, [&] { return F::from_canonical(random() >> 1); });
      const std::vector<Digest> digests = hash_leaves(values, width);
      ASSERT_EQ(digests.size(), count);
      for (std::size_t i = 0; i < count; ++i) {
        std::vector<std::uint8_t> message = encode(std::span<const F>(values).subspan(i * width, width));
        message.resize((message.size() + 63) / 64 * 64);
        EXPECT_EQ(digests[i], by_openssl(message)) << width << ", " << i << " of " << count;
      }
    }
  }
}

TEST_F(Multiproof, leads_to_the_root_without_redundant_siblings) {
  std::mt19937_64 random(4);
  for (const std::size_t count : {1U, 2U, 5U, 40U, 128U, 400U}) {
    std::vector<std::size_t> drawn;
    for (std::size_t i = 0; i < count; ++i) {
      drawn.push_back(random() % leaves.size());
    }
    const std::vector<std::size_t> positions = distinct_positions(drawn);
    EXPECT_EQ(multiproof_root(positions, at(positions), siblings(positions), log_leaves), levels.back()[0]);
  }
  EXPECT_EQ(siblings({6}).size(), log_leaves);
  EXPECT_EQ(siblings({6, 7}).size(), log_leaves - 1);
  std::vector<std::size_t> all(leaves.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = i;
  }
  EXPECT_TRUE(siblings(all).empty());
}

TEST_F(Multiproof, every_leaf_and_sibling_matters) {
  const std::vector<std::size_t> positions{0, 1, 17, 42, 43, 44, 127};
  const std::vector<Digest> path = siblings(positions);
  for (std::size_t i = 0; i < path.size(); ++i) {
    std::vector<Digest> wrong = path;
    wrong[i][i % 32] ^= 1;
    EXPECT_NE(multiproof_root(positions, at(positions), wrong, log_leaves), levels.back()[0]);
  }
  for (std::size_t i = 0; i < positions.size(); ++i) {
    std::vector<Digest> wrong = at(positions);
    wrong[i][31 - i] ^= 128;
    EXPECT_NE(multiproof_root(positions, wrong, path, log_leaves), levels.back()[0]);
  }
}

}  // namespace
}  // namespace tessera::test

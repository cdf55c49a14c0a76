#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "field/goldilocks.hpp"

#include "fixture.hpp"

namespace tessera::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

Verdict verdict_of_odd(const Bytes& payload) {
  static const PayloadVerifier verify(odd_model(), odd_statement());
  return verify(payload);
}

Bytes part(const Message& message) {
  const auto first = odd_proof().payload.begin() + static_cast<std::ptrdiff_t>(message.offset);
  return {first, first + static_cast<std::ptrdiff_t>(message.length)};
}

/// Messages that stand for all: the first and the last with each path, label and length.
std::vector<std::size_t> representatives() {
  std::map<std::tuple<std::string, std::string, std::size_t>, std::pair<std::size_t, std::size_t>> found;
  const std::vector<Message>& messages = odd_proof().messages;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const auto key = std::tuple{messages[i].path, messages[i].label, messages[i].length};
    found.try_emplace(key, i, i).first->second.second = i;
  }
  std::set<std::size_t> all;
  for (const auto& [key, ends] : found) {
    all.insert(ends.first);
    all.insert(ends.second);
  }
  return {all.begin(), all.end()};
}

void expect_all_rejected(const Bytes& payload, const Message& message, const std::string& what) {
  EXPECT_FALSE(verdict_of_odd(payload).accepted) << what << " " << message.path << ":" << message.label;
}

TEST(Messages, cover_the_payload) {
  std::size_t end = 0;
  for (const Message& message : odd_proof().messages) {
    EXPECT_EQ(message.offset, end);
    end += message.length;
  }
  EXPECT_EQ(end, odd_proof().payload.size());
  expect_accepted(verdict_of_odd(odd_proof().payload));
  expect_accepted(verify_inference(odd_plan(), odd_model().key, odd_statement(), odd_proof().payload));
}

TEST(Messages, every_altered_message_is_rejected) {
  std::mt19937_64 random(1);
  Bytes payload = odd_proof().payload;
  for (const Message& message : odd_proof().messages) {
    const std::size_t place = message.offset + random() % message.length;
    const auto bit = static_cast<std::uint8_t>(1U << (random() % 8));
    payload[place] ^= bit;
    expect_all_rejected(payload, message, "bit flipped");
    payload[place] ^= bit;
  }
}

TEST(Messages, every_word_of_a_representative_matters) {
  constexpr std::size_t most_words = 12;
  Bytes payload = odd_proof().payload;
  for (const std::size_t i : representatives()) {
    const Message& message = odd_proof().messages[i];
    const std::size_t words = message.length / 8;
    for (std::size_t word = 0; word < words; word += std::max<std::size_t>(1, words / most_words)) {
      const std::size_t place = message.offset + 8 * word;
      // the word plus one, as a field element
      Bytes changed = payload;
      for (std::size_t byte = 0; byte < 8 && ++changed[place + byte] == 0; ++byte) {
      }
      expect_all_rejected(changed, message, "word plus one");
    }
  }
}

TEST(Messages, dropped_duplicated_swapped_and_truncated_are_rejected) {
  const std::vector<Message>& messages = odd_proof().messages;
  const Bytes& payload = odd_proof().payload;
  for (std::size_t i = 0; i < messages.size(); i += each_or_every(5)) {
    const Message& message = messages[i];
    const auto begin = static_cast<std::ptrdiff_t>(message.offset);
    const auto end = static_cast<std::ptrdiff_t>(message.offset + message.length);
    Bytes dropped = payload;
    dropped.erase(dropped.begin() + begin, dropped.begin() + end);
    expect_all_rejected(dropped, message, "dropped");
    Bytes doubled = payload;
    const Bytes copy = part(message);
    doubled.insert(doubled.begin() + end, copy.begin(), copy.end());
    expect_all_rejected(doubled, message, "duplicated");
    expect_all_rejected({payload.begin(), payload.begin() + begin}, message, "truncated before");
    expect_all_rejected({payload.begin(), payload.begin() + end - 1}, message, "truncated inside");
    if (i + 1 < messages.size() && part(messages[i + 1]) != copy) {
      Bytes swapped = payload;
      std::rotate(swapped.begin() + begin, swapped.begin() + end,
                  swapped.begin() + end + static_cast<std::ptrdiff_t>(messages[i + 1].length));
      expect_all_rejected(swapped, message, "swapped with the next");
    }
  }
}

TEST(Messages, trailing_bytes_are_rejected) {
  for (const std::size_t extra : {1, 8, 16, 4096}) {
    Bytes payload = odd_proof().payload;
    payload.resize(payload.size() + extra);
    const Verdict verdict = verdict_of_odd(payload);
    expect_rejected(verdict, "/");
    expect_reason(verdict, "trailing bytes after the proof");
  }
  expect_rejected(verdict_of_odd({}), "/");
}

/// x + p stands for the same element as x: only the canonical one is taken. Elements below 2^32 - 1 have room for it.
TEST(Messages, elements_plus_the_modulus_are_rejected) {
  Bytes payload = odd_proof().payload;
  std::size_t tried = 0;
  for (const Message& message : odd_proof().messages) {
    if (message.length % 8 != 0 || message.label == "siblings" || message.label == "root" || message.label == "work" ||
        message.label == "witness") {
      continue;
    }
    std::size_t in_message = 0;
    for (std::size_t place = message.offset; place < message.offset + message.length && in_message < 3; place += 8) {
      std::uint64_t value = 0;
      std::copy_n(payload.begin() + static_cast<std::ptrdiff_t>(place), 8, reinterpret_cast<std::uint8_t*>(&value));
      const bool room = value < ~std::uint64_t{0} - F::modulus + 1;
      if (!room && hiding_proofs == 0) {
        continue;
      }
      Bytes changed = payload;
      // a hiding proof's elements are random, so none has room: another one's
      const std::uint64_t plus = room ? value + F::modulus : F::modulus + 5;
      std::copy_n(reinterpret_cast<const std::uint8_t*>(&plus), 8,
                  changed.begin() + static_cast<std::ptrdiff_t>(place));
      const Verdict verdict = verdict_of_odd(changed);
      EXPECT_FALSE(verdict.accepted);
      EXPECT_NE(verdict.reason.find("not below p"), std::string::npos) << verdict.reason;
      ++tried;
      ++in_message;
    }
  }
  EXPECT_GT(tried, 0U);
}

TEST(Messages, zero_denominator_is_rejected) {
  if (hiding_proofs > 0) {
    GTEST_SKIP() << "a hiding proof's denominators are padded";
  }
  const auto root = std::ranges::find_if(odd_proof().messages, [](const Message& message) {
    return message.path == "/lookup" && message.label == "root";
  });
  ASSERT_NE(root, odd_proof().messages.end());
  Bytes payload = odd_proof().payload;
  std::fill_n(payload.begin() + static_cast<std::ptrdiff_t>(root->offset), root->length, std::uint8_t{0});
  const Verdict verdict = verdict_of_odd(payload);
  expect_rejected(verdict, "/lookup");
  expect_reason(verdict, "a denominator is zero");
}

}  // namespace
}  // namespace tessera::test

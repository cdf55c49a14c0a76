#include <gtest/gtest.h>

#include <cmath>

#include "transcript/hiding_verifier.hpp"
#include "transcript/shown_bits.hpp"

namespace tessera::test {
namespace {

template <class T>
concept HasProduct = requires(T a, T b) {
  a* b;
};
static_assert(HasProduct<E> && !HasProduct<Affine>, "received values are multiplied by their view only");

/// A protocol with all kinds of messages, as a verifier writes it.
template <class S>
void verify(VerifierView<S>& transcript) {
  const auto scope = transcript.scope("outer");
  const S one = transcript.receive("one");
  {
    const auto inner = transcript.scope("inner");
    transcript.check_work("work", 3);
    (void)transcript.challenge("alpha", 4, "sum");
    (void)transcript.challenge("beta", 12, "sum");
    const std::vector<S> two = transcript.receive("two", 2);
    const E gamma = transcript.challenge("gamma", 16, "sum");
    transcript.check_equal(transcript.product(two[0], one) - gamma * two[1], S{}, "no check is made");
  }
  (void)transcript.receive_base("base", 3);
  (void)transcript.receive_digest("digest");
  (void)transcript.receive_digests("digests", 2);
  (void)transcript.receive_public("public", 4);
  transcript.identity(5, "identity");
  (void)transcript.challenge("constant", 0, "no error");
  transcript.check_work("work", 2);
  (void)transcript.positions("positions", 6, 1024, 90.5, "six");
  transcript.check_nonzero(one, "no check is made");
  transcript.check_public([]() -> bool { throw std::logic_error("no check is made"); }, "");
  (void)transcript.public_value([]() -> E { throw std::logic_error("no value is made"); });
}

/// What is refused must not be shown as what is accepted.
TEST(Soundness, is_shown_rounded_down) {
  EXPECT_EQ(shown_bits(99.997), 99.9);
  EXPECT_EQ(shown_bits(99.99999), 99.9);
  EXPECT_EQ(shown_bits(100), 100);
  EXPECT_EQ(shown_bits(100.05), 100);
  EXPECT_EQ(shown_bits(100.4), 100.4);
  EXPECT_EQ(shown_bits(127 - 1e-9), 127);  // of a field of nearly 2^128 elements
  for (int tenths = 0; tenths < 1300; ++tenths) {
    EXPECT_EQ(shown_bits(tenths / 10.0), tenths / 10.0);
  }
}

TEST(Accounting, writes_down_every_message) {
  AccountingTranscript transcript;
  verify(transcript);
  struct Expected {
    const char* path;
    const char* label;
    std::size_t bytes;
  };
  const std::vector<Expected> expected{
      {"/outer", "one", 16},    {"/outer/inner", "work", 8}, {"/outer/inner", "two", 32}, {"/outer", "base", 24},
      {"/outer", "digest", 32}, {"/outer", "digests", 64},   {"/outer", "public", 64},    {"/outer", "work", 8}};
  const std::vector<Account::Message>& messages = transcript.account().messages;
  ASSERT_EQ(messages.size(), expected.size());
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(messages[i].path, expected[i].path);
    EXPECT_EQ(messages[i].label, expected[i].label);
    EXPECT_EQ(messages[i].bytes(), expected[i].bytes) << messages[i].label;
    bytes += expected[i].bytes;
  }
  EXPECT_EQ(transcript.account().bytes(), bytes);
}

/// Work counts for what is drawn before the next message, and errors of one scope and reason are added.
TEST(Accounting, adds_up_errors) {
  AccountingTranscript transcript;
  verify(transcript);
  const std::vector<SoundnessEntry> entries = transcript.account().soundness().entries;
  ASSERT_EQ(entries.size(), 4U);
  EXPECT_EQ(entries[0].scope, "/outer/inner");
  EXPECT_EQ(entries[0].reason, "sum, 2 times");
  EXPECT_NEAR(entries[0].bits, 128 - 4 + 3, 1e-6);  // 4 + 12, ground
  EXPECT_NEAR(entries[1].bits, 128 - 4, 1e-6);      // the same reason after a message
  EXPECT_EQ(entries[2].scope, "/outer");
  EXPECT_NEAR(entries[2].bits, 128 - std::log2(5), 1e-6);
  EXPECT_EQ(entries[3].reason, "six");
  EXPECT_NEAR(entries[3].bits, 90.5 + 2, 1e-9);
}

TEST(Accounting, takes_positions_from_its_source) {
  AccountingTranscript given(
      [](std::size_t count, std::uint64_t size) { return std::vector<std::size_t>(count, size); });
  EXPECT_EQ(given.positions("p", 2, 7, 1, ""), (std::vector<std::size_t>{7, 7}));
  AccountingTranscript spread;
  EXPECT_EQ(spread.positions("p", 4, 16, 1, ""), (std::vector<std::size_t>{0, 4, 8, 12}));
  EXPECT_EQ(spread.positions("p", 9, 4, 1, ""), (std::vector<std::size_t>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace tessera::test

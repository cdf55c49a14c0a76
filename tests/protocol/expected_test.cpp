#include <gtest/gtest.h>
#include <tessera/expected.hpp>
#include <tessera/sampling.hpp>

#include "base/errors.hpp"
#include "hash/hex.hpp"
#include "protocol/seed.hpp"

namespace tessera::test {
namespace {

std::string number(char digit) {
  std::string digits(64, '0');
  digits.back() = digit;
  return digits;
}

Statement some_statement() {
  Statement statement{{1, 2, 3}, {4}};
  statement.sampling = make_sampling({0.7, 40, 0.95, 0});
  statement.sampling->seed = digest_in(number('7'));
  return statement;
}

/// "" where the statement is as expected.
std::string reason(const Expected& expected, const Statement& statement = some_statement()) {
  return unexpected(expected, statement).value_or("");
}
std::string reason(const ExpectedSampling& sampling, const Statement& statement = some_statement()) {
  return reason(Expected{{}, sampling}, statement);
}

TEST(Expected, nothing_is_everything) {
  EXPECT_EQ(reason(Expected{}), "");
  EXPECT_EQ(reason(Expected{}, {{1}, {2}}), "");
}

TEST(Expected, a_prompt_is_its_ids) {
  const auto prompt = [](std::vector<std::uint32_t> ids, PromptKind kind, const std::string& source) {
    return reason(Expected{ExpectedIds{std::move(ids), kind, source}, {}});
  };
  const std::string differ = "the prompt is not the expected one: its ids differ from those of ";
  EXPECT_EQ(prompt({1, 2, 3}, PromptKind::ids, "1,2,3"), "");
  EXPECT_EQ(prompt({1, 2}, PromptKind::ids, "1,2"),
            differ + "the ids \"1,2\" (2 tokens) at token 3: expected none, found 3");
  EXPECT_EQ(prompt({1, 2, 3, 4}, PromptKind::text, "a\n"),
            differ + "the text \"a\\n\" (4 tokens) at token 4: expected 4, found none");
  EXPECT_EQ(prompt({9}, PromptKind::text, "1,2"),
            differ +
                "the text \"1,2\" (1 token) at token 1: expected 9, found 1; it was taken for a text: ids have an "
                "option of their own");
  EXPECT_EQ(prompt({}, PromptKind::messages, "chat.json"),
            differ + "the messages of \"chat.json\" (0 tokens) at token 1: expected none, found 1");
  EXPECT_EQ(prompt({2}, PromptKind::messages, ""), differ + "the messages (1 token) at token 1: expected 2, found 1");
}

TEST(Expected, every_parameter_of_sampling_counts) {
  const auto drawn = [](const std::string& parameters) { return reason(ExpectedSampling{parameters, {}, {}, {}}); };
  EXPECT_EQ(drawn("temperature=0.7,top_k=40,top_p=0.95"), "");
  for (const char* wrong :
       {"temperature=0.8,top_k=40,top_p=0.95", "temperature=0.7,top_k=39,top_p=0.95", "temperature=0.7",
        "temperature=0.7,top_k=40", "temperature=0.7,top_k=40,top_p=0.95,min_p=0.1"}) {
    EXPECT_TRUE(drawn(wrong).starts_with("tokens are not drawn as expected: expected temperature=")) << wrong;
  }
  EXPECT_EQ(drawn("temperature=0"),
            "tokens are not drawn as expected: expected the arg-max (temperature=0), found "
            "temperature=0.7,top_k=40,top_p=0.95");
  EXPECT_EQ(reason(ExpectedSampling{"temperature=0", {}, {}, {}}, {{1}, {2}}), "");
  EXPECT_EQ(reason(ExpectedSampling{"temperature=1", {}, {}, {}}, {{1}, {2}}),
            "tokens are not drawn as expected: expected temperature=1, found the arg-max (temperature=0)");
}

TEST(Expected, a_seed_may_be_of_both) {
  EXPECT_EQ(reason(ExpectedSampling{{}, number('7'), {}, {}}), "");
  EXPECT_EQ(reason(ExpectedSampling{{}, number('8'), {}, {}}),
            "the seed is not the expected one: expected " + number('8') + ", found " + number('7'));
  EXPECT_EQ(reason(ExpectedSampling{{}, number('7'), {}, {}}, {{1}, {2}}),
            "the seed is not the expected one: expected " + number('7') + ", found none: tokens are the arg-max");
  const std::string commitment = to_hex(blake2s(digest_in(number('5'))));
  const ExpectedSampling both{{}, number('7'), commitment, number('5')};
  EXPECT_TRUE(reason(both).starts_with("the seed is not the expected one"));  // which is the client's share alone
  Statement joint = some_statement();
  joint.sampling->seed = joint_seed(digest_in(number('5')), digest_in(number('7')));
  EXPECT_EQ(reason(both, joint), "");
  ExpectedSampling other = both;
  other.opening = number('6');
  EXPECT_EQ(reason(other, joint), "the seed's opening is not what its commitment is to");
}

TEST(Expected, what_is_none_is_refused_by_name) {
  const auto refused = [](ExpectedSampling sampling) {
    try {
      (void)unexpected({{}, sampling}, some_statement());
      return std::string("taken");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(refused({"temperature=99", {}, {}, {}}),
            "expected sampling: temperature: expected 0.03125 to 16, found 99");
  EXPECT_EQ(refused({{}, "07", {}, {}}), "expected seed: expected 64 hexadecimal digits, found \"07\"");
  EXPECT_EQ(refused({{}, number('7'), "x", number('5')}),
            "seed commitment: expected 64 hexadecimal digits, found \"x\"");
  EXPECT_EQ(refused({{}, number('7'), number('5'), number('g')}),
            "seed opening: expected 64 hexadecimal digits, found \"" + number('g') + "\"");
  EXPECT_EQ(refused({{}, {}, number('5'), number('5')}),
            "expected seed: expected one beside a seed commitment, found none");
  EXPECT_EQ(refused({{}, number('7'), number('5'), {}}),
            "seed opening: expected one beside a seed commitment, found none");
  EXPECT_EQ(refused({{}, number('7'), {}, number('5')}),
            "seed commitment: expected one beside a seed opening, found none");
  ExpectedSampling upper{{}, std::string(64, 'A'), {}, {}};
  check_expected(upper);
  EXPECT_EQ(upper.seed, std::string(64, 'a'));
}

}  // namespace
}  // namespace tessera::test

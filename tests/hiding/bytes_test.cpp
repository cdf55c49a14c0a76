#include <gtest/gtest.h>

#include <cmath>

#include "datasets/dataset_file.hpp"
#include "hiding_job.hpp"
#include "hiding_proving.hpp"

namespace tessera::test {
namespace {

using Ids = std::vector<std::uint32_t>;

Ids prompt_of(const std::string& model, std::size_t length) {
  const std::string text = text_of(bundled_folder(model) / "sample.txt");
  Ids ids = Tokenizer(bundled(model).model.tokenizer).encode(text.substr(0, 16 * length));
  ids.resize(length);
  return ids;
}

class HidingBytes : public ::testing::TestWithParam<const char*> {};

TEST_P(HidingBytes, do_not_depend_on_ranks_and_threads_but_on_the_seed) {
  const Model& model = bundled(GetParam()).model;
  const Ids prompt = prompt_of(GetParam(), 5);
  const Job job = prove_hidden_job(model, prompt, 6);
  expect_accepted(verify_inference(job.key, job.statement, job.payload));
  for (const int ranks : {1, 2, 3}) {
    for (const int threads : {1, 2}) {
      // a codeword that is kept, and one that is encoded a coset after the other and never whole
      const std::size_t budget = threads == 1 ? 0 : default_codeword_budget;
      const Job other = prove_hidden_job(model, prompt, 6, ranks, threads, {.codeword_budget = budget});
      EXPECT_EQ(other.key.parameter_root, job.key.parameter_root) << ranks << " ranks, " << threads << " threads";
      EXPECT_EQ(other.payload, job.payload) << ranks << " ranks, " << threads << " threads";
    }
  }
  const Job other = prove_hidden_job(model, prompt, 6, 1, 1, {.seed = "another seed"});
  expect_accepted(verify_inference(other.key, other.statement, other.payload));
  EXPECT_EQ(other.statement, job.statement);
  EXPECT_NE(other.payload, job.payload);
  const Job plain = prove_job(model, prompt, 6, 1, 1);
  EXPECT_EQ(job.statement, plain.statement);
}

TEST_P(HidingBytes, of_sampled_text_do_not_depend_on_ranks_and_threads) {
  const Model& model = bundled(GetParam()).model;
  const Ids prompt = prompt_of(GetParam(), 5);
  const Sampling sampling{1000, 0, top_p_unit, 9000, seed_of("tokens")};
  const Job job = prove_hidden_job(model, prompt, 6, 1, 1, {.sampling = sampling});
  expect_accepted(verify_inference(job.key, job.statement, job.payload));
  for (const int ranks : {1, 2, 3}) {
    for (const int threads : {1, 2}) {
      const Job other = prove_hidden_job(model, prompt, 6, ranks, threads, {.sampling = sampling});
      EXPECT_EQ(other.statement, job.statement) << ranks << " ranks, " << threads << " threads";
      EXPECT_EQ(other.payload, job.payload) << ranks << " ranks, " << threads << " threads";
    }
  }
  EXPECT_EQ(job.statement, prove_job(model, prompt, 6, 1, 1, 0, sampling).statement);
  EXPECT_NE(job.statement.generated, prove_job(model, prompt, 6, 1, 1).statement.generated);
}

INSTANTIATE_TEST_SUITE_P(Models, HidingBytes, ::testing::Values("odd-40k", "odd-qwen-60k", "odd-qwen2-50k"),
                         [](const auto& model) {
                           std::string name = model.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

/// Texts of five chunks of rows, of which there is room for eight.
TEST(HidingBytes, of_a_length_that_is_no_power_of_two_do_not_depend_on_ranks) {
  for (const char* name : {"odd-40k", "odd-qwen2-50k"}) {
    const Model& model = bundled(name).model;
    const Ids prompt = prompt_of(name, 28);
    const Job job = prove_hidden_job(model, prompt, 5);
    EXPECT_EQ(job.rows, 40U);
    expect_accepted(verify_inference(job.key, job.statement, job.payload));
    for (const int ranks : {2, 3}) {
      const Job other = prove_hidden_job(model, prompt, 5, ranks);
      EXPECT_EQ(other.key.parameter_root, job.key.parameter_root) << name << " on " << ranks;
      EXPECT_EQ(other.statement, job.statement) << name << " on " << ranks;
      EXPECT_EQ(other.payload, job.payload) << name << " on " << ranks;
    }
  }
}

/// The format of hiding proofs: bytes change only together with format_version.
TEST(HidingBytes, are_those_of_the_format) {
  const Job job = prove_hidden_job(bundled("odd-40k").model, prompt_of("odd-40k", 5), 6);
  EXPECT_EQ(to_hex(job.key.parameter_root), "fdc3333aba0c8f0774bfc1e0e0058d92d5904c5f5a0fb02efdbd09991a287d38");
  EXPECT_EQ(to_hex(blake2s(job.payload)), "dbcf0ef3896ae9d2b66f91f5e765e3ac58edaf99c66988840cdf4db1fc0eb8fa");
}

class SlowHidingProof : public ::testing::TestWithParam<const char*> {};

TEST_P(SlowHidingProof, is_accepted_and_hardly_longer) {
  const Model& model = bundled(GetParam()).model;
  const Job job = prove_hidden_job(model, prompt_of(GetParam(), 32), 32);
  expect_accepted(verify_inference(job.key, job.statement, job.payload));
  const Job plain = prove_job(model, prompt_of(GetParam(), 32), 32, 1, 1);
  EXPECT_EQ(job.statement, plain.statement);
  std::printf("%zu bytes, plain %zu\n", job.payload.size(), plain.payload.size());
  // a small plain witness is at rate 1/4, a hiding one at 1/2, and all positions are shared
  EXPECT_LT(job.payload.size(), plain.payload.size() * 4 / 3);
}

INSTANTIATE_TEST_SUITE_P(Models, SlowHidingProof, ::testing::Values("gutenberg-2m", "gutenberg-llama-3m"),
                         [](const auto& model) {
                           std::string name = model.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

/// Elements of F of messages before the opening, by path and label, over 200 proofs of one statement: of each, no byte
/// place has one value alone, and bytes' values are as frequent as chance has it.
TEST(SlowHidingStatistics, bytes_are_even) {
  constexpr std::size_t proofs = 200;
  HidingJob job;
  struct Group {
    std::array<double, 256> counts{};
    double total = 0;
  };
  std::map<std::string, Group> groups;
  std::vector<Message> messages;
  std::vector<std::uint8_t> first;
  std::vector<bool> varies;
  for (std::size_t i = 0; i < proofs; ++i) {
    Digest seed{};
    seed[0] = static_cast<std::uint8_t>(i);
    const Proof proof = job.prove(seed);
    if (i == 0) {
      messages = proof.messages;
      std::erase_if(messages, [](const Message& message) {
        return message.path.starts_with("/opening") || message.label == "work";
      });
      first = proof.payload;
      varies.resize(first.size());
    }
    for (const Message& message : messages) {
      Group& group = groups[message.path + ":" + message.label];
      for (std::size_t at = message.offset; at < message.offset + message.length; ++at) {
        ++group.counts[proof.payload[at]];
        ++group.total;
        varies[at] = varies[at] || proof.payload[at] != first[at];
      }
    }
  }
  for (const Message& message : messages) {
    for (std::size_t at = message.offset; at < message.offset + message.length; ++at) {
      EXPECT_TRUE(varies[at]) << message.path << ":" << message.label << " has one value at " << at;
    }
  }
  for (const auto& [name, group] : groups) {
    const double expected = group.total / 256;
    double statistic = 0;
    for (const double count : group.counts) {
      statistic += (count - expected) * (count - expected) / expected;
    }
    // 255 degrees of freedom, nearly normal: mean 255, deviation sqrt(510); 6 deviations
    EXPECT_LT(std::abs(statistic - 255), 6 * std::sqrt(510.0)) << name;
  }
}

}  // namespace
}  // namespace tessera::test

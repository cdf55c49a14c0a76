#include <gtest/gtest.h>

#include <tessera/verify.h>

#include <algorithm>
#include <ostream>
#include <string>
#include "datasets/dataset_file.hpp"
#include "checkpoints/tokenizer_files.hpp"

#include "proving.hpp"

namespace tessera::test {
namespace {

using Ids = std::vector<std::uint32_t>;

const char* const odd = "odd-40k";             // 3 heads of 12, 2 blocks, context of 48
const char* const gutenberg = "gutenberg-2m";  // 6 heads of 32, 4 blocks, context of 256

/// The first tokens of the model's sample text.
Ids prompt_of(const std::string& model, std::size_t length) {
  const std::string text = text_of(bundled_folder(model) / "sample.txt");
  Ids ids = Tokenizer(bundled(model).model.tokenizer).encode(text.substr(0, 16 * length));
  ids.resize(length);
  return ids;
}

Job prove_sample(const std::string& model, std::size_t prompt, std::size_t generate, int ranks = 1, int threads = 1,
                 std::uint32_t pass_length = 0) {
  return prove_job(bundled(model).model, prompt_of(model, prompt), generate, ranks, threads, pass_length);
}

void expect_accepted(const Job& job) {
  const Verdict verdict = verify_inference(job.key, job.statement, job.payload);
  EXPECT_TRUE(verdict.accepted) << "rejected at " << verdict.scope << ": " << verdict.reason;
}

/// Tokens sampled from the whole vocabulary, under a plain key.
TEST(DenselySampled, bytes_do_not_depend_on_ranks_and_threads) {
  Sampling sampling{1000, 0, 1 << 16, 9000, {}};
  sampling.seed.fill(5);
  for (const char* const name : {odd, "odd-qwen-60k", "odd-qwen2-50k"}) {
    const auto prove = [&](int ranks, int threads, std::uint32_t pass_length) {
      return prove_job(bundled(name).model, prompt_of(name, 7), 6, ranks, threads, pass_length, sampling);
    };
    const Job job = prove(1, 1, 0);
    expect_accepted(job);
    EXPECT_NE(job.statement.generated, prove_sample(name, 7, 6).statement.generated);
    for (const auto& [ranks, threads] : {std::pair{1, 2}, {2, 1}, {3, 1}, {5, 2}}) {
      const Job other = prove(ranks, threads, 0);
      EXPECT_EQ(other.statement, job.statement) << name << " on " << ranks;
      EXPECT_EQ(other.payload, job.payload) << name << " on " << ranks;
    }
    const Job passes = prove(1, 1, 4);
    expect_accepted(passes);
    EXPECT_EQ(passes.statement.generated, job.statement.generated);
  }
}

TEST(DenselySampled, proofs_are_those_of_the_format_and_verified_in_c) {
  Sampling sampling{1000, 0, 1 << 16, 9000, {}};
  sampling.seed.fill(5);
  const Job job = prove_job(bundled(odd).model, prompt_of(odd, 7), 6, 1, 1, 0, sampling);
  EXPECT_EQ(to_hex(blake2s(job.payload)), "b1518fbea25f2231587bbca68f1b8ecac8b2182c6d704e06744425973ee72fc1");
  const std::vector<std::uint8_t> key = job.key.encode();
  const tessera_statement statement{job.statement.prompt.data(),
                                    job.statement.prompt.size(),
                                    job.statement.generated.data(),
                                    job.statement.generated.size(),
                                    nullptr,
                                    0,
                                    0};
  const auto verdict_on = [&](std::uint32_t top_k, std::uint32_t top_p) {
    tessera_sampling given{1000, top_k, top_p, 9000, {}};
    std::fill(std::begin(given.seed), std::end(given.seed), std::uint8_t{5});
    return tessera_verify_sampled_parts({key.data(), key.size()}, &statement, &given,
                                        {job.payload.data(), job.payload.size()}, nullptr, nullptr);
  };
  EXPECT_EQ(verdict_on(0, 1 << 16), TESSERA_ACCEPTED);
  EXPECT_EQ(verdict_on(300, 1 << 16), TESSERA_REJECTED);
  EXPECT_EQ(verdict_on(0, 60000), TESSERA_REJECTED);  // leaves something out, without candidates
}

TEST(Ends, are_said_by_the_verifiers_of_cpp_and_c) {
  Model model = bundled(odd).model;
  const auto job_of = [&] { return prove_job(model, {17, 42, 5}, 3, 1, 1); };
  const std::uint32_t last = job_of().statement.generated.back();
  for (const bool listed : {false, true}) {
    if (listed) {
      model.tokenizer.ends = {std::min(last, model.tokenizer.end_of_text), std::max(last, model.tokenizer.end_of_text)};
    }
    const auto expected = listed ? std::optional(last) : std::nullopt;
    Job job = job_of();
    EXPECT_EQ(verify_inference(job.key, job.statement, job.payload).ended_by, expected);
    const std::vector<std::uint8_t> key = job.key.encode();
    const auto said_in_c = [&](tessera_verdict verdict) {
      const tessera_statement statement{job.statement.prompt.data(),
                                        job.statement.prompt.size(),
                                        job.statement.generated.data(),
                                        job.statement.generated.size(),
                                        nullptr,
                                        0,
                                        0};
      tessera_result* result = nullptr;
      EXPECT_EQ(tessera_verify_parts(key.data(), key.size(), &statement, job.payload.data(), job.payload.size(),
                                     nullptr, &result),
                verdict);
      const std::uint32_t* const end = tessera_result_ended_by(result);
      const auto said = end == nullptr ? std::nullopt : std::optional(*end);
      tessera_result_free(result);
      return said;
    };
    EXPECT_EQ(said_in_c(TESSERA_ACCEPTED), expected);
    // of a cut-off text that is called complete, nothing is said
    job.statement.generated.back() = job.key.tokenizer.end_of_text;
    EXPECT_EQ(said_in_c(TESSERA_REJECTED), std::nullopt);
    EXPECT_EQ(verify_inference(job.key, job.statement, job.payload).ended_by, std::nullopt);
    // nor where another key's list has the last token
    VerifyingKey other = job.key;
    other.tokenizer.ends.clear();
    other.tokenizer.end_of_text = last;
    job.statement.generated.back() = last;
    EXPECT_FALSE(verify_inference(other, job.statement, job.payload).ended_by);
  }
}

/// A statement's sizes: which filler, chunks, tiles and heads a proof exercises depends on them.
struct Size {
  const char* name;
  const char* model;
  std::size_t prompt, generate, rows;
  std::uint32_t pass_length = 0;
};

void PrintTo(const Size& size, std::ostream* out) { *out << size.model << " " << size.prompt << "+" << size.generate; }

class ProofSizes : public testing::TestWithParam<Size> {};

TEST_P(ProofSizes, is_accepted) {
  const Size& size = GetParam();
  const Job job = prove_sample(size.model, size.prompt, size.generate, 1, 1, size.pass_length);
  EXPECT_EQ(job.rows, size.rows);
  EXPECT_EQ(job.statement.generated.size(), size.generate);
  EXPECT_LE(job.payload.size(), std::size_t{1} << 20);
  expect_accepted(job);
}

const Size sizes[] = {
    {"odd_one_token_and_one", odd, 1, 1, 2},
    {"odd_power_of_two", odd, 2, 6, 8},
    {"odd_one_generated", odd, 13, 1, 16},
    {"odd_one_beyond_a_power_of_two", odd, 5, 28, 40},  // absent chunks, filler in the fifth
    {"odd_one_token_to_whole_context", odd, 1, 47, 48},
    {"odd_whole_context_and_one", odd, 47, 1, 48},
    {"odd_filler_beyond_the_context", odd, 40, 7, 64, 32},  // of 48 positions
    {"gutenberg_one_token_and_one", gutenberg, 1, 1, 2},
    {"gutenberg_odd_length", gutenberg, 22, 11, 40},
};
const Size large_sizes[] = {
    {"gutenberg_demo", gutenberg, 32, 32, 64},
    {"gutenberg_nineteen_tiles", gutenberg, 100, 50, 152},
    {"gutenberg_two_tiles", gutenberg, 100, 50, 256, 128},  // filler in the second
    {"gutenberg_whole_context", gutenberg, 240, 16, 256},
};

INSTANTIATE_TEST_SUITE_P(Sizes, ProofSizes, testing::ValuesIn(sizes),
                         [](const auto& parameter) { return std::string(parameter.param.name); });
INSTANTIATE_TEST_SUITE_P(SlowSizes, ProofSizes, testing::ValuesIn(large_sizes),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

/// The payload depends on the statement only, not on what computes it.
void expect_same_bytes(const std::string& model, std::size_t prompt, std::size_t generate,
                       std::initializer_list<std::pair<int, int>> ranks_and_threads) {
  const Job first = prove_sample(model, prompt, generate, 1, 1);
  expect_accepted(first);
  for (const auto& [ranks, threads] : ranks_and_threads) {
    const Job job = prove_sample(model, prompt, generate, ranks, threads);
    EXPECT_EQ(job.key.parameter_root, first.key.parameter_root) << ranks << " ranks of " << threads;
    EXPECT_EQ(job.statement, first.statement) << ranks << " ranks of " << threads;
    EXPECT_TRUE(job.payload == first.payload) << ranks << " ranks of " << threads;
  }
}

TEST(ProofBytes, are_the_same_for_any_ranks_and_threads_odd) {
  expect_same_bytes(odd, 9, 10, {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {3, 1}, {3, 2}, {4, 1}, {4, 2}});
}

/// Ranks own parts of chunks: all of them, some padding alone.
TEST(ProofBytes, are_the_same_if_chunks_are_divided) {
  const Division division = PassShape{.prompt = 20, .generated = 9}.division(5);
  EXPECT_GT(division.rows(ParameterAxis::feature, bundled(odd).model.shape).log_parts, 1U);
  expect_same_bytes(odd, 20, 9, {{1, 1}, {2, 1}, {3, 2}, {5, 1}, {9, 1}});
}

TEST(ProofBytes, are_the_same_with_more_ranks_than_heads_or_chunks) {
  expect_same_bytes(odd, 3, 2, {{5, 1}, {7, 1}, {13, 1}});
}

/// Tiles of a head belong to several ranks, whose neighbours have more or fewer of them.
TEST(ProofBytes, are_the_same_where_ranks_share_heads) {
  const Ids prompt = prompt_of(odd, 20);
  constexpr std::uint32_t rows = 8;
  const Job first = prove_job(bundled(odd).model, prompt, 9, 1, 1, rows);
  expect_accepted(first);
  const ModelPlan plan = ModelPlan::of(first.key, {.prompt = 20, .generated = 9, .pass_length = rows});  // 4 passes
  const Ownership& tiles = plan.recorded[plan.attention.score.recorded].ownership;
  EXPECT_EQ(tiles.parts(plan.shapes.scores), 3U * (1 + 1 + 2 + 2));  // keys in chunks of 16
  for (const int ranks : {2, 5, 11}) {
    const Job job = prove_job(bundled(odd).model, prompt, 9, ranks, 1, rows);
    EXPECT_EQ(job.statement, first.statement) << ranks;
    EXPECT_TRUE(job.payload == first.payload) << ranks;
  }
}

TEST(ProofBytes, Slow_are_the_same_for_any_ranks_and_threads_gutenberg) {
  expect_same_bytes(gutenberg, 11, 6, {{1, 2}, {2, 1}, {2, 2}, {3, 1}, {3, 2}, {4, 1}, {4, 2}});
}

TEST(ProofBytes, Slow_are_the_same_with_absent_tiles) { expect_same_bytes(gutenberg, 140, 10, {{2, 1}, {4, 1}}); }

TEST(ProofStatement, belongs_to_one_payload) {
  const Job job = prove_sample(odd, 6, 4);
  const auto rejected_scope = [&](auto&& change) {
    Job other = job;
    change(other);
    const Verdict verdict = verify_inference(other.key, other.statement, other.payload);
    EXPECT_FALSE(verdict.accepted);
    return verdict.scope;
  };
  rejected_scope([](Job& j) { j.statement.prompt[0] ^= 1U; });
  rejected_scope([](Job& j) { j.statement.generated.back() ^= 1U; });
  rejected_scope([](Job& j) { j.key.parameter_root[0] ^= 1U; });
  rejected_scope([](Job& j) {  // the same tokens, cut elsewhere
    j.statement.prompt.push_back(j.statement.generated.front());
    j.statement.generated.erase(j.statement.generated.begin());
  });
  EXPECT_EQ(rejected_scope([](Job& j) { j.statement.prompt.clear(); }), "/statement");
  EXPECT_EQ(rejected_scope([](Job& j) { j.statement.generated.clear(); }), "/statement");
  EXPECT_EQ(rejected_scope([](Job& j) { j.statement.prompt[0] = 300; }), "/statement");
  EXPECT_EQ(rejected_scope([](Job& j) { j.statement.generated.resize(43); }), "/statement");
}

TEST(ProofProgress, names_the_scopes_of_the_report) {
  const Model& model = bundled(odd).model;
  SelfCommunicator self;
  VerifyingKey key = make_verifying_key(model);
  const ParameterTensors parameters = ParameterTensors::of(model.shape, model.parameters);
  MemoryCodewordStore codeword(
      encode_oracle(parameter_layout(key), key.parameter_oracle, parameters.views(), true, self), self);
  key.parameter_root = codeword.root();
  const Ids prompt = prompt_of(odd, 3);
  const ModelPlan plan = ModelPlan::of(key, prompt.size(), 1);
  const Trace trace = run_inference(integer_model(model), plan, prompt, self);
  std::vector<std::string> scopes, ended;
  const Proof proof = prove_inference(plan, key, {prompt, {trace.tokens[3]}}, trace, {parameters, codeword}, self,
                                      {{[&](std::string_view path) { scopes.emplace_back(path); },
                                        [&](std::string_view path) { ended.emplace_back(path); }}});
  const Proof thrifty =
      prove_inference(plan, key, {prompt, {trace.tokens[3]}}, trace, {parameters, codeword}, self, {{}, 0});
  EXPECT_EQ(thrifty.payload, proof.payload) << "the codeword is encoded a second time";
  EXPECT_EQ(scopes.front(), "/witness");
  for (const std::string& scope : scopes) {
    EXPECT_TRUE(proof.timings.contains(scope)) << scope;
  }
  for (const auto& [scope, seconds] : proof.timings) {
    EXPECT_NE(std::ranges::find(scopes, scope), scopes.end()) << scope;
  }
  std::ranges::sort(scopes);
  std::ranges::sort(ended);
  EXPECT_EQ(ended, scopes);
}

}  // namespace
}  // namespace tessera::test

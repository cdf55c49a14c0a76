#include <gmock/gmock.h>

#include "base/errors.hpp"
#include "archive/trace_file.hpp"

#include "../model/trace_comparison.hpp"
#include "samples.hpp"
#include "temporary_directory.hpp"

namespace tessera::test {
namespace {

using ::testing::HasSubstr;

/// Before inference: 3 tokens of a prompt, 2 generated ones that are not known yet, filler.
Trace empty_trace(int rank, int ranks) {
  Trace trace = Trace::allocate(small_shape(), valid_exponents(), 8, 2, rank, ranks);
  trace.tokens = {1, 2, 3, 29, 29, 29, 29, 29};
  trace.prompt_length = 3;
  return trace;
}

Trace small_trace(int rank, int ranks) {
  Trace trace = empty_trace(rank, ranks);
  trace.tokens = {1, 2, 3, 4, 5, 29, 29, 29};
  int salt = 0;
  testing::for_each_tensor(trace, trace, [&]<class T>(const std::string&, const ChunkedTensor<T>& view, const auto&) {
    auto& tensor = const_cast<ChunkedTensor<T>&>(view);
    ++salt;
    for (std::size_t i = 0; i < tensor.values().size(); ++i) {
      tensor.values()[i] = static_cast<T>(i * 7 + static_cast<std::size_t>(salt));
    }
  });
  return trace;
}

TEST(TraceFile, RoundTripsEveryRanksShare) {
  const TemporaryDirectory directory;
  const Digest model = small_key().digest();
  for (int rank = 0; rank < 4; ++rank) {  // more ranks than heads: the last own little
    const Trace trace = small_trace(rank, 4);
    const auto path = directory / ("trace-" + std::to_string(rank) + ".h5");
    save_trace(path, model, rank, 4, trace);
    const Trace loaded = load_trace(path, model, rank, 4, empty_trace(rank, 4));
    EXPECT_EQ(loaded.tokens, trace.tokens);
    EXPECT_EQ(loaded.prompt_length, trace.prompt_length);
    EXPECT_EQ(loaded.generated, trace.generated);
    testing::for_each_tensor(loaded, trace, [&](const std::string& name, const auto& mine, const auto& written) {
      EXPECT_EQ(mine.shape(), written.shape()) << name;
      EXPECT_EQ(mine.held(), written.held()) << name;
      EXPECT_EQ(mine.values(), written.values()) << name;
    });
  }
}

/// The error of loading a file that holds `stored` as the trace of rank 1 of 4.
std::string error_of(const Trace& stored, const Digest& model, int rank = 1, int ranks = 4) {
  const TemporaryDirectory directory;
  save_trace(directory / "t.h5", Digest{1}, 1, 4, stored);
  try {
    (void)load_trace(directory / "t.h5", model, rank, ranks, empty_trace(rank, ranks));
    return "none";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(TraceFile, OfAnotherJobIsRefused) {
  const Digest model{1};
  const Trace good = small_trace(1, 4);
  EXPECT_EQ(error_of(good, model), "none");
  EXPECT_THAT(error_of(good, Digest{2}), HasSubstr("t.h5: model: expected that of this job, found another job's"));
  EXPECT_THAT(error_of(good, model, 2, 4), HasSubstr("rank, ranks: "));
  EXPECT_THAT(error_of(good, model, 1, 3), HasSubstr("rank, ranks: "));
  const auto error_after = [&](auto&& change) {
    Trace trace = small_trace(1, 4);
    change(trace);
    return error_of(trace, model);
  };
  EXPECT_THAT(error_after([](Trace& t) { t.prompt_length = 2; }), HasSubstr("prompt_length, generated: "));
  EXPECT_THAT(error_after([](Trace& t) { t.generated = 1; }), HasSubstr("prompt_length, generated: "));
  EXPECT_THAT(error_after([](Trace& t) { t.tokens.resize(16, 29); }), HasSubstr("tokens: "));
  EXPECT_THAT(error_after([](Trace& t) { t.tokens[1] = 7; }), HasSubstr("tokens: "));   // prompt
  EXPECT_THAT(error_after([](Trace& t) { t.tokens[3] = 30; }), HasSubstr("tokens: "));  // no token of the model
  EXPECT_THAT(error_after([](Trace& t) { t.tokens[7] = 0; }), HasSubstr("tokens: "));   // filler
  EXPECT_EQ(error_after([](Trace& t) { t.tokens[3] = 0; }), "none");                    // generated: the prover's word
}

TEST(TraceFile, OfOtherShapesIsRefused) {
  const Digest model{1};
  const auto error_after = [&](auto&& change) {
    Trace trace = small_trace(1, 4);
    change(trace);
    return error_of(trace, model);
  };
  const auto changed = [](const auto& tensor, std::size_t dimension, Dimension to, int rank = 1) {
    std::vector<Dimension> dimensions = tensor.shape().dimensions();
    dimensions[dimension] = to;
    return std::decay_t<decltype(tensor)>(Shape(dimensions, tensor.shape().presence()), tensor.ownership(), rank, 4);
  };
  EXPECT_THAT(error_after([&](Trace& t) { t.q = changed(t.q, 2, Dimension::whole(16)); }),
              HasSubstr("tensors/q/lengths: expected those of this job and rank, found others"));
  EXPECT_THAT(error_after([&](Trace& t) {
                t.x_end = changed(t.x_end, 0, {13, 1});
              }),
              HasSubstr("tensors/x_end/lengths: "));
  EXPECT_THAT(error_after([&](Trace& t) {
                t.mlp = changed(t.mlp, 1, {20, 1});
              }),
              HasSubstr("tensors/mlp/log_chunks: "));
  EXPECT_THAT(error_after([&](Trace& t) { t.row_max = changed(t.row_max, 1, Dimension::outer(3), 2); }),
              HasSubstr("tensors/row_max/chunks: "));
  EXPECT_THAT(error_after([](Trace& t) { t.q = {}; }), HasSubstr("tensors/q/lengths: "));
  EXPECT_THAT(error_after([](Trace& t) {
                t.score = {Shape(t.score.shape().dimensions(), Presence::all), t.score.ownership(), 1, 4};
              }),
              HasSubstr("tensors/score/"));
  EXPECT_THAT(error_after([](Trace& t) {
                t.ln1.mu = {t.ln1.mu.shape(), Ownership{0}, 0, 1};
              }),
              HasSubstr("tensors/ln1/mu/presence, ownership: "));
  EXPECT_THAT(
      error_after([](Trace& t) { t.logits = Trace::allocate(small_shape(), valid_exponents(), 8, 1, 1, 4).logits; }),
      HasSubstr("tensors/logits/lengths: "));
}

}  // namespace
}  // namespace tessera::test

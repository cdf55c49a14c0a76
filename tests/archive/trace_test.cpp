#include <gmock/gmock.h>

#include "architecture/model_plan.hpp"
#include "archive/trace_file.hpp"
#include "base/errors.hpp"

#include "../architecture/gpt2_layers.hpp"
#include "samples.hpp"
#include "../files/temporary_directory.hpp"

namespace tessera::test {
namespace {

using ::testing::HasSubstr;

/// A place among ranks that never talk.
class Seat final : public Communicator {
 public:
  Seat(int rank, int size) : rank_(rank), size_(size) {}
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  void barrier() override { fail(); }
  void all_reduce_sum(std::span<E> /*values*/) override { fail(); }
  void all_reduce_sum(std::span<std::int64_t> /*values*/) override { fail(); }
  void all_reduce_max(std::span<std::int64_t> /*values*/) override { fail(); }
  MessageBytes all_gather_bytes(std::span<const std::byte> /*mine*/) override { fail(); }
  std::vector<MessageBytes> all_to_all_bytes(std::vector<MessageBytes> /*send*/) override { fail(); }
  void broadcast_bytes(MessageBytes& /*bytes*/, int /*root*/) override { fail(); }

 private:
  [[noreturn]] static void fail() { throw std::logic_error("a trace file concerns one rank"); }
  int rank_, size_;
};

const std::vector<std::uint32_t> prompt{1, 2, 3};

const ModelPlan& plan() {
  static const ModelPlan small = ModelPlan::of(small_key(), prompt.size(), 2);
  return small;
}

Trace small_trace(int rank, int ranks) {
  Trace trace(plan(), rank, ranks);
  trace.tokens = {1, 2, 3, 4, 5, 29, 29, 29};
  std::size_t salt = 0;
  for (RecordedTensor& any : trace.tensors) {
    ++salt;
    std::visit(
        [&]<class T>(ChunkedTensor<T>& tensor) {
          for (std::size_t i = 0; i < tensor.values().size(); ++i) {
            tensor.values()[i] = static_cast<T>(i * 7 + salt);
          }
        },
        any);
  }
  return trace;
}

TEST(TraceFile, round_trips_every_ranks_share) {
  const TemporaryDirectory directory;
  const Digest model = small_key().digest();
  for (int rank = 0; rank < 4; ++rank) {  // more ranks than heads: the last own little
    const Seat seat(rank, 4);
    const Trace trace = small_trace(rank, 4);
    const auto path = directory / ("trace-" + std::to_string(rank) + ".h5");
    save_trace(path, model, seat, plan(), trace);
    const Trace loaded = load_trace(path, model, seat, plan(), prompt, 30);
    EXPECT_EQ(loaded.tokens, trace.tokens);
    EXPECT_EQ(loaded.prompt_length, trace.prompt_length);
    EXPECT_EQ(loaded.generated, trace.generated);
    ASSERT_EQ(loaded.tensors.size(), trace.tensors.size());
    for (std::size_t i = 0; i < plan().recorded.size(); ++i) {
      std::visit(
          [&](const auto& mine) {
            const auto& written = std::get<std::decay_t<decltype(mine)>>(trace.tensors[i]);
            EXPECT_EQ(mine.shape(), written.shape()) << plan().recorded[i].name;
            EXPECT_EQ(mine.held(), written.held()) << plan().recorded[i].name;
            EXPECT_EQ(mine.values(), written.values()) << plan().recorded[i].name;
          },
          loaded.tensors[i]);
    }
  }
}

/// The error of loading a file that holds `stored` as the trace of rank 1 of 4.
std::string error_of(const Trace& stored, const Digest& model, int rank = 1, int ranks = 4) {
  const TemporaryDirectory directory;
  save_trace(directory / "t.h5", Digest{1}, Seat(1, 4), plan(), stored);
  try {
    (void)load_trace(directory / "t.h5", model, Seat(rank, ranks), plan(), prompt, 30);
    return "none";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(TraceFile, of_another_job_is_refused) {
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

TEST(TraceFile, of_other_shapes_is_refused) {
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
  EXPECT_THAT(error_after([&](Trace& t) {
                t[gpt2_qkv(plan().qkv).value[0]] = changed(t[gpt2_qkv(plan().qkv).value[0]], 2, Dimension::whole(16));
              }),
              HasSubstr("tensors/q/lengths: expected those of this job and rank, found others"));
  EXPECT_THAT(error_after([&](Trace& t) {
                t[plan().x_end] = changed(t[plan().x_end], 0, {13, 1});
              }),
              HasSubstr("tensors/x_end/lengths: "));
  EXPECT_THAT(error_after([&](Trace& t) {
                t[gpt2_mlp(plan().mlp).z] = changed(t[gpt2_mlp(plan().mlp).z], 1, {20, 1});
              }),
              HasSubstr("tensors/mlp/log_chunks: "));
  EXPECT_THAT(error_after([&](Trace& t) {
                t[plan().attention.row_max] = changed(t[plan().attention.row_max], 1, Dimension::outer(3), 2);
              }),
              HasSubstr("tensors/row_max/chunks: "));
  EXPECT_THAT(error_after([](Trace& t) { t[gpt2_qkv(plan().qkv).value[0]] = {}; }), HasSubstr("tensors/q/lengths: "));
  EXPECT_THAT(error_after([](Trace& t) {
                t[plan().attention.score] = {Shape(t[plan().attention.score].shape().dimensions(), Presence::all),
                                             t[plan().attention.score].ownership(), 1, 4};
              }),
              HasSubstr("tensors/score/"));
  EXPECT_THAT(error_after([](Trace& t) {
                t[layer_norm(plan().norm_1).mu] = {t[layer_norm(plan().norm_1).mu].shape(), Ownership{0}, 0, 1};
              }),
              HasSubstr("tensors/layer_norm_1/mu/presence, ownership: "));
  EXPECT_THAT(error_after([](Trace& t) {
                t[plan().logits.values] = Trace(ModelPlan::of(small_key(), 4, 1), 1, 4)[plan().logits.values];
              }),
              HasSubstr("tensors/logits/lengths: "));
}

}  // namespace
}  // namespace tessera::test

#include <gtest/gtest.h>

#include "cluster/thread_communicator.hpp"
#include "float_model/calibration.hpp"
#include "checkpoints/checkpoint.hpp"
#include "integer_model/comparison.hpp"
#include "integer_model/equalisation.hpp"
#include "integer_model/import.hpp"
#include "integer_model/integer_model.hpp"
#include "checkpoints/tokenizer_files.hpp"

#include "model_files.hpp"

namespace tessera::test {
namespace {

struct Place {
  std::string name;
  std::vector<std::string> equalised;  // its parts
};

void PrintTo(const Place& place, std::ostream* stream) { *stream << place.name; }

const std::vector<Place> places = {
    {"none", {}},         {"product", {"product"}}, {"norm", {"norm_1", "norm_2"}},
    {"value", {"value"}}, {"rotated", {"rotated"}}, {"all", {"product", "norm_1", "norm_2", "value", "rotated"}}};

/// The trained model with two channels of every block and place 2^10 times larger where they are made and 2^-10 where
/// they are read: the same function, which the integers must keep.
class Outliers : public ::testing::TestWithParam<Place> {
 protected:
  static constexpr int power = 10;
  static constexpr std::size_t text = 1024;  // tokens to calibrate on, and others to compare on

  Outliers() {
    imported_.float_model = load_checkpoint(folder_);
    const ModelShape& shape = imported_.float_model.shape;
    Equalisation powers = no_equalisation(shape);
    for (const std::string& part : GetParam().equalised) {
      std::vector<std::int16_t>& channels = powers.find(part)->second;
      const std::size_t count = channels.size() / shape.n_layer;
      for (std::size_t block = 0; block < shape.n_layer; ++block) {
        channels[block * count + (count / 4 + block) % count] = -power;
        channels[block * count + (3 * count / 4 + block) % count] = -power;
      }
    }
    apply_powers(imported_.float_model, powers);
  }

  std::filesystem::path folder_ = model_folder("gutenberg-llama-3m");
  ImportedModel imported_;
};

TEST_P(Outliers, cost_no_accuracy) {
  const TokenizerData tokenizer = load_tokenizer(folder_, imported_.float_model.shape);
  const std::vector<std::uint32_t> ids = Tokenizer(tokenizer).encode(file_bytes(folder_ / "sample.txt"));
  ASSERT_GE(ids.size(), 2 * text);
  quantize_import(imported_, tokenizer, {}, [&] {
    return calibrate(SingleTransformer(imported_.float_model), std::span(ids).last(text), tokenizer.end_of_text);
  });
  const FloatTransformer original(imported_.float_model);
  SelfCommunicator self;
  const Comparison found = compare_models(integer_model(imported_.model), &original, std::span(ids).first(text), self);
  const auto predicted = static_cast<double>(found.integer.predicted);
  const double ratio = found.integer.value() / found.original.value();
  RecordProperty("divergence", std::to_string(1e6 * found.divergence / predicted) + "e-6");
  RecordProperty("ratio", std::to_string(ratio));
  EXPECT_LE(found.divergence / predicted, 1e-5);
  EXPECT_LE(ratio, 1.001);
  EXPECT_GE(ratio, 0.999);
  EXPECT_GE(static_cast<double>(found.agreements) / predicted, 0.995);
}

INSTANTIATE_TEST_SUITE_P(Places, Outliers, ::testing::ValuesIn(places),
                         [](const auto& place) { return place.param.name; });

}  // namespace
}  // namespace tessera::test

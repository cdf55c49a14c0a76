#include <gmock/gmock.h>

#include "archive/model_file.hpp"
#include "base/errors.hpp"

#include "samples.hpp"
#include "../files/temporary_directory.hpp"

namespace tessera::test {
namespace {

TEST(ModelFile, ends_round_trip_and_bad_ones_are_named) {
  const TemporaryDirectory directory;
  const auto load_with = [&](std::vector<std::uint32_t> ends) {
    Model model = small_model();
    model.tokenizer.ends = std::move(ends);
    save_model(directory / "m.h5", model);
    return load_model(directory / "m.h5").tokenizer.ends;
  };
  EXPECT_EQ(load_with({}), std::vector<std::uint32_t>());
  EXPECT_EQ(load_with({3, 7, 29}), (std::vector<std::uint32_t>{3, 7, 29}));
  const std::pair<std::vector<std::uint32_t>, const char*> bad[] = {
      {{29}, "expected 2 to 64, found 1"},
      {{3, 29, 30}, "expected below 30, found 30"},
      {{7, 3, 29}, "expected ascending ids, found 3 behind 7"},
      {{3, 7}, "expected the end of text, 29, among them"},
      {std::vector<std::uint32_t>(65), "at most 64"}};
  for (const auto& [ends, message] : bad) {
    try {
      (void)load_with(ends);
      ADD_FAILURE() << message;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("tokenizer/ends"), testing::HasSubstr(message)));
    }
  }
}

}  // namespace
}  // namespace tessera::test

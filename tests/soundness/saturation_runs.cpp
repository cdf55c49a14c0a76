#include "saturation_runs.hpp"

#include <algorithm>

namespace tessera::test {

TestModel& saturated() {
  static TestModel test(saturated_gpt2());
  return test;
}
TestModel& distant() {
  static TestModel test(distant_gpt2());
  return test;
}

std::size_t list_number(const ModelPlan& plan, const std::string& name) {
  const auto found = std::ranges::find(plan.clamped, name, &ClampedTensor::name);
  EXPECT_NE(found, plan.clamped.end()) << name;
  return static_cast<std::size_t>(found - plan.clamped.begin());
}

Told gpt2_run() { return {saturated(), saturated_prompt}; }
Told distant_run() { return {distant(), saturated_prompt}; }
Told llama_run(std::size_t kind) {
  static std::map<std::size_t, TestModel> models;
  return {models.try_emplace(kind, saturated_llama(kind)).first->second, {1, 7, 3, 12, 20}, 2};
}

std::map<std::string, std::size_t> clamped_counts(const Verdict& verdict) {
  std::map<std::string, std::size_t> result;
  for (const ClampedValues& values : verdict.clamped) {
    result[values.tensor] = values.count;
  }
  return result;
}

}  // namespace tessera::test

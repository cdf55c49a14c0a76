#include "peaks.hpp"

#include <array>
#include <bit>
#include <stdexcept>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/sets/peaks.cpp"
#include <hwy/foreach_target.h>
#include <hwy/cache_control.h>

#include "arithmetic/pair_products-inl.hpp"
#include "bench/sets/peak_steps-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {

template <class Step, std::size_t... chain>
void repeat_chains(std::size_t count, std::index_sequence<chain...> /*chains*/) {
  Step step;
  typename Step::State state[] = {(static_cast<void>(chain), step.begin())...};
  for (; count > 0; --count) {
    (step(state[chain]), ...);
  }
  (step.end(state[chain]), ...);
}

template <class Step>
void repeat_step(std::size_t chains, std::size_t count) {
  switch (chains) {
    case 1:
      return repeat_chains<Step>(count, std::make_index_sequence<1>());
    case 2:
      return repeat_chains<Step>(count, std::make_index_sequence<2>());
    case 4:
      return repeat_chains<Step>(count, std::make_index_sequence<4>());
    case 6:
      return repeat_chains<Step>(count, std::make_index_sequence<6>());
    case 8:
      return repeat_chains<Step>(count, std::make_index_sequence<8>());
    case 12:
      return repeat_chains<Step>(count, std::make_index_sequence<12>());
    default:
      throw std::logic_error("no such number of chains");
  }
}

using RepeatStep = void (*)(std::size_t chains, std::size_t count);
/// In the order of bench::Step.
constexpr std::array<RepeatStep, bench::step_count> all_steps{
    repeat_step<FieldProduct>, repeat_step<ExtensionProduct>, repeat_step<Reduction>, repeat_step<WeakReduction>,
    repeat_step<Addition>,     repeat_step<KeptAddition>,     repeat_step<Sevenfold>, repeat_step<SmallProduct>,
    repeat_step<IntegerSum>,   repeat_step<PairSum>,          repeat_step<Mix>,       repeat_step<Multiplication>,
    repeat_step<Shift>,        repeat_step<PlainAddition>,
};
void repeat_kernel(std::size_t step, std::size_t chains, std::size_t count) { all_steps[step](chains, count); }

std::size_t lanes_of_64() { return hn::Lanes(Lanes()); }
std::size_t lanes_of_pairs() { return hn::Lanes(Sums()); }
std::size_t lanes_of_words() { return hn::Lanes(Words()); }
bench::InstructionCounts instructions_kernel(std::size_t step) {
  return step < instruction_counts.size() ? instruction_counts[step] : bench::InstructionCounts{};
}

void read_kernel(const std::uint64_t* words, std::size_t count) {
  constexpr std::size_t together = 4;
  const std::size_t lanes = hn::Lanes(Lanes());
  V sums[together] = {constant(0), constant(0), constant(0), constant(0)};
  for (std::size_t i = 0; i + together * lanes <= count; i += together * lanes) {
    for (std::size_t k = 0; k < together; ++k) {
      sums[k] = hn::Or(sums[k], hn::LoadU(Lanes(), words + i + k * lanes));
    }
  }
  for (V& sum : sums) {
    renew(sum);
  }
}
void write_kernel(std::uint64_t* words, std::size_t count) {
  V value = constant(1);
  renew(value);
  for (std::size_t i = 0; i + hn::Lanes(Lanes()) <= count; i += hn::Lanes(Lanes())) {
    hn::StoreU(value, Lanes(), words + i);
  }
}
void stream_kernel(std::uint64_t* words, std::size_t count) {
  V value = constant(1);
  renew(value);
  for (std::size_t i = 0; i + hn::Lanes(Lanes()) <= count; i += hn::Lanes(Lanes())) {
    hn::Stream(value, Lanes(), words + i);
  }
  hwy::FlushStream();
}

}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera {
HWY_EXPORT(repeat_kernel);
HWY_EXPORT(lanes_of_64);
HWY_EXPORT(lanes_of_pairs);
HWY_EXPORT(lanes_of_words);
HWY_EXPORT(instructions_kernel);
HWY_EXPORT(read_kernel);
HWY_EXPORT(write_kernel);
HWY_EXPORT(stream_kernel);

namespace bench {

std::size_t lanes_of(Step step) {
  switch (step) {
    case Step::pair_product:
      return HWY_DYNAMIC_DISPATCH(lanes_of_pairs)();
    case Step::mix:
      return HWY_DYNAMIC_DISPATCH(lanes_of_words)();
    default:
      return HWY_DYNAMIC_DISPATCH(lanes_of_64)();
  }
}
void repeat(Step step, std::size_t chains, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(repeat_kernel)(static_cast<std::size_t>(step), chains, count);
}
InstructionCounts instructions_of(Step step) {
  return HWY_DYNAMIC_DISPATCH(instructions_kernel)(static_cast<std::size_t>(step));
}
void read_words(const std::uint64_t* words, std::size_t count) { HWY_DYNAMIC_DISPATCH(read_kernel)(words, count); }
void write_words(std::uint64_t* words, std::size_t count) { HWY_DYNAMIC_DISPATCH(write_kernel)(words, count); }
void stream_words(std::uint64_t* words, std::size_t count) { HWY_DYNAMIC_DISPATCH(stream_kernel)(words, count); }

}  // namespace bench
}  // namespace tessera
#endif  // HWY_ONCE

#include "measure.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <random>

#include "memory/storage.hpp"

namespace tessera::bench {
namespace {

constexpr struct {
  const char* name;
  double Operations::*count;
} all_operations[] = {
    {"field product", &Operations::field_products},
    {"extension product", &Operations::extension_products},
    {"reduction", &Operations::reductions},
    {"weak reduction", &Operations::weak_reductions},
    {"addition", &Operations::additions},
    {"kept addition", &Operations::kept_additions},
    {"sevenfold", &Operations::sevenfolds},
    {"small product", &Operations::small_products},
    {"integer product", &Operations::integer_products},
    {"pair product", &Operations::pair_products},
    {"mix", &Operations::mixes},
    {"plain mix", &Operations::plain_mixes},
};

std::size_t cache_bytes(int name, std::size_t least, std::size_t most) {
  const long bytes = sysconf(name);  // 0 or -1 where it is not known
  return std::clamp(static_cast<std::size_t>(std::max(bytes, 0L)), least, most);
}

std::size_t bytes_of(Level level) {
  constexpr std::size_t kibibyte = 1024, mebibyte = 1024 * kibibyte;
  return level == Level::cache ? cache_bytes(_SC_LEVEL2_CACHE_SIZE, 256 * kibibyte, 2 * mebibyte) / 2
                               : 4 * cache_bytes(_SC_LEVEL3_CACHE_SIZE, 32 * mebibyte, 256 * mebibyte);
}

/// A little more than a level: not all kernels have items of a power of two of bytes.
std::size_t storage_bytes(std::size_t wanted) { return std::max(wanted, bytes_of(Level::memory) + (1U << 20)); }

}  // namespace

Operations operator+(Operations a, const Operations& b) {
  for (const auto& operation : all_operations) {
    a.*operation.count += b.*operation.count;
  }
  a.read += b.read;
  a.written += b.written;
  return a;
}
Operations operator*(double count, Operations a) {
  for (const auto& operation : all_operations) {
    a.*operation.count *= count;
  }
  a.read *= count;
  a.written *= count;
  return a;
}

const char* suffix(Level level) { return level == Level::memory ? ", in memory" : ""; }

std::size_t fitting(Level level, std::size_t bytes_of_item) { return std::bit_floor(bytes_of(level) / bytes_of_item); }

F* some_elements(std::size_t count) {
  static RawVector<F> elements;
  if (const std::size_t filled = elements.size(); filled < count) {
    elements.resize(storage_bytes(count * sizeof(F)) / sizeof(F));
    std::mt19937_64 random(1);
    for (F& element : elements) {
      element = F::from_unsigned(random());
    }
  }
  return elements.data();
}

std::byte* storage_for_results(std::size_t bytes) {
  static RawVector<std::byte> storage;
  if (storage.size() < bytes) {
    storage.resize(storage_bytes(bytes));
    std::ranges::fill(storage, std::byte{0});  // takes the pages
  }
  return storage.data();
}

void report(benchmark::State& state, const char* unit, double items, Level level, const Operations& of_item) {
  state.counters[unit] = nanoseconds_for(items);
  for (const auto& operation : all_operations) {
    if (of_item.*operation.count > 0) {
      state.counters[std::string("of ") + operation.name] = of_item.*operation.count;
    }
  }
  const std::string where = level == Level::memory ? "in memory" : "in the cache";
  state.counters["of bytes read " + where] = of_item.read;
  state.counters["of bytes written " + where] = of_item.written;
}

}  // namespace tessera::bench

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "proving.hpp"
#include "protocol/renewal.hpp"

namespace {

std::atomic<std::int64_t> allocations = 0, allowed = -1;  // -1: all

}  // namespace

// This executable's: what is allocated, until no more is allowed.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (allowed >= 0 && allocations > allowed) {
    throw std::bad_alloc();
  }
  if (void* const memory = std::malloc(size > 0 ? size : 1)) {
    return memory;
  }
  throw std::bad_alloc();
}
// Whose memory is freed like the other's.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  try {
    return ::operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }

namespace tessera::test {
namespace {

/// While it lives, there is memory for so many allocations.
class Memory {
 public:
  explicit Memory(std::int64_t count) {
    allocations = 0;
    allowed = count;
  }
  ~Memory() { allowed = -1; }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
};

/// Wherever memory runs out, no verdict comes out.
template <class Verify>
void expect_no_verdict(const Verify& verify) {
  allocations = 0;
  verify();
  const std::int64_t all = allocations;
  ASSERT_GT(all, 20);
  constexpr std::int64_t times = 40;
  for (std::int64_t i = 0; i <= times; ++i) {
    const std::int64_t count = (all - 1) * i / times;
    bool verdict = true;
    try {
      const Memory memory(count);
      verify();
    } catch (const std::bad_alloc&) {
      verdict = false;
    }
    EXPECT_FALSE(verdict) << count << " of " << all;
  }
}

TEST(OutOfMemory, is_no_rejection) {
  const Job job = prove_job(bundled("odd-40k").model, {17}, 1, 1, 1);
  EXPECT_TRUE(verify_inference(job.key, job.statement, job.payload).accepted);
  expect_no_verdict([&] { (void)verify_inference(job.key, job.statement, job.payload); });
  expect_no_verdict([&] { (void)verify_beginning(job.key, job.statement, job.payload); });
  VerifyingKey before = job.key;
  before.hiding_proofs = 3;
  VerifyingKey after = before;
  ++after.parameter_root[0];
  EXPECT_FALSE(verify_renewal(before, after, job.payload).accepted);
  expect_no_verdict([&] { (void)verify_renewal(before, after, job.payload); });
}

}  // namespace
}  // namespace tessera::test

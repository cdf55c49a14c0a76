/// Loaded into a program before its libraries (LD_PRELOAD), for jobs/bench.sh --serial: the times that the program
/// takes of itself become processor times of its main thread, which other programs on the machine do not disturb. With
/// TESSERA_CLOCK=outside they leave out parallel regions, those of more than one iteration's worth of work: what is
/// left is what one thread does alone, on any number of threads.

#include <dlfcn.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

using Nanoseconds = std::chrono::nanoseconds;

const bool outside = [] {
  const char* const mode = std::getenv("TESSERA_CLOCK");
  return mode != nullptr && std::strcmp(mode, "outside") == 0;
}();

Nanoseconds processor_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + Nanoseconds(now.tv_nsec);
}

thread_local Nanoseconds in_regions{0};
thread_local int depth = 0;

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// A region that is told to have one thread (too little work for more) counts as none,
/// but for regions inside of it.
template <class Region>
void timed(unsigned threads, const Region& region) {
  const Nanoseconds start = processor_time();
  const bool counted = threads != 1 && depth == 0;
  depth += threads != 1 ? 1 : 0;
  region();
  depth -= threads != 1 ? 1 : 0;
  if (counted) {
    in_regions += processor_time() - start;
  }
}

}  // namespace

std::chrono::steady_clock::time_point std::chrono::steady_clock::now() noexcept {
  return time_point(processor_time() - (outside ? in_regions : Nanoseconds(0)));
}

using Body = void(void*);

// what g++ makes of a parallel region, by the name that its library has for it
extern "C" void GOMP_parallel(Body* body, void* data, unsigned threads, unsigned flags) {
  static auto* const original = next<void(Body*, void*, unsigned, unsigned)>("GOMP_parallel");
  timed(threads, [&] { original(body, data, threads, flags); });
}

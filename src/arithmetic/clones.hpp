#pragma once

#include "arithmetic/instructions.hpp"

// TESSERA_CLONES(result, name, (parameters), (arguments)) { plain loops }: a function that is compiled for several
// instruction sets and runs as the widest one in use. Not in sanitizer builds, which do not make vectors of loops.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define TESSERA_CLONES(result, name, parameters, arguments)                                            \
  [[gnu::always_inline]] inline result name##_loops parameters;                                        \
  [[gnu::target("arch=x86-64-v4")]] result name##_avx512 parameters { return name##_loops arguments; } \
  [[gnu::target("arch=x86-64-v3")]] result name##_avx2 parameters { return name##_loops arguments; }   \
  result name parameters {                                                                             \
    const Instructions widest = instructions_in_use();                                                 \
    return widest >= Instructions::avx512 ? name##_avx512 arguments                                    \
           : widest >= Instructions::avx2 ? name##_avx2 arguments                                      \
                                          : name##_loops arguments;                                    \
  }                                                                                                    \
  [[gnu::always_inline]] inline result name##_loops parameters
#else
#define TESSERA_CLONES(result, name, parameters, arguments) result name parameters
#endif

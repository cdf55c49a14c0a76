#pragma once

// Plain loops marked so are compiled for several instruction sets, and the best one is taken at load time; sanitizers
// cannot instrument the code that chooses.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define TESSERA_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TESSERA_CLONES
#endif

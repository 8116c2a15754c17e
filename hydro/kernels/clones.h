// hydro/kernels/clones.h — one loop compiled for several instruction sets, picked when the
// program is loaded. The build never says -march=native: GCC clones a marked function and its
// resolver asks the processor. Put these two lines before the loops of a source file:
//
//   #include "hydro/kernels/clones.h"
//   HYDRO_CLONED void scale(...)
//
// Products and sums are never contracted, so that every clone gives the same bits.
#pragma once

// Sanitizers are not set up yet when resolvers run.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HYDRO_CLONED __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define HYDRO_CLONED
#endif

// -O2 of GCC 12 leaves loops of unknown length scalar.
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#pragma GCC optimize("O3", "no-trapping-math", "fp-contract=off")
#endif

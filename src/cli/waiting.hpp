#pragma once

namespace tessera::cli {

/// Threads that wait sleep after some tens of microseconds: OpenMP's own default is to spin for milliseconds, which
/// where other programs use the cores too takes several times as long. And BLAS, which is called by threads that are
/// there already, starts none of its own, which spin, too. Libraries read their environment once, before main(), so
/// where neither OMP_WAIT_POLICY nor GOMP_SPINCOUNT is set, this sets them (and OPENBLAS_NUM_THREADS where that is not
/// set) and runs the program again: with glibc before any library has begun, elsewhere and with sanitizers when it is
/// called. Call it first in main(); it returns in the second run, where the environment has a choice already, and where
/// running again fails.
void let_waiting_threads_sleep(char** argv);

}  // namespace tessera::cli

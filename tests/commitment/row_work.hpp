#pragma once

/// \file
/// No opening that a test can make has so many rows and so long domains that their challenges need work: what tests
/// alone can ask for. Executables that use it are linked with a wrapped symbol (tests/CMakeLists.txt).

namespace tessera::testing {

/// While it lives, every challenge for a row variable needs so many bits of work.
class RowWork {
 public:
  explicit RowWork(unsigned bits);
  ~RowWork();
  RowWork(const RowWork&) = delete;
  RowWork& operator=(const RowWork&) = delete;
};

}  // namespace tessera::testing

#pragma once

/// \file
/// What the library throws. A rejected proof is no error: it is a Verdict.

#include <stdexcept>

namespace tessera {

/// Wrong files or arguments: the message names file, field, expected and found.
class InputError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The job cannot be finished although its input is fine: full disk, file-size limit, lost rank.
class JobError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace tessera

#pragma once

#include "files/descriptor.hpp"

namespace tessera {

/// What is written to one end is read from the other. Programs that a process becomes have neither.
struct Pipe {
  /// Throws std::system_error, "pipe: " and why.
  Pipe();
  Descriptor from, to;
};

}  // namespace tessera

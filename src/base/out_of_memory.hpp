#pragma once

#include <exception>
#include <new>
#include <stdexcept>

namespace tessera {

/// In a handler of exceptions that would make a verdict: that memory has run out says nothing of a proof. Throws
/// std::bad_alloc for what an allocation throws, for lengths that no container can have too.
inline void pass_on_out_of_memory(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
      dynamic_cast<const std::length_error*>(&error) != nullptr) {
    throw std::bad_alloc();
  }
}

}  // namespace tessera

#pragma once

#include <stdexcept>

namespace tessera {

/// A value that is looked up is no row of its table: it was computed wrongly. Thrown on all ranks alike.
class StrangeValue : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace tessera

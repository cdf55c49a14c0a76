#include "tensor/row_block.hpp"

#include <stdexcept>
#include <string>

namespace tessera {

void refuse_rows(std::string_view tensor, Range asked, Range held) {
  const auto text = [](Range range) { return std::to_string(range.first) + " to " + std::to_string(range.last); };
  throw std::logic_error("rows " + text(asked) + " of " + std::string(tensor) + " are read, but only " + text(held) +
                         " are held here");
}

}  // namespace tessera

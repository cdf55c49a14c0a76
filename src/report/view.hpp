#pragma once

#include <nlohmann/json.hpp>

namespace tessera::report {

/// What a template is filled with: objects, lists, texts and truth values, no numbers. A name that an object lacks is
/// looked up in those around it.
using View = nlohmann::json;

}  // namespace tessera::report

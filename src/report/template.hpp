#pragma once

#include <string>

#include "report/view.hpp"

namespace tessera::report {

/// The page's template filled with a view, with the figures' templates as its parts. Every text of the view is escaped:
/// & < > " ' as HTML has them.
std::string render_page(const View& view);

/// Any template filled with a view, whose texts are escaped as in render_page(). Throws std::logic_error if it is not
/// one.
std::string render(const std::string& text, const View& view);

}  // namespace tessera::report

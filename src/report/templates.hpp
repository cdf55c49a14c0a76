#pragma once

#include <string_view>

namespace tessera::report {

// The files of templates/, which the build puts into the program.
extern const std::string_view page_template, style_template, summary_template, text_template, bars_template,
    marks_template, curves_template;

}  // namespace tessera::report

#include <algorithm>
#include <cmath>

#include "report/axis.hpp"
#include "report/figure.hpp"

namespace tessera::report {
namespace {

constexpr double mark_left = 44, mark_right = 150, mark_top = 20, mark_height = 260,
                 mark_bottom = mark_top + mark_height;
constexpr double mark_width = figure_width - mark_left - mark_right;
constexpr double most_shown = 256;  // bits: no challenge has more

double shown_value(double value) { return std::min(drawable(value), most_shown); }

}  // namespace

View figure(const Marks& marks) {
  double least = std::min(shown_value(marks.whole), marks.line), most = marks.line;
  for (const Mark& mark : marks.marks) {
    least = std::min(least, shown_value(mark.value));
    most = std::max(most, shown_value(mark.value));
  }
  least = std::floor(least - 1);
  most = std::ceil(most + 1);
  const auto y = [&](double value) {
    return mark_bottom - (shown_value(value) - least) / (most - least) * mark_height;
  };
  const double step = mark_width / static_cast<double>(std::max<std::size_t>(marks.marks.size(), 1));
  View dots = View::array();
  double x = mark_left + step / 2;
  for (const Mark& mark : marks.marks) {
    dots.push_back({{"x", coordinate(x)},
                    {"y", coordinate(y(mark.value))},
                    {"foot", coordinate(y(marks.line))},
                    {"colour", std::to_string(mark.colour)},
                    {"tip", mark.name}});
    x += step;
  }
  View axis = View::array();
  for (const double value : ticks(least, most)) {
    axis.push_back({{"tick_y", coordinate(y(value))}, {"tick", tick_text(value)}});
  }
  // names of lines that are close stand apart
  const double line_y = y(marks.line), whole_y = y(marks.whole);
  const double apart = std::max(0.0, 14 - std::abs(line_y - whole_y)) / 2 * (whole_y >= line_y ? 1 : -1);
  return {{"title", marks.title},
          {"description", marks.description},
          {"height", coordinate(mark_bottom + 20)},
          {"dots", dots},
          {"ticks", axis},
          {"left", coordinate(mark_left)},
          {"tick_x", coordinate(mark_left - 6)},
          {"right", coordinate(mark_left + mark_width)},
          {"name_x", coordinate(mark_left + mark_width + 6)},
          {"line_y", coordinate(line_y)},
          {"line_text_y", coordinate(line_y - apart)},
          {"line_name", marks.line_name},
          {"whole_y", coordinate(whole_y)},
          {"whole_text_y", coordinate(whole_y + apart)},
          {"whole_name", marks.whole_name},
          {"bottom", coordinate(mark_bottom)},
          {"top", coordinate(mark_top)},
          {"below", coordinate(mark_bottom + 15)}};
}

}  // namespace tessera::report

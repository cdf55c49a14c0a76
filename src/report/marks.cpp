#include <algorithm>
#include <cmath>

#include "report/axis.hpp"
#include "report/figure.hpp"

namespace tessera::report {
namespace {

constexpr double mark_left = 34, mark_right = 6, mark_top = 20, mark_height = 190, mark_bottom = mark_top + mark_height;
constexpr double mark_width = figure_width - mark_left - mark_right;
constexpr double most_shown = 256;  // bits: no challenge has more

double shown_value(double value) { return std::min(drawable(value), most_shown); }

}  // namespace

View figure(const Marks& marks) {
  double least = marks.line, most = marks.line;
  for (const Mark& mark : marks.marks) {
    least = std::min(least, shown_value(mark.value));
    most = std::max(most, shown_value(mark.value));
  }
  least = std::floor(least - 4);
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
                    {"low", shown_value(mark.value) < marks.line},
                    {"tip", mark.name}});
    x += step;
  }
  View axis = View::array();
  for (const double value : ticks(least, most)) {
    axis.push_back({{"tick_y", coordinate(y(value))}, {"tick", tick_text(value)}});
  }
  return {{"title", marks.title},
          {"description", marks.description},
          {"unit", marks.unit},
          {"order", marks.order},
          {"height", coordinate(mark_bottom + 26)},
          {"dots", dots},
          {"ticks", axis},
          {"left", coordinate(mark_left)},
          {"tick_x", coordinate(mark_left - 6)},
          {"right", coordinate(mark_left + mark_width)},
          {"middle", coordinate(mark_left + mark_width / 2)},
          {"line_y", coordinate(y(marks.line))},
          {"line_text_y", coordinate(y(marks.line) + 14)},
          {"line_name", marks.line_name},
          {"below", coordinate(mark_bottom + 17)}};
}

}  // namespace tessera::report

#include <algorithm>

#include "report/axis.hpp"
#include "report/figure.hpp"

namespace tessera::report {
namespace {

constexpr double left = 2, right = 8, label_height = 16, bar_height = 15, bar_distance = 38, axis_height = 34;
constexpr double plot = figure_width - left - right;
constexpr double letter = 6.2;  // width of one, at most mostly

double total_of(const Bar& bar) {
  double total = 0;
  for (const Segment& segment : bar.segments) {
    total += drawable(segment.size);
  }
  return total;
}

View segments_view(const Bar& bar, double scale, double top) {
  View segments = View::array();
  double x = left;
  for (const Segment& segment : bar.segments) {
    const double width = drawable(segment.size) * scale;
    if (width <= 0) {
      continue;
    }
    const bool fits = bar.segments.size() > 1 && width > letter * static_cast<double>(segment.name.size()) + 8;
    segments.push_back({{"x", coordinate(x)},
                        {"y", coordinate(top)},
                        {"width", coordinate(width)},
                        {"colour", std::to_string(segment.colour)},
                        {"tip", segment.name + ": " + segment.value},
                        {"text_x", coordinate(x + width / 2)},
                        {"text_y", coordinate(top + bar_height / 2)},
                        {"inner", fits ? View(segment.name) : View(false)}});
    x += width;
  }
  return segments;
}

}  // namespace

View figure(const Bars& bars) {
  double most = 0;
  for (const Bar& bar : bars.bars) {
    most = std::max(most, total_of(bar));
  }
  const double scale = most > 0 ? plot / most : 0;
  View rows = View::array();
  double top = 0;
  for (const Bar& bar : bars.bars) {
    rows.push_back({{"label", bar.label},
                    {"label_y", coordinate(top + label_height - 4)},
                    {"segments", segments_view(bar, scale, top + label_height)},
                    {"total", bar.total}});
    top += bar_distance;
  }
  View marks = View::array();
  for (const double value : most > 0 ? ticks(0, most) : std::vector<double>{}) {
    marks.push_back({{"tick_x", coordinate(left + value * scale)},
                     {"anchor", value == 0                      ? "start"
                                : value * scale > plot - letter ? "end"
                                                                : "middle"},
                     {"tick", tick_text(value)}});
  }
  return {{"title", bars.title},
          {"description", bars.description},
          {"unit", bars.unit},
          {"height", coordinate(top + axis_height)},
          {"bars", rows},
          {"ticks", marks},
          {"left", coordinate(left)},
          {"right", coordinate(figure_width - right)},
          {"middle", coordinate(left + plot / 2)},
          {"top", coordinate(label_height - 4)},
          {"bottom", coordinate(top)},
          {"tick_y", coordinate(top + 13)},
          {"unit_y", coordinate(top + 28)},
          {"bar_height", coordinate(bar_height)}};
}

}  // namespace tessera::report

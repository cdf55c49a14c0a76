#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/view.hpp"

namespace tessera::report {

// Figures: places and sizes of what templates/<figure>.svg draws. Widths are of a viewBox as wide as a phone, so that
// letters have one size on every screen; values that are not finite or negative count as 0. Every figure has a title
// and a description, which tells its values' source, and every axis its unit.

inline constexpr double figure_width = 360;

struct Segment {
  std::string name;   // written into it where there is room and others beside it
  std::string value;  // as text
  double size = 0;
  std::size_t colour = 0;
};
struct Bar {
  std::string label;  // above it, to the left
  std::vector<Segment> segments;
  std::string total;  // above it, to the right
};
/// Stacked bars from left to right on one scale.
struct Bars {
  std::string title, description;
  std::string unit;  // of the axis
  std::vector<Bar> bars;
};
View figure(const Bars& bars);

struct Mark {
  std::string name;
  double value = 0;
  std::size_t colour = 0;
};
/// A mark for each of a list, in order, with a line across that none may be below; those that are look otherwise.
struct Marks {
  std::string title, description;
  std::string unit, order;  // names of the axes
  std::vector<Mark> marks;
  double line = 0;
  std::string line_name;
};
View figure(const Marks& marks);

struct CurvePoint {
  double x = 0, y = 0;
};
struct Curve {
  std::string name;
  std::vector<CurvePoint> points;  // by x
  bool ideal = false;              // without marks
};
/// Curves over logarithmic axes, told apart by their dashes; points that are not positive are left out.
struct Curves {
  std::string title, description, x_name, y_name;
  std::vector<Curve> curves;
};
View figure(const Curves& curves);

}  // namespace tessera::report

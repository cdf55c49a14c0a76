#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/view.hpp"

namespace tessera::report {

// Figures: places and sizes of what templates/<figure>.svg draws. Widths are of a viewBox of 720; values that are not
// finite or negative count as 0. Every figure has a title and a description, which tells its values' source.

inline constexpr double figure_width = 720;

struct Segment {
  std::string name;   // written into it where there is room and others beside it
  std::string value;  // as text
  double size = 0;
  std::size_t colour = 0;
};
struct Bar {
  std::string label;  // to the left
  std::vector<Segment> segments;
  std::string total;  // to the right
};
/// Stacked bars from left to right on one scale.
struct Bars {
  std::string title, description;
  std::vector<Bar> bars;
};
View figure(const Bars& bars);

struct Mark {
  std::string name;
  double value = 0;
  std::size_t colour = 0;
};
/// A mark for each of a list, in order, with two lines across: one that none may be below, and one for all together.
struct Marks {
  std::string title, description;
  std::vector<Mark> marks;
  double line = 0;
  std::string line_name;
  double whole = 0;
  std::string whole_name;
};
View figure(const Marks& marks);

struct CurvePoint {
  double x = 0, y = 0;
};
struct Curve {
  std::string name;
  std::vector<CurvePoint> points;  // by x
  std::size_t colour = 0;
  bool ideal = false;  // dashed, without marks
};
/// Curves over logarithmic axes; points that are not positive are left out.
struct Curves {
  std::string title, description, x_name, y_name;
  std::vector<Curve> curves;
};
View figure(const Curves& curves);

}  // namespace tessera::report

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "report/axis.hpp"
#include "report/figure.hpp"

namespace tessera::report {
namespace {

constexpr double curve_left = 44, curve_right = 10, curve_top = 22, curve_height = 190, curve_names = 52,
                 curve_name = 18, curve_bottom = curve_top + curve_height;
constexpr std::size_t dashes = 5;  // kinds of them, of which the first is none and the last is of ideals
constexpr double curve_width = figure_width - curve_left - curve_right;

/// A logarithmic scale from one place to another, with some room beyond the values.
class Scale {
 public:
  Scale(double from, double to) : from_(from), to_(to) {}
  void take(double value) {
    least_ = std::min(least_, value);
    most_ = std::max(most_, value);
  }
  void widen(double factor) {
    least_ /= factor;
    most_ *= factor;
  }
  [[nodiscard]] bool empty() const { return !(most_ >= least_); }
  [[nodiscard]] double operator()(double value) const {
    return from_ + (to_ - from_) * std::log(value / least_) / std::log(most_ / least_);
  }
  [[nodiscard]] std::vector<double> ticks() const {
    return empty() ? std::vector<double>{} : logarithmic_ticks(least_, most_);
  }

 private:
  double from_, to_;
  double least_ = std::numeric_limits<double>::infinity();
  double most_ = 0;
};

bool has_place(const CurvePoint& point) { return drawable(point.x) > 0 && drawable(point.y) > 0; }

struct Scales {
  Scale x{curve_left, curve_left + curve_width};
  Scale y{curve_bottom, curve_top};
};

Scales scales_of(const Curves& curves) {
  Scales scales;
  for (const Curve& curve : curves.curves) {
    for (const CurvePoint& point : curve.points) {
      if (has_place(point)) {
        scales.x.take(drawable(point.x));
        scales.y.take(drawable(point.y));
      }
    }
  }
  scales.x.widen(1.15);
  scales.y.widen(1.3);
  return scales;
}

View curve_view(const Curve& curve, const std::string& dash, const Scales& scales) {
  View dots = View::array();
  std::string path;
  for (const CurvePoint& point : curve.points) {
    if (has_place(point)) {
      const std::string x = coordinate(scales.x(drawable(point.x))), y = coordinate(scales.y(drawable(point.y)));
      path += (path.empty() ? "M" : " L") + x + " " + y;
      dots.push_back({{"x", x}, {"y", y}, {"tip", tick_text(drawable(point.x)) + ", " + tick_text(drawable(point.y))}});
    }
  }
  return {{"path", path}, {"dots", curve.ideal ? View::array() : dots}, {"dash", dash}};
}

View axis_view(const Scale& scale, const char* place, const std::vector<double>& values) {
  View ticks = View::array();
  for (const double value : values) {
    ticks.push_back({{place, coordinate(scale(value))}, {"tick", tick_text(value)}});
  }
  return ticks;
}

/// The values themselves if they are few, else round ones.
std::vector<double> x_ticks(const Curves& curves, const Scale& scale) {
  constexpr std::size_t few = 8;
  std::set<double> values;
  for (const Curve& curve : curves.curves) {
    for (const CurvePoint& point : curve.points) {
      if (has_place(point)) {
        values.insert(drawable(point.x));
      }
    }
  }
  return values.size() <= few ? std::vector<double>(values.begin(), values.end()) : scale.ticks();
}

}  // namespace

View figure(const Curves& curves) {
  const Scales scales = scales_of(curves);
  View views = View::array();
  View names = View::array();
  double name_y = curve_bottom + curve_names;
  for (const Curve& curve : curves.curves) {
    const std::string dash = std::to_string(curve.ideal ? dashes - 1 : views.size() % (dashes - 1));
    views.push_back(curve_view(curve, dash, scales));
    names.push_back({{"dash", dash}, {"name", curve.name}, {"name_y", coordinate(name_y)}});
    name_y += curve_name;
  }
  return {{"title", curves.title},
          {"description", curves.description},
          {"height", coordinate(name_y - curve_name + 10)},
          {"curves", views},
          {"names", names},
          {"x_ticks", axis_view(scales.x, "tick_x", x_ticks(curves, scales.x))},
          {"y_ticks", axis_view(scales.y, "tick_y", scales.y.ticks())},
          {"x_name", curves.x_name},
          {"y_name", curves.y_name},
          {"left", coordinate(curve_left)},
          {"right", coordinate(curve_left + curve_width)},
          {"middle", coordinate(curve_left + curve_width / 2)},
          {"before", coordinate(curve_left - 6)},
          {"swatch_x", coordinate(curve_left)},
          {"swatch_end", coordinate(curve_left + 30)},
          {"name_x", coordinate(curve_left + 36)},
          {"top", coordinate(curve_top)},
          {"bottom", coordinate(curve_bottom)},
          {"below", coordinate(curve_bottom + 14)},
          {"lowest", coordinate(curve_bottom + 31)}};
}

}  // namespace tessera::report

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "report/axis.hpp"
#include "report/figure.hpp"
#include "report/template.hpp"

namespace tessera::report {
namespace {

using testing::ContainsRegex;
using testing::ElementsAre;
using testing::Not;

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan = std::nan("");

double number(const View& value) { return std::stod(value.get<std::string>()); }

TEST(Axis, HasRoundTicks) {
  EXPECT_THAT(ticks(0, 3.8), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(ticks(97, 129), ElementsAre(100, 110, 120));
  EXPECT_THAT(logarithmic_ticks(1, 10), ElementsAre(1, 2, 5, 10));
  EXPECT_THAT(logarithmic_ticks(1, 1e5).size(), 6U);
  for (const double most : {1e-9, 1e-3, 7.0, 1e12}) {
    EXPECT_LE(ticks(0, most).size(), 12U) << most;
  }
}

TEST(Axis, DrawsWhatIsNoNumberAsNothing) {
  EXPECT_EQ(drawable(nan), 0);
  EXPECT_EQ(drawable(-1), 0);
  EXPECT_EQ(drawable(-infinity), 0);
  EXPECT_EQ(drawable(infinity), 1e12);
  EXPECT_EQ(drawable(1e-300), 0);
  EXPECT_EQ(drawable(2.5), 2.5);
}

TEST(BarsFigure, StacksSegmentsOnOneScale) {
  const View view =
      figure(Bars{"t", "d", {{"a", {{"x", "1", 1, 0}, {"y", "3", 3, 1}}, "4"}, {"b", {{"x", "2", 2, 0}}, "2"}}});
  const View& first = view["bars"][0]["segments"];
  const View& second = view["bars"][1]["segments"];
  ASSERT_EQ(first.size(), 2U);
  EXPECT_NEAR(number(first[1]["width"]), 3 * number(first[0]["width"]), 0.3);
  EXPECT_NEAR(number(first[1]["x"]), number(first[0]["x"]) + number(first[0]["width"]), 0.1);
  EXPECT_NEAR(number(second[0]["width"]), 2 * number(first[0]["width"]), 0.2);
  EXPECT_LE(number(first[1]["x"]) + number(first[1]["width"]), figure_width);
  EXPECT_GT(number(second[0]["y"]), number(first[0]["y"]));
}

TEST(BarsFigure, WritesNamesOnlyWhereThereIsRoom) {
  const View view = figure(Bars{"t", "d", {{"a", {{"wide", "99", 99, 0}, {"narrow", "1", 1, 1}}, "100"}}});
  EXPECT_EQ(view["bars"][0]["segments"][0]["inner"], "wide");
  EXPECT_EQ(view["bars"][0]["segments"][1]["inner"], false);
  EXPECT_EQ(view["bars"][0]["segments"][1]["tip"], "narrow: 1");
}

TEST(Figures, StayInTheirFrameWhateverTheValuesAre) {
  for (const double value : {nan, infinity, -infinity, -1.0, 0.0, 1e300, 1e-300}) {
    const std::string bars =
        render("{{>bars_figure}}", figure(Bars{"t", "d", {{"a", {{"x", "", value, 0}, {"y", "", 1, 0}}, ""}}}));
    const std::string marks = render(
        "{{>marks_figure}}", figure(Marks{"t", "d", {{"a", value, 0}, {"b", 101, 0}}, 100, "line", value, "whole"}));
    const std::string curves = render(
        "{{>curves_figure}}", figure(Curves{"t", "d", "x", "y", {{"a", {{value, 1}, {1, value}, {2, 3}}, 0, false}}}));
    for (const std::string& text : {bars, marks, curves}) {
      EXPECT_THAT(text, Not(ContainsRegex("[\" -](nan|inf)")));
      EXPECT_LT(text.size(), 8000U);
    }
  }
  EXPECT_THAT(render("{{>curves_figure}}", figure(Curves{"t", "d", "x", "y", {}})),
              Not(ContainsRegex("[\" -](nan|inf)")));
  EXPECT_THAT(render("{{>bars_figure}}", figure(Bars{"t", "d", {}})), Not(ContainsRegex("[\" -](nan|inf)")));
}

TEST(MarksFigure, PutsRoundsAboveAndBelowTheLine) {
  const View view = figure(Marks{"t", "d", {{"good", 101, 0}, {"bad", 99, 1}, {"best", 128, 2}}, 100, "l", 98, "w"});
  const double line = number(view["line_y"]);
  EXPECT_LT(number(view["dots"][0]["y"]), line);
  EXPECT_GT(number(view["dots"][1]["y"]), line);
  EXPECT_LT(number(view["dots"][2]["y"]), number(view["dots"][0]["y"]));
  EXPECT_GT(number(view["whole_y"]), line);
  EXPECT_NEAR(number(view["dots"][1]["y"]) - line, line - number(view["dots"][0]["y"]), 0.2);
}

TEST(CurvesFigure, IsLogarithmic) {
  const View view = figure(Curves{"t", "d", "x", "y", {{"a", {{1, 8}, {2, 4}, {4, 2}}, 0, false}}});
  const View& dots = view["curves"][0]["dots"];
  ASSERT_EQ(dots.size(), 3U);
  EXPECT_NEAR(number(dots[1]["x"]) - number(dots[0]["x"]), number(dots[2]["x"]) - number(dots[1]["x"]), 0.2);
  EXPECT_NEAR(number(dots[1]["y"]) - number(dots[0]["y"]), number(dots[2]["y"]) - number(dots[1]["y"]), 0.2);
  EXPECT_GT(number(dots[1]["y"]), number(dots[0]["y"]));  // downwards
}

}  // namespace
}  // namespace tessera::report

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "report/axis.hpp"
#include "report/figure.hpp"
#include "report/scopes.hpp"
#include "report/tables.hpp"
#include "report/template.hpp"

namespace tessera::report {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan = std::nan("");

double number(const View& value) { return std::stod(value.get<std::string>()); }

TEST(Axis, has_round_ticks) {
  EXPECT_THAT(ticks(0, 3.8), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(ticks(97, 129), ElementsAre(100, 110, 120));
  EXPECT_THAT(logarithmic_ticks(1, 10), ElementsAre(1, 2, 5, 10));
  EXPECT_THAT(logarithmic_ticks(1, 1e5).size(), 6U);
  for (const double most : {1e-9, 1e-3, 7.0, 1e12}) {
    EXPECT_LE(ticks(0, most).size(), 12U) << most;
  }
}

TEST(Axis, draws_what_is_no_number_as_nothing) {
  EXPECT_EQ(drawable(nan), 0);
  EXPECT_EQ(drawable(-1), 0);
  EXPECT_EQ(drawable(-infinity), 0);
  EXPECT_EQ(drawable(infinity), 1e12);
  EXPECT_EQ(drawable(1e-300), 0);
  EXPECT_EQ(drawable(2.5), 2.5);
}

TEST(BarsFigure, stacks_segments_on_one_scale) {
  const View view =
      figure(Bars{"t", "d", "u", {{"a", {{"x", "1", 1, 0}, {"y", "3", 3, 1}}, "4"}, {"b", {{"x", "2", 2, 0}}, "2"}}});
  const View& first = view["bars"][0]["segments"];
  const View& second = view["bars"][1]["segments"];
  ASSERT_EQ(first.size(), 2U);
  EXPECT_NEAR(number(first[1]["width"]), 3 * number(first[0]["width"]), 0.3);
  EXPECT_NEAR(number(first[1]["x"]), number(first[0]["x"]) + number(first[0]["width"]), 0.1);
  EXPECT_NEAR(number(second[0]["width"]), 2 * number(first[0]["width"]), 0.2);
  EXPECT_LE(number(first[1]["x"]) + number(first[1]["width"]), figure_width);
  EXPECT_GT(number(second[0]["y"]), number(first[0]["y"]));
}

TEST(BarsFigure, writes_names_only_where_there_is_room) {
  const View view = figure(Bars{"t", "d", "u", {{"a", {{"wide", "99", 99, 0}, {"narrow", "1", 1, 1}}, "100"}}});
  EXPECT_EQ(view["bars"][0]["segments"][0]["inner"], "wide");
  EXPECT_EQ(view["bars"][0]["segments"][1]["inner"], false);
  EXPECT_EQ(view["bars"][0]["segments"][1]["tip"], "narrow: 1");
}

TEST(Figures, stay_in_their_frame_whatever_the_values_are) {
  for (const double value : {nan, infinity, -infinity, -1.0, 0.0, 1e300, 1e-300}) {
    const std::string bars =
        render("{{>bars_figure}}", figure(Bars{"t", "d", "u", {{"a", {{"x", "", value, 0}, {"y", "", 1, 0}}, ""}}}));
    const std::string marks =
        render("{{>marks_figure}}", figure(Marks{"t", "d", "u", "o", {{"a", value, 0}, {"b", 101, 0}}, 100, "line"}));
    const std::string curves = render(
        "{{>curves_figure}}", figure(Curves{"t", "d", "x", "y", {{"a", {{value, 1}, {1, value}, {2, 3}}, false}}}));
    for (const std::string& text : {bars, marks, curves}) {
      EXPECT_THAT(text, Not(ContainsRegex("[\" -](nan|inf)")));
      EXPECT_LT(text.size(), 8000U);
    }
  }
  EXPECT_THAT(render("{{>curves_figure}}", figure(Curves{"t", "d", "x", "y", {}})),
              Not(ContainsRegex("[\" -](nan|inf)")));
  EXPECT_THAT(render("{{>bars_figure}}", figure(Bars{"t", "d", "u", {}})), Not(ContainsRegex("[\" -](nan|inf)")));
}

TEST(MarksFigure, puts_rounds_above_and_below_the_line) {
  const View view = figure(
      Marks{"t", "d", "u", "o", {{"good", 101, 0}, {"bad", 99, 1}, {"best", 128, 2}, {"just", 100, 3}}, 100, "l"});
  const double line = number(view["line_y"]);
  EXPECT_LT(number(view["dots"][0]["y"]), line);
  EXPECT_GT(number(view["dots"][1]["y"]), line);
  EXPECT_LT(number(view["dots"][2]["y"]), number(view["dots"][0]["y"]));
  EXPECT_NEAR(number(view["dots"][1]["y"]) - line, line - number(view["dots"][0]["y"]), 0.2);
  const auto is_low = [&](std::size_t i) { return view["dots"][i]["low"].get<bool>(); };
  EXPECT_THAT((std::vector<bool>{is_low(0), is_low(1), is_low(2), is_low(3)}), ElementsAre(false, true, false, false));
}

TEST(Figures, say_the_units_of_their_axes) {
  EXPECT_THAT(render("{{>bars_figure}}", figure(Bars{"t", "d", "furlongs", {{"a", {{"x", "1", 1, 0}}, "1"}}})),
              HasSubstr(">furlongs</text>"));
  const std::string marks =
      render("{{>marks_figure}}", figure(Marks{"t", "d", "bits", "rounds", {{"a", 101, 0}}, 100, "l"}));
  EXPECT_THAT(marks, AllOf(HasSubstr(">bits</text>"), HasSubstr(">rounds</text>")));
  const std::string curves =
      render("{{>curves_figure}}", figure(Curves{"t", "d", "ranks", "seconds", {{"a", {{1, 2}}, false}}}));
  EXPECT_THAT(curves, AllOf(HasSubstr(">ranks</text>"), HasSubstr(">seconds</text>")));
}

TEST(Scopes, have_one_colour_everywhere) {
  std::set<std::size_t> all;
  for (const char* scope : {"/opening", "/lookup", "/inference", "/self_attention", "/commitment", "/feed_forward",
                            "/witness", "/final", "/embedding", "/check"}) {
    EXPECT_TRUE(all.insert(colour_of(scope)).second) << scope;
    EXPECT_EQ(colour_of(std::string(scope) + "/inner/more"), colour_of(scope));
    EXPECT_NE(colour_of(scope), no_colour);
  }
  for (const char* scope : {"/", "", "/unheard-of", "/openings"}) {
    EXPECT_EQ(colour_of(scope), no_colour) << scope;
  }
}

TEST(Tables, have_a_column_for_each_proof_and_one_for_those_that_agree) {
  const auto row = [](const std::string& name, const std::string& value) {
    return Columns::Row{{{name}, 0, 0}, {value}};
  };
  const Columns a{{"Scope"}, {"s"}, {row("/", "1"), row("/b", "2")}};
  const Columns b{{"Scope"}, {"s"}, {row("/", "9"), row("/a", "8"), row("/b", "7"), row("/b", "6")}};
  const View view = merged_tables("title", "note", {a, b, a});
  ASSERT_EQ(view["parts"].size(), 1U);
  const View& table = view["parts"][0];
  EXPECT_EQ(table["heads"], (View{"1, 3: s", "2: s"}));
  std::vector<std::string> rows;
  for (const View& found : table["rows"]) {
    rows.push_back(found["names"][0]["name"].get<std::string>() + " " + found["cells"].dump());
  }
  EXPECT_THAT(rows, ElementsAre("/ [\"1\",\"9\"]", "/a [\"–\",\"8\"]", "/b [\"2\",\"7\"]", "/b [\"–\",\"6\"]"));
  EXPECT_EQ(merged_tables("title", "note", {a})["parts"][0]["heads"], View{"s"});
}

TEST(Tables, are_not_too_wide) {
  std::vector<Columns> proofs;
  for (int i = 0; i < 17; ++i) {
    proofs.push_back({{"Scope"}, {"s"}, {{{{"/"}, 0, 0}, {std::to_string(i)}}}});
  }
  const View view = merged_tables("title", "note", proofs);
  ASSERT_EQ(view["parts"].size(), 3U);
  EXPECT_EQ(view["parts"][0]["heads"].size() + view["parts"][1]["heads"].size() + view["parts"][2]["heads"].size(),
            17U);
  EXPECT_EQ(view["parts"][2]["rows"][0]["cells"], View{"16"});
}

TEST(CurvesFigure, is_logarithmic) {
  const View view = figure(Curves{"t", "d", "x", "y", {{"a", {{1, 8}, {2, 4}, {4, 2}}, false}}});
  const View& dots = view["curves"][0]["dots"];
  ASSERT_EQ(dots.size(), 3U);
  EXPECT_NEAR(number(dots[1]["x"]) - number(dots[0]["x"]), number(dots[2]["x"]) - number(dots[1]["x"]), 0.2);
  EXPECT_NEAR(number(dots[1]["y"]) - number(dots[0]["y"]), number(dots[2]["y"]) - number(dots[1]["y"]), 0.2);
  EXPECT_GT(number(dots[1]["y"]), number(dots[0]["y"]));  // downwards
}

}  // namespace
}  // namespace tessera::report

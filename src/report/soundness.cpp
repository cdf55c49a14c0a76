#include "report/figure.hpp"
#include "report/text.hpp"
#include "report/views.hpp"
#include "transcript/shown_bits.hpp"

namespace tessera::report {
namespace {

constexpr std::size_t most_rounds = 400;

}  // namespace

const SoundnessReport& soundness_of(const Part& part) {
  return part.verification && part.verification->soundness ? *part.verification->soundness : part.archive.soundness;
}

View soundness_view(const Part& part, Palette& palette) {
  const SoundnessReport& report = soundness_of(part);
  if (report.entries.empty()) {
    return false;
  }
  Marks marks{"Soundness round by round",
              "A mark for each round in the protocol's order: -log2 of its error, with the line that none may be below "
              "and the sum of all errors. The values are in the table below.",
              {},
              required_soundness_bits,
              "required, " + fixed(required_soundness_bits, 0),
              report.union_bits(),
              "sum of all, " + fixed(shown_bits(report.union_bits()), 1)};
  View rows = View::array();
  for (const SoundnessEntry& entry : report.entries) {
    if (rows.size() == most_rounds) {
      break;
    }
    const std::string bits = fixed(shown_bits(entry.bits), 1);
    const std::string scope = shown(entry.scope), reason = shown(entry.reason);
    const std::size_t colour = palette.of(entry.scope);
    marks.marks.push_back({scope + ": " + reason + ", " + bits + " bits", entry.bits, colour});
    rows.push_back({{"round_scope", scope},
                    {"round_reason", reason},
                    {"round_bits", bits},
                    {"round_colour", std::to_string(colour)}});
  }
  return {{"soundness_figure", figure(marks)},
          {"rounds", rows},
          {"rounds_left_out", report.entries.size() > most_rounds},
          {"computed", part.verification.has_value() && part.verification->soundness.has_value()},
          {"least_bits", fixed(shown_bits(report.round_by_round_bits()), 1)},
          {"sum_bits", fixed(shown_bits(report.union_bits()), 1)}};
}

}  // namespace tessera::report

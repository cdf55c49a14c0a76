#include "report/figure.hpp"
#include "report/text.hpp"
#include "report/views.hpp"
#include "transcript/shown_bits.hpp"

namespace tessera::report {
namespace {

constexpr std::size_t most_marks = 400;

}  // namespace

const SoundnessReport& soundness_of(const Part& part) {
  return part.verification && part.verification->soundness ? *part.verification->soundness : part.archive.soundness;
}

View soundness_view(const Part& part) {
  const SoundnessReport& report = soundness_of(part);
  if (report.entries.empty()) {
    return false;
  }
  Marks marks{
      "Soundness round by round",
      "A mark for each round in the protocol's order: -log2 of its error, with the line that none may be below. "
      "The values are in the table.",
      "bits",
      "rounds, in the protocol's order",
      {},
      required_soundness_bits,
      fixed(required_soundness_bits, 0) + " bits: no round may have less"};
  for (const SoundnessEntry& entry : report.entries) {
    if (marks.marks.size() == most_marks) {
      break;
    }
    marks.marks.push_back(
        {shown(entry.scope) + ": " + shown(entry.reason) + ", " + fixed(shown_bits(entry.bits), 1) + " bits",
         entry.bits, colour_of(entry.scope)});
  }
  return {{"soundness_figure", figure(marks)},
          {"round_count", count_of(report.entries.size(), "place")},
          {"required", fixed(required_soundness_bits, 0)},
          {"computed", part.verification.has_value() && part.verification->soundness.has_value()},
          {"least_bits", fixed(shown_bits(report.round_by_round_bits()), 1)},
          {"sum_bits", fixed(shown_bits(report.union_bits()), 1)}};
}

}  // namespace tessera::report

#include "cli/prediction.hpp"

#include <cmath>
#include <cstdio>

#include "base/text.hpp"
#include "cli/json_output.hpp"
#include "cli/ownership_json.hpp"

namespace tessera::cli {
namespace {

Json work_json(const Amounts& work) {
  Json result = Json::object();
  for (std::size_t kind = 0; kind < work_kinds; ++kind) {
    if (work[kind] > 0) {
      result[std::string(name_of(static_cast<Work>(kind)))] = std::round(work[kind]);
    }
  }
  return result;
}

void print_phases(const Prediction& prediction) {
  std::printf("\n%10s %8s %8s %12s %10s  scope\n", "seconds", "share", "calls", "bytes", "MiB");
  const double total = prediction.total([&](const PhaseCost& phase) { return prediction.seconds(phase); });
  const auto line = [&](const std::string& scope, double seconds, double calls, double bytes, double memory) {
    if (prediction.rates) {
      std::printf("%10.3f %6.1f %% %8.0f %12.0f %10.1f  %s\n", seconds, 100 * seconds / total, calls, bytes,
                  memory / mebibyte, scope.c_str());
    } else {
      std::printf("%10s %8s %8.0f %12.0f %10.1f  %s\n", "", "", calls, bytes, memory / mebibyte, scope.c_str());
    }
  };
  for (const PhaseCost& phase : prediction.phases) {
    line(phase.scope, prediction.seconds(phase), phase.calls, phase.bytes, phase.memory + prediction.process_bytes());
  }
  line("/", total, prediction.total([](const PhaseCost& phase) { return phase.calls; }),
       prediction.total([](const PhaseCost& phase) { return phase.bytes; }), prediction.memory());
}

void print_work(const Prediction& prediction) {
  std::printf("\n%16s %14s  work of the rank that has most\n", "amount", "seconds");
  for (const PhaseCost& phase : prediction.phases) {
    for (std::size_t kind = 0; kind < work_kinds; ++kind) {
      if (phase.work[kind] > 0) {
        const std::string name = phase.scope + ": " + std::string(name_of(static_cast<Work>(kind)));
        if (prediction.rates) {
          std::printf("%16.0f %14.4f  %s\n", phase.work[kind], phase.work[kind] * prediction.rates->seconds[kind],
                      name.c_str());
        } else {
          std::printf("%16.0f %14s  %s\n", phase.work[kind], "", name.c_str());
        }
      }
    }
  }
}

void print_ownership(const Prediction& prediction) {
  std::printf("\nwho owns what: first entries by rank\n");
  for (const OwnedDimension& dimension : prediction.ownership) {
    std::printf("%s, %zu by %zu:", dimension.name.c_str(), std::size_t{dimension.length}, std::size_t{dimension.chunk});
    for (const std::uint64_t first : dimension.first) {
      std::printf(" %zu", std::size_t{first});
    }
    std::printf("%s%s\n", dimension.tensors.empty() ? "" : "; ", dimension.tensors.c_str());
  }
}

std::string time_text(double seconds) {
  char text[32];
  if (seconds < 100) {
    std::snprintf(text, sizeof text, "about %.2g s", seconds);
  } else if (seconds < 6000) {
    std::snprintf(text, sizeof text, "about %.0f min", seconds / 60);
  } else {
    std::snprintf(text, sizeof text, "about %.1f h", seconds / 3600);
  }
  return text;
}

std::string summary(const Prediction& prediction) {
  char memory[48];
  std::snprintf(memory, sizeof memory, "%.0f MiB a rank", prediction.memory() / mebibyte);
  const double total = prediction.total([&](const PhaseCost& phase) { return prediction.seconds(phase); });
  return (prediction.refusal.empty() ? "" : "cannot be proven: " + prediction.refusal + "; else ") +
         (prediction.rates ? time_text(total) : "time unknown") + ", " + memory;
}

}  // namespace

std::string as_json(const Prediction& prediction, int threads) {
  JsonDocument document;
  document.add("job", Json{{"ranks", prediction.job.ranks}, {"nodes", prediction.job.nodes}, {"threads", threads}});
  document.add("rates", prediction.rates ? Json{{"machine", prediction.rates_machine},
                                                {"ranks_on_node", prediction.rates->ranks_on_node},
                                                {"threads", prediction.rates->threads}}
                                         : Json());
  document.add("provable", prediction.refusal.empty());
  document.add("note", prediction.note);
  Json phases = Json::array();
  for (const PhaseCost& phase : prediction.phases) {
    phases.push_back({{"scope", phase.scope},
                      {"seconds", prediction.rates ? Json(prediction.seconds(phase)) : Json()},
                      {"communication", prediction.rates ? Json(prediction.communication(phase)) : Json()},
                      {"calls", std::round(phase.calls)},
                      {"bytes", std::round(phase.bytes)},
                      {"memory", std::round(phase.memory + prediction.process_bytes())},
                      {"work", work_json(phase.work)}});
  }
  document.add("phases", phases);
  document.add("seconds", prediction.rates
                              ? Json(prediction.total([&](const PhaseCost& p) { return prediction.seconds(p); }))
                              : Json());
  document.add("memory", std::round(prediction.memory()));
  document.add("ownership", ownership_json(prediction.ownership));
  return document.finish();
}

void print(const Prediction& prediction, int threads) {
  std::printf("plan          %s\n", summary(prediction).c_str());
  std::printf("job           %s of %s on %s\n", counted(prediction.job.ranks, "rank").c_str(),
              counted(threads, "thread").c_str(), counted(prediction.job.nodes, "machine").c_str());
  if (prediction.rates) {
    std::printf("rates         %s\n", one_line(prediction.rates_machine).c_str());
  }
  if (!prediction.note.empty()) {
    std::printf("note          %s\n", prediction.note.c_str());
  }
  print_phases(prediction);
  print_work(prediction);
  print_ownership(prediction);
}

}  // namespace tessera::cli

#include "cli/prediction.hpp"

#include <cmath>
#include <cstdio>

#include "base/text.hpp"
#include "cli/json_output.hpp"
#include "cli/ownership_json.hpp"

namespace tessera::cli {
namespace {

struct MemoryPart {
  const char* name;  // in JSON
  const char* text;
  double bytes;
};
std::vector<MemoryPart> memory_parts(const Prediction& prediction) {
  const JobCost& cost = prediction.cost;
  return {{"process", "process, whatever the job", prediction.process_bytes()},
          {"parameters", "parameters", cost.parameters},
          {"activations", "activations, states", cost.activations},
          {"codewords", "codewords and their trees", cost.codewords},
          {"working", "at work: encoding, look-ups or opening", cost.working}};
}

void print_phases(const Prediction& prediction) {
  std::printf("\n%10s %8s %16s  of the rank that has most\n", "seconds", "share", "amount");
  const double total = prediction.rates ? seconds_of(prediction.cost, *prediction.rates) : 0;
  for (std::size_t i = 0; i < phase_count; ++i) {
    const auto phase = static_cast<Phase>(i);
    char time[32] = "";
    if (prediction.rates) {
      const double seconds = seconds_of(phase, prediction.cost, *prediction.rates);
      std::snprintf(time, sizeof time, "%10.3f %6.1f %%", seconds, 100 * seconds / total);
    }
    std::printf("%19s %16.0f  %s: %s\n", time, prediction.cost.amounts[i], std::string(name_of(phase)).c_str(),
                std::string(unit_of(phase)).c_str());
  }
}

void print_memory(const Prediction& prediction) {
  std::printf("\n%10s  of the rank that has most\n", "MiB");
  for (const MemoryPart& part : memory_parts(prediction)) {
    std::printf("%10.1f  %s\n", part.bytes / mebibyte, part.text);
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
  return (prediction.refusal.empty() ? "" : "cannot be proven: " + prediction.refusal + "; else ") +
         (prediction.rates ? time_text(seconds_of(prediction.cost, *prediction.rates)) : "time unknown") + ", " +
         memory;
}

}  // namespace

std::string job_text(int ranks, int threads, int nodes) {
  return counted(ranks, "rank") + " of " + counted(threads, "thread") + " on " + counted(nodes, "machine");
}

std::string as_json(const Prediction& prediction) {
  const JobShape& job = prediction.job;
  const std::optional<Rates>& rates = prediction.rates;
  JsonDocument document;
  document.add("job", Json{{"ranks", job.ranks}, {"nodes", job.nodes}, {"threads", job.threads}});
  document.add("rates", rates ? Json{{"machine", prediction.rates_machine},
                                     {"ranks", rates->ranks},
                                     {"nodes", rates->nodes},
                                     {"threads", rates->threads}}
                              : Json());
  document.add("provable", prediction.refusal.empty());
  document.add("note", prediction.note);
  Json phases = Json::array();
  for (std::size_t i = 0; i < phase_count; ++i) {
    const auto phase = static_cast<Phase>(i);
    phases.push_back({{"phase", name_of(phase)},
                      {"amount", std::round(prediction.cost.amounts[i])},
                      {"unit", unit_of(phase)},
                      {"seconds", rates ? Json(seconds_of(phase, prediction.cost, *rates)) : Json()}});
  }
  document.add("phases", phases);
  document.add("seconds", rates ? Json(seconds_of(prediction.cost, *rates)) : Json());
  Json parts = Json::object();
  for (const MemoryPart& part : memory_parts(prediction)) {
    parts[part.name] = std::round(part.bytes);
  }
  document.add("memory", std::round(prediction.memory()));
  document.add("memory_parts", parts);
  document.add("ownership", ownership_json(prediction.ownership));
  return document.finish();
}

void print(const Prediction& prediction) {
  const JobShape& job = prediction.job;
  std::printf("plan          %s\n", summary(prediction).c_str());
  std::printf("job           %s\n", job_text(job.ranks, job.threads, job.nodes).c_str());
  if (prediction.rates) {
    std::printf("rates         %s\n", one_line(prediction.rates_machine).c_str());
  }
  if (!prediction.note.empty()) {
    std::printf("note          %s\n", prediction.note.c_str());
  }
  print_phases(prediction);
  print_memory(prediction);
  print_ownership(prediction);
}

}  // namespace tessera::cli

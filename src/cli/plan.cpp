#include <algorithm>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <thread>

#include "archive/isolated.hpp"
#include "archive/model_file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cluster/scope_memory.hpp"
#include "cost/rates.hpp"
#include "checkpoints/checkpoint.hpp"
#include "integer_model/integer_model.hpp"
#include "integer_model/shape_key.hpp"
#include "plan/limits.hpp"
#include "protocol/protocol.hpp"

#include "cli/command.hpp"
#include "cli/prediction.hpp"
#include "cli/rank_measures.hpp"
#include "cli/rates_file.hpp"

namespace tessera::cli {
namespace {

/// "16+16", or a number, of which one half is the prompt.
PassShape lengths_of(const PlanCommand& options) {
  const std::string& text = options.tokens;
  const std::size_t plus = text.find('+');
  const auto number = [&](const std::string& digits) -> std::size_t {
    const bool good = !digits.empty() && digits.size() <= 5 &&
                      std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
    if (!good) {
      throw InputError("--tokens: expected PROMPT+GENERATED or the number of all, found " + text);
    }
    return std::stoul(digits);
  };
  PassShape pass;
  if (plus == std::string::npos) {
    const std::size_t all = number(text);
    pass.prompt = all - all / 2;
    pass.generated = all / 2;
  } else {
    pass.prompt = number(text.substr(0, plus));
    pass.generated = number(text.substr(plus + 1));
  }
  pass.past = options.past;
  pass.keeps = options.keeps;
  pass.pass_length = options.pass_length;
  pass.sampling = sampling_of(options.sampling);
  return pass;
}

/// Sizes need little of a model file: the rows that one of many ranks has.
VerifyingKey key_of(const PlanCommand& options) {
  constexpr int many = 256;
  if (!options.shape.empty()) {
    return key_of_shape(read_checkpoint_config(options.shape));
  }
  return options.key.empty() ? make_verifying_key(load_model(options.model, many - 1, Division{many, 0}))
                             : load_key_isolated(options.key).key;
}

void check_job(const PlanCommand& options) {
  if (options.nodes > options.ranks) {
    throw InputError("--nodes: expected at most as many as --ranks, " + std::to_string(options.ranks) + ", found " +
                     std::to_string(options.nodes));
  }
  if (options.ranks % options.nodes != 0) {
    throw InputError("--nodes: expected a divisor of --ranks, " + std::to_string(options.ranks) + ", found " +
                     std::to_string(options.nodes));
  }
}

/// Why no proof can be made of these lengths; empty: it can.
std::string refusal_of(const ModelPlan& plan, const VerifyingKey& key) {
  const double bits = soundness_report(plan, key).round_by_round_bits();
  if (bits >= required_soundness_bits) {
    return {};
  }
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << bits << " bits in the weakest round, of " << required_soundness_bits;
  return text.str();
}

void append(std::string& note, const std::string& text) { note += (note.empty() ? "" : "; ") + text; }

/// A word on rates that were measured of another job, and on what the machine that plans would not do as well.
void note_rates(Prediction& prediction) {
  const JobShape& job = prediction.job;
  if (!prediction.rates) {
    append(prediction.note, "no times without rates of this machine: tessera plan --measure");
    return;
  }
  const Rates& rates = *prediction.rates;
  if (rates.ranks != job.ranks || rates.nodes != job.nodes || rates.threads != job.threads) {
    append(prediction.note, "rates are those of " + job_text(rates.ranks, rates.threads, rates.nodes) +
                                ", the nearest measured: what ranks send each other costs what it did there");
  }
  const unsigned cores = std::thread::hardware_concurrency();
  const auto together = static_cast<unsigned>(job.ranks / job.nodes * job.threads);
  if (cores > 0 && together > cores) {
    append(prediction.note, counted(together, "thread") + " on a machine of " + counted(cores, "core") +
                                ": times are those of as many cores as threads");
  }
}

Prediction predict(const PlanCommand& options, int threads) {
  const VerifyingKey key = key_of(options);
  const ModelPlan plan = ModelPlan::of(key, lengths_of(options), lengths_of(options).division(options.ranks));
  Prediction result;
  result.job = {options.ranks, options.nodes, threads, options.compact,
                static_cast<std::size_t>(options.memory * ProveCommand::gibibyte)};
  result.cost = cost_of(plan, key, result.job);
  result.ownership = ownership_of(plan, options.ranks);
  result.refusal = refusal_of(plan, key);
  const std::filesystem::path path =
      options.rates.empty() ? default_rates_path() : std::filesystem::path(options.rates);
  std::error_code ignored;
  if (!options.rates.empty() || std::filesystem::exists(path, ignored)) {
    const MachineRates rates = load_rates(path);
    result.rates = rates_for(rates, result.job);
    result.rates_machine = rates.machine;
  }
  note_rates(result);
  return result;
}

/// Replaces what the file has of as many ranks, nodes and threads of such machines.
void keep_rates(const std::filesystem::path& path, const Rates& rates) {
  MachineRates all{machine_name(), {}};
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) {
    if (MachineRates before = load_rates(path); before.machine == all.machine) {
      all = std::move(before);
    }
  }
  std::erase_if(all.list, [&](const Rates& entry) {
    return entry.ranks == rates.ranks && entry.nodes == rates.nodes && entry.threads == rates.threads;
  });
  all.list.push_back(rates);
  save_rates(path, all);
}

void measure(const PlanCommand& options, Context& context) {
  const std::filesystem::path path = options.out.empty() ? default_rates_path() : std::filesystem::path(options.out);
  if (path.empty()) {
    throw InputError("--out: expected a file for the rates, as there is neither XDG_CACHE_HOME nor HOME");
  }
  const bool speaks = context.comm.rank() == 0;
  std::error_code ignored;
  if (speaks && std::filesystem::exists(path, ignored)) {
    (void)load_rates(path);  // other rates are added to it: what is none is better found now
  }
  std::vector<int> counts{context.threads};
  if (context.comm.size() == 1 && context.threads > 1) {
    counts.insert(counts.begin(), 1);
  }
  std::vector<std::string> hosts = hosts_of(context.comm);
  std::ranges::sort(hosts);
  const auto nodes = static_cast<int>(std::ranges::unique(hosts).begin() - hosts.begin());
  const auto process_bytes = static_cast<double>(ScopeMemory().process_peak());  // before any measuring
  for (const int threads : counts) {
    context.progress.begin("measuring " + job_text(context.comm.size(), threads, nodes));
    const Rates rates = measure_rates(threads, nodes, process_bytes, context.comm);
    if (speaks) {
      keep_rates(path, rates);
    }
  }
  context.progress.finish();
  if (speaks) {
    std::cout << one_line(path.string()) << ": rates of " << machine_name() << '\n';
  }
}

/// Threads of each rank: as the option says, else an equal part of the cores of a machine like this one.
int threads_of(const PlanCommand& options, const Context& context) {
  check_job(options);
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  return context.chosen_threads > 0 ? context.chosen_threads : std::max(1, cores / (options.ranks / options.nodes));
}

void require_provable(const Prediction& prediction) {
  if (!prediction.refusal.empty()) {
    throw InputError("--tokens: " + prediction.refusal + ": prove refuses this length");
  }
}

}  // namespace

void run(const PlanCommand& options, Context& context) {
  if (options.measure) {
    return measure(options, context);
  }
  if (context.comm.rank() != 0) {
    return;
  }
  if ((options.model.empty() ? 0 : 1) + (options.key.empty() ? 0 : 1) + (options.shape.empty() ? 0 : 1) != 1) {
    throw InputError("plan: expected one of --model, --key and --shape, or --measure");
  }
  if (options.tokens.empty()) {
    throw InputError("--tokens: expected PROMPT+GENERATED, found none");
  }
  const int threads = threads_of(options, context);
  const Prediction prediction = predict(options, threads);
  if (options.json) {
    std::cout << as_json(prediction);
    require_provable(prediction);
    return;
  }
  print(prediction);
  require_provable(prediction);
}

}  // namespace tessera::cli

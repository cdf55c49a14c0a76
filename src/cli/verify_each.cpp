#include "cli/verify_each.hpp"

#include <sched.h>

#include "base/text.hpp"
#include "cli/verify_files.hpp"
#include "cli/verify_workers.hpp"

namespace tessera::cli {
namespace {

std::size_t cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  return sched_getaffinity(0, sizeof(allowed), &allowed) == 0 ? static_cast<std::size_t>(CPU_COUNT(&allowed)) : 1;
}

/// Of a file that was not verified.
Judgement without_proof(const ProofFile& file, ExitCode code, const std::string& reason) {
  Judgement judgement;
  judgement.file = file.path;
  judgement.code = code;
  judgement.reason = reason;
  return judgement;
}

}  // namespace

std::size_t Tally::count(ExitCode code) const {
  const auto found = counts_.find(code);
  return found == counts_.end() ? 0 : found->second;
}

ExitCode Tally::code() const {
  for (const ExitCode code : {rejected, failed, unusable}) {
    if (count(code) > 0) {
      return code;
    }
  }
  return done;
}

std::string Tally::line() const {
  const std::size_t all = count(done) + count(rejected) + count(unusable) + count(failed);
  std::string line = std::to_string(all) + (all == 1 ? " file" : " files");
  for (const ExitCode code : {done, rejected, unusable, failed}) {
    if (code != failed || count(code) > 0) {
      line += (code == done ? ": " : ", ") + std::to_string(count(code)) + ' ' + name_of(code);
    }
  }
  return line;
}

Json Tally::json() const {
  Json counts;
  for (const ExitCode code : {done, rejected, unusable, failed}) {
    counts[name_of(code)] = count(code);
  }
  return counts;
}

Tally judge_each(const Judge& judge, const EachOptions& options, const std::function<void(const std::string&)>& show) {
  const std::vector<ProofFile> files = find_proof_files(options.files);
  const auto shown = [&](const Judgement& judgement) {
    return options.json ? json_line(json_of(judge, judgement)) : line_of(judgement);
  };
  Tally tally;
  const auto work = [&](std::size_t i) {
    const std::string& problem = files[i].problem;
    const Judgement judgement =
        problem.empty() ? cli::judge(judge, files[i].path, {}) : without_proof(files[i], unusable, one_line(problem));
    return static_cast<char>('0' + judgement.code) + shown(judgement);
  };
  const auto take = [&](std::size_t i, const Outcome& outcome) {
    const auto code = outcome.complete ? static_cast<ExitCode>(outcome.text.front() - '0') : failed;
    tally.add(code);
    show(outcome.complete ? outcome.text.substr(1) : shown(without_proof(files[i], failed, outcome.text)));
  };
  run_in_processes(files.size(), options.jobs == 0 ? cores() : options.jobs, work, take);
  return tally;
}

}  // namespace tessera::cli

#include "cli/verify_each.hpp"

#include <sched.h>

#include "archive/isolated_gathered.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "cli/proof_files.hpp"
#include "cli/verify_sources.hpp"
#include "cli/verify_workers.hpp"

namespace tessera::cli {
namespace {

std::size_t cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  return sched_getaffinity(0, sizeof(allowed), &allowed) == 0 ? static_cast<std::size_t>(CPU_COUNT(&allowed)) : 1;
}

/// A file, or a proof of one that is an archive of many.
struct Piece {
  ProofFile file;
  std::optional<GatheredProof> entry;
};

/// The judgement on a proof that was not verified.
Judgement without_proof(const Piece& piece, ExitCode code, const std::string& reason) {
  Judgement judgement;
  judgement.file = piece.file.path;
  judgement.entry = piece.entry ? piece.entry->name : "";
  judgement.code = code;
  judgement.reason = reason;
  return judgement;
}

constexpr char archive_follows = 'a';  // instead of an exit code's digit

/// Tells what a file is that is no proof. For an archive of many proofs the judgement says so and this returns their
/// list; else the judgement says what is wrong, and this returns nothing.
std::string list_of(Judgement& judgement) {
  try {
    if (const auto proofs = list_gathered_isolated(judgement.file)) {
      const std::vector<std::uint8_t> bytes = encode_gathered(*proofs);
      return archive_follows + std::string(bytes.begin(), bytes.end());
    }
  } catch (const InputError& error) {
    judgement.reason = one_line(error.what());
  }
  return {};
}

/// What a process has to say of a piece.
std::string result_of(const Judge& judge, const Piece& piece,
                      const std::function<std::string(const Judgement&)>& shown) {
  const std::string& problem = piece.file.problem;
  Judgement judgement = !problem.empty() ? without_proof(piece, unusable, one_line(problem))
                        : piece.entry    ? cli::judge(judge, proof_in(piece.file.path, *piece.entry), {})
                                         : cli::judge(judge, proof_in(piece.file.path), {});
  if (judgement.code == unusable && problem.empty() && !piece.entry) {
    if (const std::string list = list_of(judgement); !list.empty()) {
      return list;
    }
  }
  return static_cast<char>('0' + judgement.code) + shown(judgement);
}

/// The pieces that a result stands for, if it is an archive's.
std::vector<Piece> pieces_of(const ProofFile& file, const Outcome& outcome) {
  std::vector<Piece> pieces;
  if (outcome.complete && outcome.text.front() == archive_follows) {
    const std::vector<std::uint8_t> bytes(outcome.text.begin() + 1, outcome.text.end());
    for (GatheredProof& proof : decode_gathered(bytes)) {
      pieces.push_back({file, std::move(proof)});
    }
  }
  return pieces;
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
  std::vector<Piece> pieces;
  for (ProofFile& file : find_proof_files(options.files)) {
    pieces.push_back({std::move(file), std::nullopt});
  }
  const auto shown = [&](const Judgement& judgement) {
    return options.json ? json_line(json_of(judge, judgement)) : line_of(judgement);
  };
  Tally tally;
  const auto work = [&](std::size_t i) { return result_of(judge, pieces[i], shown); };
  const auto divide = [&](std::size_t i, const Outcome& outcome) {
    std::vector<Piece> parts = pieces_of(pieces[i].file, outcome);
    pieces.insert(pieces.end(), std::make_move_iterator(parts.begin()), std::make_move_iterator(parts.end()));
    return parts.size();
  };
  const auto take = [&](std::size_t i, const Outcome& outcome) {
    const auto code = outcome.complete ? static_cast<ExitCode>(outcome.text.front() - '0') : failed;
    tally.add(code);
    show(outcome.complete ? outcome.text.substr(1) : shown(without_proof(pieces[i], failed, outcome.text)));
  };
  run_in_processes(pieces.size(), options.jobs == 0 ? cores() : options.jobs, {work, divide, take});
  return tally;
}

}  // namespace tessera::cli

#include <algorithm>
#include <iostream>
#include <sstream>

#include "archive/checkpoint_file.hpp"
#include "cli/attempt.hpp"
#include "cli/rank_measures.hpp"
#include "cluster/serialization.hpp"

namespace tessera::cli {
namespace {

/// "rank 2 on node3", "ranks 0 on node1, 1 on node2"
std::string named(const std::vector<int>& ranks, const std::vector<std::string>& hosts) {
  std::ostringstream text;
  text << (ranks.size() == 1 ? "rank" : "ranks");
  for (const int rank : ranks) {
    text << (rank == ranks.front() ? " " : ", ") << rank << " on " << hosts[static_cast<std::size_t>(rank)];
  }
  return std::move(text).str();
}

/// Proves again by several casts of ranks until one proof is good.
class Trials {
 public:
  Trials(const ProveCommand& options, Context& context, Attempt failed)
      : options_(options),
        context_(context),
        comm_(context.comm),
        hosts_(hosts_of(comm_)),
        record_(std::move(failed.record)),
        failure_(std::move(failed.failure)) {
    // what the failed attempt left may be wrong
    std::error_code ignored;
    if (!options_.scratch.empty()) {
      std::filesystem::remove(trace_path(options_.scratch, comm_), ignored);
    }
    if (comm_.rank() == 0 && !options_.checkpoint.empty()) {
      CheckpointDirectory::clear(options_.checkpoint);
    }
    options_.scratch.clear();
    options_.checkpoint.clear();
  }

  Retrial run() {
    context_.progress.note(failure_ + ": it is made again, each rank doing the next one's share");
    Retrial second = attempt((comm_.rank() + 1) % comm_.size(), 0);
    const std::optional<Parting> parting = compare_turned(record_, second.attempt.record, comm_);
    if (second.attempt.failure.empty()) {
      tell(once_wrong(parting) + "; the proof was made again, is accepted and was published");
      return second;
    }
    if (!parting) {
      give_up(second.attempt);
    }
    const std::vector<int> suspects = common_suspects(parting->shares, comm_.size());
    if (comm_.size() == 1 || suspects.size() > most_suspects) {
      throw JobError(failure_ + "; made again, it is rejected again; ranks computed differently, " +
                     (comm_.size() == 1 ? "on " + hosts_.front() : named(suspects, hosts_)) + ", first in " +
                     parting->scope);
    }
    second = {};
    for (const int suspect : suspects) {
      context_.progress.note("the proof is rejected again: it is made without rank " + std::to_string(suspect));
      Retrial without =
          attempt(comm_.rank() == suspect ? std::nullopt : std::optional(comm_.rank()), suspect == 0 ? 1 : 0);
      if (without.attempt.failure.empty()) {
        tell(named({suspect}, hosts_) + " computed wrongly, first in " + parting->scope +
             ", and again when it did another share; the proof was made again without it, is accepted and was "
             "published");
        return without;
      }
    }
    throw JobError(failure_ + "; made again, also without " + named(suspects, hosts_) +
                   ", it is rejected again; ranks computed differently first in " + parting->scope);
  }

 private:
  static constexpr std::size_t most_suspects = 2;  // what one rank that is wrong each time leaves

  /// Collective over the whole job; the outcome is known to all.
  Retrial attempt(std::optional<int> number, int writer) {
    Retrial trial{{}, comm_.renumbered(number), writer};
    if (trial.ranks) {
      trial.attempt = attempt_proof(options_, context_, *trial.ranks, comm_.rank() == writer);
    }
    broadcast_object(comm_, trial.attempt.failure, writer);
    return trial;
  }

  /// Who was wrong in the first proof, if the second is right.
  [[nodiscard]] std::string once_wrong(const std::optional<Parting>& parting) const {
    const std::string earlier = record_.whole ? "" : ", or what it took from an earlier job was wrong";
    if (comm_.size() == 1) {
      return hosts_.front() + " computed wrongly" + (parting ? ", first in " + parting->scope : "") + earlier;
    }
    // what was wrong from the beginning shows in every share that hands anything over
    const std::size_t silent = parting && !record_.whole ? parting->silent.size() : 0;
    if (!parting || parting->shares.size() + silent == static_cast<std::size_t>(comm_.size())) {
      return "a rank computed wrongly, which one is not known" + earlier;
    }
    return named(parting->shares, hosts_) + " computed wrongly, first in " + parting->scope + earlier;
  }

  void tell(const std::string& what) const {
    context_.progress.finish();
    if (comm_.rank() == 0) {
      std::cerr << "tessera: warning: " + failure_ + ": " + what + "\n" << std::flush;
    }
  }

  /// All ranks came to the same twice: no rank is at fault.
  [[noreturn]] void give_up(const Attempt& second) const {
    if (second.error) {
      std::rethrow_exception(second.error);
    }
    throw JobError(failure_ + "; made again, it is the same: the commitment is damaged or belongs to other parameters" +
                   (comm_.size() == 1 ? ", or " + hosts_.front() + " computes wrongly" : ""));
  }

  ProveCommand options_;
  Context& context_;
  MpiCommunicator& comm_;
  std::vector<std::string> hosts_;
  ContributionRecord record_;  // of the attempt that failed
  std::string failure_;
};

}  // namespace

Retrial prove_again(const ProveCommand& options, Context& context, Attempt failed) {
  if (failed.hiding) {  // a second proof would need other secrets
    if (failed.error) {
      std::rethrow_exception(failed.error);
    }
    throw JobError(failed.failure +
                   "; the commitment or a stored trace is damaged or belongs to other parameters, or " +
                   "a rank computes wrongly");
  }
  return Trials(options, context, std::move(failed)).run();
}

}  // namespace tessera::cli

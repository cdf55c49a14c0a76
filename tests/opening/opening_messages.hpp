#pragma once

#include "opening/opened_columns.hpp"
#include "opening/opening.hpp"
#include "opening/schedule.hpp"

namespace tessera::test {

struct Message {
  std::string name;
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Where the messages of an opening lie in its payload: a second reading of the message table, independent of the
/// verifier's code.
inline std::vector<Message> opening_messages(const Digest& seed, std::span<const std::uint8_t> payload,
                                             std::span<const CommittedOracle> oracles) {
  const OpeningSchedule schedule = opening_schedule(oracles);
  std::vector<Message> messages;
  VerifierTranscript transcript(seed, payload);
  const Transcript::Scope scope = transcript.scope("opening");
  const auto note = [&](const std::string& name, std::size_t bytes) {
    const std::size_t begin = messages.empty() ? 0 : messages.back().end;
    messages.push_back({name, begin, begin + bytes});
  };
  const auto rounds = [&](unsigned count, unsigned work = 0) {
    for (unsigned i = 0; i < count; ++i) {
      transcript.receive("round", 2);
      if (work > 0) {
        transcript.check_work("work", work);
      }
      transcript.challenge("bind");
      note("round", 32);
      if (work > 0) {
        note("work", 8);
      }
    }
  };
  transcript.challenge("batch claims");
  rounds(schedule.row_variables, schedule.row_work(0));
  for (std::size_t round = 0; round <= schedule.vectors.size(); ++round) {
    const bool last = round == schedule.vectors.size();
    if (last) {
      transcript.receive("clear", schedule.clear_size);
      note("clear", 16 * schedule.clear_size);
    } else {
      transcript.receive_digest("root");
      note("root", 32);
    }
    transcript.check_work("work", schedule.grinding_bits);
    note("work", 8);
    std::vector<std::vector<std::size_t>> positions;
    for (const CommittedWord& word : schedule.opened_in_round(round)) {
      positions.push_back(
          distinct_positions(transcript.positions("positions", word.positions, word.domain().points())));
    }
    for (std::size_t j = 0; j < positions.size(); ++j) {
      const CommittedWord& word = schedule.opened_in_round(round)[j];
      transcript.receive_base("columns", positions[j].size() * word.leaf_values());
      note("columns", positions[j].size() * word.leaf_values() * 8);
      std::size_t siblings = 0;
      for (const auto& level : multiproof_siblings(positions[j], word.log_domain())) {
        siblings += level.size();
      }
      transcript.receive_digests("siblings", siblings);
      note("siblings", siblings * 32);
    }
    if (!last) {
      transcript.challenge("batch columns");
      rounds(OpeningSchedule::folding, schedule.row_work(round + 1));
    }
  }
  rounds(schedule.log_clear);
  return messages;
}

}  // namespace tessera::test

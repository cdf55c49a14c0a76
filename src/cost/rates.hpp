#pragma once

#include <optional>

#include "cost/work.hpp"

namespace tessera {

/// How fast a machine's ranks are, when as many as `ranks_on_node` of them work with `threads` threads each.
struct Rates {
  int ranks_on_node = 1;
  int threads = 1;
  Amounts seconds{};              // by Work, for one unit
  double call_seconds = 0;        // a collective call of a few bytes; 0 where one rank measured
  double byte_seconds = 0;        // a byte that another rank sends
  double shown_byte_seconds = 0;  // a byte that another rank writes where this one reads it
  double process_bytes = 0;       // what a process has before any model
  friend bool operator==(const Rates&, const Rates&) = default;
};

/// Rates of one machine by ranks and threads, as a file keeps them.
struct MachineRates {
  std::string machine;  // processor and number of cores
  std::vector<Rates> list;
};

/// The rates measured with as many ranks and threads, else with as many threads altogether or the nearest number;
/// nothing if there are none. Where one rank measured, communication is that of the nearest of several ranks.
std::optional<Rates> rates_for(const MachineRates& rates, int ranks_on_node, int threads);
/// Rates of the machine that README's numbers are from: for shares of time where nothing was measured, not for times.
Rates nominal_rates();

/// What connects machines: switches that block nothing.
struct Network {
  double byte_seconds = 0;     // of a byte into a machine
  double message_seconds = 0;  // of a short message from one machine to another
};

/// Seconds of communication in a phase. A collective call takes a step for each doubling of the ranks: on a machine as
/// long as was measured there, between machines a message; bytes from other machines reach the ranks of one through its
/// one link. Without a network machines are as one.
double communication_seconds(const PhaseCost& phase, const Rates& rates, const JobShape& job,
                             const std::optional<Network>& network);
/// Seconds of a phase at these rates, communication included.
double seconds_of(const PhaseCost& phase, const Rates& rates, const JobShape& job = {},
                  const std::optional<Network>& network = {});

/// A phase that was run.
struct Sample {
  Amounts work{};
  double seconds = 0;
};
/// The rates >= 0 that give the samples' times with the least squares of relative errors; kinds that the samples do not
/// tell apart have the nominal rates' proportions.
Amounts fit_rates(const std::vector<Sample>& samples);

}  // namespace tessera

#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/progress.hpp"

namespace tessera::cli {

/// How a person or a scheduler is told.
enum class ProgressStyle : std::uint8_t {
  automatic,  ///< bar on a terminal, else plain
  none,
  plain,  ///< lines with times
  bar,    ///< one changing line
  json,   ///< one JSON object a line: phase, done, left, elapsed
};

/// A step of a job and the seconds that it should take; only shares matter.
struct ExpectedStep {
  std::string name;
  double seconds = 0;
};

/// Tells how far long work is. Silent on all ranks but one. For a job whose steps are expected, also the share that is
/// done and the time that is left: the expectation, scaled by what the steps so far have taken.
class Progress {
 public:
  /// `log`: file for the lines instead of standard error; empty: standard error.
  Progress(bool active, ProgressStyle style, const std::string& log);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// The steps that follow, in order: those of begin() and step() with these names.
  void expect(std::vector<ExpectedStep> steps);
  /// A new phase begins; the one before it ends.
  void begin(const std::string& phase);
  /// A step of the phase begins.
  void step(const std::string& name);
  /// `done` of `total` units of the phase; may be called often.
  void update(std::size_t done, std::size_t total);
  /// Calls update() of this, which must outlive it.
  [[nodiscard]] tessera::Progress updates() {
    return [this](std::size_t done, std::size_t total) { update(done, total); };
  }
  /// The last phase ends.
  void finish();
  /// A line beside the phases.
  void note(const std::string& text);

 private:
  using Clock = std::chrono::steady_clock;
  /// How far the whole job has come.
  struct Estimate {
    double done = 0;  // share
    double left = 0;  // seconds
  };

  void end_phase();
  void enter(const std::string& name);
  [[nodiscard]] Estimate estimate() const;
  void show(const std::string& line);
  void show_job();
  void write_json(bool ended);
  void clear_line() const;
  void tick();

  ProgressStyle style_ = ProgressStyle::none;
  bool to_log_ = false;
  std::string phase_, step_;
  Clock::time_point job_, start_, entered_, shown_;
  double share_of_step_ = 0;  // from update(); 0: not told
  std::vector<ExpectedStep> expected_;
  std::size_t next_ = 0;             // steps entered
  double expected_before_ = 0;       // seconds of the steps before the current one
  Clock::time_point expected_from_;  // when the first of them began
  std::mutex mutex_;
  std::condition_variable ends_;
  bool ended_ = false;
  std::thread ticker_;
};

}  // namespace tessera::cli

#pragma once

#include <chrono>
#include <string>

#include "base/progress.hpp"

namespace tessera::cli {

/// Tells a person how far long work is: one changing line on a terminal, plain lines with times in a log. Silent on all
/// ranks but one.
class Progress {
 public:
  /// `log`: file for the lines instead of standard error; empty: standard error.
  Progress(bool active, const std::string& log);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

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
  void end_phase();
  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  void show(const std::string& line) const;
  void clear_line() const;

  bool active_ = false;
  bool terminal_ = false;
  std::string phase_;
  Clock::time_point start_, shown_;
};

}  // namespace tessera::cli

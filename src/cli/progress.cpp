#include "cli/progress.hpp"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include "base/errors.hpp"
#include "cli/json_output.hpp"

namespace tessera::cli {
namespace {

constexpr std::chrono::milliseconds terminal_interval{100};
constexpr std::chrono::seconds log_interval{10};
constexpr std::size_t usual_width = 80;  // of a line, where no terminal says its own
constexpr std::size_t widest_bar = 60;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// "12 s", "3:05 min", "1:02 h".
std::string duration_text(double seconds) {
  const auto whole = static_cast<long>(std::ceil(seconds));
  char text[32];
  if (whole < 100) {
    std::snprintf(text, sizeof text, "%ld s", whole);
  } else if (whole < 6000) {
    std::snprintf(text, sizeof text, "%ld:%02ld min", whole / 60, whole % 60);
  } else {
    std::snprintf(text, sizeof text, "%ld:%02ld h", whole / 3600, whole / 60 % 60);
  }
  return text;
}

double rounded(double value) { return std::round(value * 1000) / 1000; }

/// The terminal that standard error goes to, straight or through the process that started this one (mpirun, which
/// passes on what its ranks write); empty: none.
std::string terminal_of_errors() {
  if (::isatty(STDERR_FILENO) == 1) {
    return "/proc/self/fd/2";
  }
  std::string through = "/proc/" + std::to_string(::getppid()) + "/fd/2";
  std::error_code error;
  const bool launched = std::getenv("OMPI_COMM_WORLD_RANK") != nullptr;
  const std::filesystem::path target = launched ? std::filesystem::read_symlink(through, error) : "";
  return target.string().starts_with("/dev/pts/") || target.string().starts_with("/dev/tty") ? through : std::string();
}

/// Columns of a line there.
std::size_t width_of(const std::string& terminal) {
  struct winsize size {};
  const int file = terminal.empty() ? -1 : ::open(terminal.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  const bool told = file >= 0 && ::ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  if (file >= 0) {
    ::close(file);
  }
  return told ? size.ws_col : usual_width;
}

/// A bar and what follows it, no wider than a line.
std::string bar_line(double done, const std::string& text, std::size_t width) {
  constexpr std::size_t least_bar = 4, beside = 3;  // two brackets, a space
  const std::size_t room = width - std::min(width, text.size() + beside + 1);
  if (room < least_bar) {
    return text.substr(0, width - std::min<std::size_t>(width, 1));
  }
  const std::size_t bar = std::min(room, widest_bar);
  const auto full = std::min(bar, static_cast<std::size_t>(done * static_cast<double>(bar)));
  return std::string("[").append(full, '#').append(bar - full, '.').append("] ").append(text);
}

ProgressStyle resolved(bool active, ProgressStyle style, const std::string& log) {
  if (!active) {
    return ProgressStyle::none;
  }
  const bool terminal = log.empty() && !terminal_of_errors().empty();
  return style != ProgressStyle::automatic ? style : terminal ? ProgressStyle::bar : ProgressStyle::plain;
}

}  // namespace

Progress::Progress(bool active, ProgressStyle style, const std::string& log)
    : style_(resolved(active, style, log)), to_log_(!log.empty()), job_(Clock::now()) {
  if (style_ == ProgressStyle::none) {
    return;
  }
  // the logging library would make the folders: surprising where a name is mistyped
  const std::filesystem::path folder = std::filesystem::path(log).parent_path();
  if (std::error_code error; !folder.empty() && !std::filesystem::is_directory(folder, error)) {
    throw InputError("--log " + log + ": expected a folder " + folder.string() + ", found none");
  }
  spdlog::drop("tessera");
  try {
    const std::shared_ptr<spdlog::logger> logger =
        to_log_ ? spdlog::basic_logger_st("tessera", log) : spdlog::stderr_logger_st("tessera");
    const bool bare = style_ == ProgressStyle::json || (style_ == ProgressStyle::bar && !to_log_);
    logger->set_pattern(bare ? "%v" : "%Y-%m-%d %H:%M:%S %v");
    spdlog::set_default_logger(logger);
    logger->flush_on(spdlog::level::info);
  } catch (const spdlog::spdlog_ex& error) {
    throw InputError("--log " + log + ": cannot be written: " + error.what());
  }
}

Progress::~Progress() {
  if (ticker_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    ends_.notify_all();
    ticker_.join();
  }
  clear_line();
}

void Progress::expect(std::vector<ExpectedStep> steps) {
  const std::lock_guard lock(mutex_);
  expected_ = std::move(steps);
  next_ = 0;
  expected_before_ = 0;
  const bool ticks = style_ == ProgressStyle::bar || style_ == ProgressStyle::json;
  if (ticks && !ticker_.joinable()) {
    ticker_ = std::thread([this] { tick(); });
  }
}

/// Between events time passes all the same.
void Progress::tick() {
  std::unique_lock lock(mutex_);
  const Clock::duration interval =
      style_ == ProgressStyle::bar ? Clock::duration(2 * terminal_interval) : Clock::duration(std::chrono::seconds(1));
  while (!ends_.wait_for(lock, interval, [this] { return ended_; })) {
    if (next_ > 0 && !expected_.empty() && Clock::now() - shown_ >= interval) {
      show_job();
    }
  }
}

void Progress::begin(const std::string& phase) {
  const std::lock_guard lock(mutex_);
  end_phase();
  phase_ = phase;
  step_.clear();
  start_ = Clock::now();
  enter(phase);
  show(phase_ + " ...");
}

void Progress::step(const std::string& name) {
  const std::lock_guard lock(mutex_);
  step_ = name;
  enter(name);
  show(phase_ + ": " + name + " ...");
}

/// Moves on in the expected steps if `name` is one that comes.
void Progress::enter(const std::string& name) {
  share_of_step_ = 0;
  const auto found = std::find_if(expected_.begin() + static_cast<std::ptrdiff_t>(next_), expected_.end(),
                                  [&](const ExpectedStep& step) { return step.name == name; });
  if (found == expected_.end()) {
    return;
  }
  if (next_ == 0) {
    expected_from_ = Clock::now();
  }
  expected_before_ = 0;
  for (auto step = expected_.begin(); step != found; ++step) {
    expected_before_ += step->seconds;
  }
  next_ = static_cast<std::size_t>(found - expected_.begin()) + 1;
  entered_ = Clock::now();
}

Progress::Estimate Progress::estimate() const {
  constexpr double most_of_a_step = 0.98;  // until it ends
  double total = 0;
  for (const ExpectedStep& step : expected_) {
    total += step.seconds;
  }
  if (next_ == 0 || total <= 0) {
    return {};
  }
  const double step = expected_[next_ - 1].seconds;
  const double in_step = seconds_since(entered_);
  const double before = std::chrono::duration<double>(entered_ - expected_from_).count();
  // what was expected counts as much as a twentieth of the job, so that the first steps do not decide alone
  const double inertia = 0.05 * total;
  double scale = (before + inertia) / (expected_before_ + inertia);
  double share = std::min(most_of_a_step, step <= 0 ? 1.0 : in_step / (scale * step));
  if (share_of_step_ > 0) {
    share = share_of_step_;
    scale = (before + in_step + inertia) / (expected_before_ + share * step + inertia);
  }
  const double done = (expected_before_ + share * step) / total;
  return {done, scale * total * (1 - done)};
}

void Progress::update(std::size_t done, std::size_t total) {
  const std::lock_guard lock(mutex_);
  if (style_ == ProgressStyle::none || total == 0) {
    return;
  }
  share_of_step_ = static_cast<double>(done) / static_cast<double>(total);
  const Clock::duration interval = style_ == ProgressStyle::plain ? Clock::duration(log_interval)
                                   : style_ == ProgressStyle::bar ? Clock::duration(terminal_interval)
                                                                  : Clock::duration(std::chrono::seconds(1));
  if (Clock::now() - shown_ >= interval) {
    show(phase_ + " ... " + std::to_string(100 * done / total) + " %");
  }
}

void Progress::finish() {
  const std::lock_guard lock(mutex_);
  end_phase();
  if (style_ == ProgressStyle::json) {
    write_json(true);
  }
  expected_.clear();
  next_ = 0;
}

void Progress::note(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (style_ == ProgressStyle::json) {
    spdlog::info("{}", json_line(Json{{"note", text}}));
  } else if (style_ != ProgressStyle::none) {
    clear_line();
    spdlog::info("{}", text);
  }
}

void Progress::show(const std::string& line) {
  shown_ = Clock::now();
  if (style_ == ProgressStyle::plain) {
    spdlog::info("{}", line);
  } else if (style_ == ProgressStyle::json) {
    write_json(false);
  } else if (style_ == ProgressStyle::bar && next_ == 0) {
    std::fprintf(stderr, "\r\033[K%s", line.substr(0, width_of(terminal_of_errors()) - 1).c_str());
    std::fflush(stderr);
  } else if (style_ == ProgressStyle::bar) {
    show_job();
  }
}

void Progress::show_job() {
  shown_ = Clock::now();
  if (style_ == ProgressStyle::json) {
    return write_json(false);
  }
  const Estimate now = estimate();
  char share[16];
  std::snprintf(share, sizeof share, "%3.0f %%  ", 100 * now.done);
  const std::string text = share + (step_.empty() ? phase_ : step_) + ", " + duration_text(now.left) + " left";
  std::fprintf(stderr, "\r\033[K%s", bar_line(now.done, text, width_of(terminal_of_errors())).c_str());
  std::fflush(stderr);
}

void Progress::write_json(bool ended) {
  const Estimate now = estimate();
  const bool known = next_ > 0 || ended;
  const Json line{{"phase", ended           ? "done"
                            : step_.empty() ? phase_
                                            : step_},
                  {"done", known ? Json(rounded(ended ? 1 : now.done)) : Json()},
                  {"left", known ? Json(rounded(ended ? 0 : now.left)) : Json()},
                  {"elapsed", rounded(seconds_since(job_))}};
  spdlog::info("{}", json_line(line));
}

void Progress::end_phase() {
  if (style_ != ProgressStyle::none && style_ != ProgressStyle::json && !phase_.empty()) {
    clear_line();
    spdlog::info("{}: {:.2f} s", phase_, seconds_since(start_));
  }
  phase_.clear();
}

void Progress::clear_line() const {
  if (style_ == ProgressStyle::bar) {
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
  }
}

}  // namespace tessera::cli

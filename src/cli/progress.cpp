#include "cli/progress.hpp"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include "base/errors.hpp"

namespace tessera::cli {
namespace {

constexpr std::chrono::milliseconds terminal_interval{100};
constexpr std::chrono::seconds log_interval{10};

}  // namespace

Progress::Progress(bool active, const std::string& log) : active_(active) {
  if (!active_) {
    return;
  }
  // the logging library would make the folders: surprising where a name is mistyped
  const std::filesystem::path folder = std::filesystem::path(log).parent_path();
  if (std::error_code error; !folder.empty() && !std::filesystem::is_directory(folder, error)) {
    throw InputError("--log " + log + ": expected a folder " + folder.string() + ", found none");
  }
  terminal_ = log.empty() && ::isatty(STDERR_FILENO) == 1;
  spdlog::drop("tessera");
  try {
    const std::shared_ptr<spdlog::logger> logger =
        log.empty() ? spdlog::stderr_logger_st("tessera") : spdlog::basic_logger_st("tessera", log);
    logger->set_pattern(terminal_ ? "%v" : "%Y-%m-%d %H:%M:%S %v");
    spdlog::set_default_logger(logger);
    logger->flush_on(spdlog::level::info);
  } catch (const spdlog::spdlog_ex& error) {
    throw InputError("--log " + log + ": cannot be written: " + error.what());
  }
}

Progress::~Progress() { clear_line(); }

void Progress::begin(const std::string& phase) {
  end_phase();
  phase_ = phase;
  start_ = shown_ = Clock::now();
  show(phase_ + " ...");
}

void Progress::step(const std::string& name) {
  shown_ = Clock::now();
  show(phase_ + ": " + name + " ...");
}

void Progress::update(std::size_t done, std::size_t total) {
  const Clock::time_point now = Clock::now();
  if (!active_ || total == 0 || now - shown_ < (terminal_ ? Clock::duration(terminal_interval) : log_interval)) {
    return;
  }
  shown_ = now;
  show(phase_ + " ... " + std::to_string(100 * done / total) + " %");
}

void Progress::finish() { end_phase(); }

void Progress::note(const std::string& text) {
  if (active_) {
    clear_line();
    spdlog::info("{}", text);
  }
}

void Progress::show(const std::string& line) const {
  if (!active_) {
    return;
  }
  if (terminal_) {
    std::fprintf(stderr, "\r\033[K%s", line.c_str());
    std::fflush(stderr);
  } else {
    spdlog::info("{}", line);
  }
}

void Progress::end_phase() {
  if (active_ && !phase_.empty()) {
    clear_line();
    spdlog::info("{}: {:.2f} s", phase_, seconds());
  }
  phase_.clear();
}

void Progress::clear_line() const {
  if (terminal_) {
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
  }
}

}  // namespace tessera::cli

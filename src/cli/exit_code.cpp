#include "cli/exit_code.hpp"

#include <csignal>
#include <new>
#include "base/errors.hpp"
#include "base/text.hpp"
#include "transcript/verifier.hpp"

namespace tessera::cli {
namespace {

/// The error's text, which may quote a stranger's file, on one line.
std::string text_of(const std::exception& error) { return one_line(error.what()); }

}  // namespace

Failure describe(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Rejected& e) {
    return {rejected, "REJECTED at " + e.scope() + ": " + text_of(e)};
  } catch (const InputError& e) {
    return {unusable, text_of(e)};
  } catch (const JobError& e) {
    return {failed, text_of(e)};
  } catch (const std::bad_alloc&) {
    return {failed, "out of memory"};
  } catch (const std::exception& e) {
    return {failed, text_of(e)};
  }
}

void ignore_write_signals() {
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
}

}  // namespace tessera::cli

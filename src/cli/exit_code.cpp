#include "cli/exit_code.hpp"

#include <csignal>
#include <new>
#include "base/errors.hpp"
#include "base/text.hpp"
#include "transcript/verifier.hpp"

namespace tessera::cli {
/// Texts may quote a stranger's file: on one line.
Failure describe(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Rejected& e) {
    return {rejected, "REJECTED at " + e.scope() + ": " + one_line(e.what())};
  } catch (const InputError& e) {
    return {unusable, one_line(e.what())};
  } catch (const JobError& e) {
    return {failed, one_line(e.what())};
  } catch (const std::bad_alloc&) {
    return {failed, "out of memory"};
  } catch (const std::exception& e) {
    return {failed, one_line(e.what())};
  }
}

void ignore_write_signals() {
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
}

}  // namespace tessera::cli

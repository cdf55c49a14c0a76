#pragma once

namespace tessera::cli {

/// From now on SIGINT, SIGTERM and SIGHUP (unless they are ignored) end the process only after what it has half written
/// is removed: by the same signal, so that whoever waits sees that it was interrupted. `speaks`: with one line of
/// error. Called once, from the main thread.
void end_cleanly_on_signals(bool speaks);

}  // namespace tessera::cli

#pragma once

namespace tessera {

/// Leaves this process, which must have one thread, nothing but computing, memory and writing to `output`: standard
/// input, output and error become /dev/null, every other descriptor is closed, it gains no privileges, nobody may trace
/// it; it finds no file of any name, and any system call that connects, traces, signals others, starts programs or
/// writes elsewhere ends it by SIGSYS (seccomp). For good. Builds with the address sanitizer keep their system calls,
/// which differ. Throws JobError where the kernel does not allow to confine a process.
void confine(int output);

}  // namespace tessera

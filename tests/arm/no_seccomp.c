/* For programs under QEMU's user-mode emulation alone, loaded before their libraries. It knows no seccomp: the filter
 * of a confined process is made for this architecture as for any other, and then not put in force. Nothing confines
 * what reads files there; tests/arm/confined_calls.py checks in the emulator's trace that the filter would let it
 * through. */
#include <seccomp.h>

__attribute__((constructor)) static void say_what_kernels_know(void) {
  seccomp_api_set(4); /* ending a whole process */
}

/* A filter that cannot be made is an error as ever, before this. */
int seccomp_load(const scmp_filter_ctx filter) { return seccomp_arch_exist(filter, SCMP_ARCH_AARCH64); }

/* The emulator's own descriptors, of its trace, are among those that a confined process closes. */
int close_range(unsigned first, unsigned last, int flags) {
  (void)first, (void)last, (void)flags;
  return 0;
}

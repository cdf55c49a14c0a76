#pragma once

#include <cstddef>

namespace tessera {

/// Tells the heap to keep what is freed, messages between ranks above all: page faults take time.
void keep_freed_heap();
/// keep_freed_heap(), and takes a heap of so many bytes of addresses at once, on huge pages where the system has them:
/// a program that runs for milliseconds would spend a quarter of them on page faults. Pages take room when they are
/// written first. Does nothing where the heap is not glibc's, or has no room.
void reserve_heap(std::size_t bytes);

}  // namespace tessera

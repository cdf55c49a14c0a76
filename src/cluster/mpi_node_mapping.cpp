#include "cluster/mpi_node_mapping.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>

namespace tessera {
namespace {

constexpr std::size_t page = std::size_t{1} << 21;

/// Where the first rank of a node has its file, and what it begins with: a process of another container may have the
/// same number.
struct Offer {
  std::int64_t process = 0, descriptor = -1;
  std::array<std::uint64_t, 2> token{};
};

/// At the end of a mapping: the ranks that have it.
std::atomic_ref<std::uint64_t> holders_of(std::byte* data, std::size_t size) {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(data + size - sizeof(std::uint64_t)));
}

}  // namespace

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

bool all_agree(bool mine, MPI_Comm comm) {
  int all = mine ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm);
  return all != 0;
}

std::shared_ptr<NodeFile> NodeFile::open(MPI_Comm node) {
  const bool first = rank_in(node) == 0;
  Offer offer;
  int descriptor = -1;
  bool ok = true;
  if (first) {
    std::random_device random;
    offer = {getpid(), -1, {(std::uint64_t{random()} << 32) | random(), (std::uint64_t{random()} << 32) | random()}};
    descriptor = memfd_create("tessera", MFD_CLOEXEC);
    offer.descriptor = descriptor;
    ok = descriptor >= 0 && pwrite(descriptor, &offer, sizeof(Offer), 0) == ssize_t{sizeof(Offer)};
  }
  MPI_Bcast(&offer, sizeof(Offer), MPI_BYTE, 0, node);
  if (!first) {
    const std::string path = "/proc/" + std::to_string(offer.process) + "/fd/" + std::to_string(offer.descriptor);
    descriptor = offer.descriptor < 0 ? -1 : ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    Offer found;
    ok = descriptor >= 0 && pread(descriptor, &found, sizeof(Offer), 0) == ssize_t{sizeof(Offer)} &&
         std::memcmp(&found, &offer, sizeof(Offer)) == 0;
  }
  auto file = std::make_shared<NodeFile>(descriptor);
  (void)file->extend(sizeof(Offer));
  return all_agree(ok, node) ? file : nullptr;
}

NodeFile::~NodeFile() {
  if (descriptor_ >= 0) {
    close(descriptor_);
  }
}

std::size_t NodeFile::extend(std::size_t bytes) {
  const std::size_t place = end_;
  end_ += (bytes + page - 1) / page * page;
  return place;
}

NodeMapping::~NodeMapping() {
  if (data_ == nullptr) {
    return;
  }
  const bool last = holders_of(data_, bytes_).fetch_sub(1, std::memory_order_acq_rel) == 1;
  munmap(data_, bytes_);
  if (last) {
    fallocate(file_->descriptor(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset_),
              static_cast<off_t>(bytes_));
  }
}

bool NodeMapping::map(std::size_t offset, std::size_t size) {
  void* const mapped =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_->descriptor(), static_cast<off_t>(offset));
  if (mapped == MAP_FAILED) {
    return false;
  }
  data_ = static_cast<std::byte*>(mapped);
  offset_ = offset;
  bytes_ = size;
  return true;
}

bool NodeMapping::holds(std::size_t bytes) const { return bytes_ >= bytes + sizeof(std::uint64_t); }

std::shared_ptr<NodeMapping> NodeMapping::make(std::size_t bytes, MPI_Comm node,
                                               const std::shared_ptr<NodeFile>& file) {
  if (file == nullptr) {
    return nullptr;
  }
  const std::size_t size = (bytes + sizeof(std::uint64_t) + page - 1) / page * page;
  const std::size_t offset = file->extend(size);
  // all of them know how many they are before one can let go
  const bool grown = rank_in(node) != 0 || ftruncate(file->descriptor(), static_cast<off_t>(offset + size)) == 0;
  auto mapping = std::make_shared<NodeMapping>(file);
  const bool mapped = all_agree(grown, node) && mapping->map(offset, size);
  if (mapped) {
    holders_of(mapping->data_, size).fetch_add(1, std::memory_order_acq_rel);
  }
  return all_agree(mapped, node) ? mapping : nullptr;
}

}  // namespace tessera

#include "cluster/mpi_node_mapping.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>

namespace tessera {
namespace {

constexpr std::size_t page = std::size_t{1} << 21;

/// Where the first rank of a node has its file, and what stands at its end: a process of another container may have the
/// same number.
struct Offer {
  std::int64_t process = 0, descriptor = -1;
  std::array<std::uint64_t, 2> token{};
};

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

NodeMapping::~NodeMapping() {
  if (data_ != nullptr) {
    munmap(data_, bytes_);
  }
}

bool NodeMapping::map(int descriptor, std::size_t size) {
  void* const mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (mapped == MAP_FAILED) {
    return false;
  }
  data_ = static_cast<std::byte*>(mapped);
  bytes_ = size;
  return true;
}

bool NodeMapping::holds(std::size_t bytes) const { return bytes_ >= bytes + sizeof(Offer); }

std::shared_ptr<NodeMapping> NodeMapping::make(std::size_t bytes, MPI_Comm node) {
  auto mapping = std::make_shared<NodeMapping>();
  const std::size_t size = (bytes + sizeof(Offer) + page - 1) / page * page;
  const bool first = rank_in(node) == 0;
  int descriptor = -1;
  bool ok = true;
  Offer offer;
  if (first) {
    std::random_device random;
    offer = {getpid(), -1, {(std::uint64_t{random()} << 32) | random(), (std::uint64_t{random()} << 32) | random()}};
    descriptor = memfd_create("tessera", MFD_CLOEXEC);
    ok = descriptor >= 0 && ftruncate(descriptor, static_cast<off_t>(size)) == 0 && mapping->map(descriptor, size);
    if (ok) {
      offer.descriptor = descriptor;
      std::memcpy(mapping->data_ + size - sizeof(Offer), &offer, sizeof(Offer));
    }
  }
  MPI_Bcast(&offer, sizeof(Offer), MPI_BYTE, 0, node);
  if (!first) {
    const std::string path = "/proc/" + std::to_string(offer.process) + "/fd/" + std::to_string(offer.descriptor);
    descriptor = offer.descriptor < 0 ? -1 : open(path.c_str(), O_RDWR | O_CLOEXEC);
    ok = descriptor >= 0 && lseek(descriptor, 0, SEEK_END) == static_cast<off_t>(size) &&
         mapping->map(descriptor, size) &&
         std::memcmp(mapping->data_ + size - sizeof(Offer), &offer, sizeof(Offer)) == 0;
  }
  ok = all_agree(ok, node);
  if (descriptor >= 0) {
    close(descriptor);
  }
  return ok ? mapping : nullptr;
}

}  // namespace tessera

#include "cluster/mpi_node_board.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "cluster/mpi_node_mapping.hpp"

namespace tessera {
namespace {

// A place has the number of the call that wrote it, then the bytes: short ones are on the same cache line. Each is
// there twice, for calls of even and odd number: who writes the next but one has seen all others' next ones, and nobody
// begins the next one before it has read this one.
constexpr std::size_t most_bytes = std::size_t{1} << 13;     // of a rank
constexpr std::size_t most_summed = std::size_t{1} << 11;    // every rank reads all of a node's
constexpr std::size_t most_gathered = std::size_t{1} << 16;  // of all
constexpr std::size_t number_bytes = sizeof(std::uint64_t);
constexpr std::size_t line = 64;
constexpr std::size_t place_bytes = most_bytes + line;
constexpr std::size_t result_bytes = most_gathered + line;

/// Before the core goes to others, where there is one for every rank: about as long as the system takes for that.
constexpr unsigned spins_before_yield = 300;

std::atomic_ref<std::uint64_t> number_at(const std::byte* place) {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(const_cast<std::byte*>(place)));
}

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

int maximum(int mine, MPI_Comm comm) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT, MPI_MAX, comm);
  return mine;
}

}  // namespace

std::unique_ptr<NodeBoard> NodeBoard::make(MPI_Comm comm, MPI_Comm node, const std::shared_ptr<NodeFile>& file) {
  if (node == MPI_COMM_NULL || maximum(size_of(node), comm) == 1) {
    return nullptr;
  }
  const auto ranks = static_cast<std::size_t>(size_of(node));
  std::shared_ptr<NodeMapping> mapping = NodeMapping::make(2 * (ranks * place_bytes + result_bytes), node, file);
  if (!all_agree(mapping != nullptr, comm)) {
    return nullptr;
  }
  return std::unique_ptr<NodeBoard>(new NodeBoard(comm, node, std::move(mapping)));
}

NodeBoard::NodeBoard(MPI_Comm comm, MPI_Comm node, std::shared_ptr<NodeMapping> mapping)
    : node_(node), mapping_(std::move(mapping)), rank_(rank_in(comm)), here_(static_cast<std::size_t>(rank_in(node))) {
  ranks_.resize(static_cast<std::size_t>(size_of(node)));
  MPI_Allgather(&rank_, 1, MPI_INT, ranks_.data(), 1, MPI_INT, node);
  MPI_Comm_split(comm, here_ == 0 ? 0 : MPI_UNDEFINED, rank_, &firsts_);
  int first = ranks_.front();
  std::vector<int> firsts(static_cast<std::size_t>(size_of(comm)));
  MPI_Allgather(&first, 1, MPI_INT, firsts.data(), 1, MPI_INT, comm);
  std::vector<std::size_t> node_of_first(firsts.size());
  for (std::size_t rank = 0; rank < firsts.size(); ++rank) {
    const auto first_there = static_cast<std::size_t>(firsts[rank]);
    if (first_there == rank) {
      node_of_first[rank] = all_.size();
      all_.emplace_back();
    }
    all_[node_of_first[first_there]].push_back(rank);
  }
  spins_ = ranks_.size() <= std::thread::hardware_concurrency() ? spins_before_yield : 0;
}

NodeBoard::~NodeBoard() {
  if (firsts_ != MPI_COMM_NULL) {
    MPI_Comm_free(&firsts_);
  }
}

bool NodeBoard::holds(std::span<const std::size_t> begins) {
  for (std::size_t rank = 0; rank + 1 < begins.size(); ++rank) {
    if (begins[rank + 1] - begins[rank] > most_bytes) {
      return false;
    }
  }
  return begins.back() <= most_gathered;
}

bool NodeBoard::holds_sum(std::size_t bytes) { return bytes <= most_summed; }

std::byte* NodeBoard::place(std::size_t rank) const {
  const std::size_t of_a_call = ranks_.size() * place_bytes + result_bytes;
  return mapping_->data() + (call_ % 2) * of_a_call + rank * place_bytes;
}

void NodeBoard::write(std::byte* to, std::span<const std::byte> bytes) const {
  std::ranges::copy(bytes, to + number_bytes);
  number_at(to).store(call_, std::memory_order_release);
}

const std::byte* NodeBoard::await(const std::byte* from) const {
  for (unsigned spins = 0; number_at(from).load(std::memory_order_acquire) != call_; ++spins) {
    if (spins < spins_) {
      pause();
      continue;
    }
    // messages that this rank has sent may need it to go on
    int any = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, node_, &any, MPI_STATUS_IGNORE);
    sched_yield();
  }
  return from + number_bytes;
}

void NodeBoard::gather(std::span<const std::byte> mine, std::span<const std::size_t> begins, std::span<std::byte> all) {
  const auto part = [&](std::size_t rank) { return all.subspan(begins[rank], begins[rank + 1] - begins[rank]); };
  ++call_;
  write(place(here_), mine);
  if (here_ != 0 && all_.size() > 1) {
    std::copy_n(await(result()), all.size(), all.begin());
    return;
  }
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const std::span<std::byte> to = part(static_cast<std::size_t>(ranks_[i]));
    std::copy_n(await(place(i)), to.size(), to.begin());
  }
  if (all_.size() > 1) {
    gather_across(part);
    write(result(), all);
  }
}

void NodeBoard::gather_across(const std::function<std::span<std::byte>(std::size_t rank)>& part) const {
  std::vector<int> counts, begins;
  int total = 0;
  for (const std::vector<std::size_t>& ranks : all_) {
    begins.push_back(total);
    for (const std::size_t rank : ranks) {
      total += static_cast<int>(part(rank).size());
    }
    counts.push_back(total - begins.back());
  }
  // by node, then by rank
  std::vector<std::byte> bytes(static_cast<std::size_t>(total));
  auto place = bytes.begin() + begins[static_cast<std::size_t>(rank_in(firsts_))];
  for (const int rank : ranks_) {
    place = std::ranges::copy(part(static_cast<std::size_t>(rank)), place).out;
  }
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, bytes.data(), counts.data(), begins.data(), MPI_BYTE, firsts_);
  place = bytes.begin();
  for (const std::vector<std::size_t>& ranks : all_) {
    for (const std::size_t rank : ranks) {
      const std::span<std::byte> to = part(rank);
      std::copy_n(place, to.size(), to.begin());
      place += static_cast<std::ptrdiff_t>(to.size());
    }
  }
}

void NodeBoard::reduce(std::span<std::byte> values, std::size_t count, Combine combine, MPI_Datatype type,
                       MPI_Op operation) {
  ++call_;
  write(place(here_), values);
  if (here_ != 0 && all_.size() > 1) {
    std::copy_n(await(result()), values.size(), values.begin());
    return;
  }
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (i != here_) {
      combine(values.data(), await(place(i)), count);
    }
  }
  if (all_.size() > 1) {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(count), type, operation, firsts_);
    write(result(), values);
  }
}

}  // namespace tessera

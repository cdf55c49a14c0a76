#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>
#include "cluster/least_shared.hpp"
#include "cluster/mpi_communicator.hpp"
#include "cluster/mpi_node_memory.hpp"

namespace tessera {
namespace {

/// MPI counts are ints, and some transports dislike messages near 2^31 bytes.
constexpr std::size_t default_piece_bytes = std::size_t{1} << 28;

void add_extension(void* in, void* in_out, int* length, MPI_Datatype* /*type*/) {
  auto* const from = static_cast<const std::byte*>(in);
  auto* const into = static_cast<std::byte*>(in_out);
  for (std::size_t i = 0; i < static_cast<std::size_t>(*length); ++i) {  // not aligned as elements
    E sum, value;
    std::memcpy(static_cast<void*>(&sum), into + i * sizeof(E), sizeof(E));
    std::memcpy(static_cast<void*>(&value), from + i * sizeof(E), sizeof(E));
    sum += value;
    std::memcpy(into + i * sizeof(E), &sum, sizeof(E));
  }
}

/// Calls piece(offset, count) for stretches of at most `limit` of `total`.
template <class Body>
void for_each_piece(std::size_t total, std::size_t limit, Body&& piece) {
  for (std::size_t offset = 0; offset < total; offset += limit) {
    piece(offset, static_cast<int>(std::min(limit, total - offset)));
  }
}

/// What Open MPI need not do for a process that no launcher has started: begin a daemon, look for networks. That is 0.3
/// s of every command. Who sets these variables otherwise is heard.
void expect_to_be_alone() {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable(*entry);
    if (variable.starts_with("OMPI_COMM_WORLD_") || variable.starts_with("PMIX_") || variable.starts_with("PMI_")) {
      return;
    }
  }
  setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  setenv("OMPI_MCA_pml", "ob1", 0);
}

}  // namespace

struct MpiCommunicator::State {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm meeting = MPI_COMM_NULL;    // the same ranks, for all_meet() alone
  MPI_Request met = MPI_REQUEST_NULL;  // of a meeting that has begun
  MPI_Datatype extension = MPI_DATATYPE_NULL;
  MPI_Op extension_sum = MPI_OP_NULL;
  int rank = 0;
  int size = 1;
  std::size_t piece_bytes = default_piece_bytes;
  std::unique_ptr<NodeMemory> node_memory;

  void find_nodes(std::optional<int> ranks_on_node = std::nullopt) {
    node_memory = std::make_unique<NodeMemory>(comm, ranks_on_node);
  }

  template <class T>
  void all_reduce(std::span<T> values, MPI_Datatype type, MPI_Op op) const {
    for_each_piece(values.size(), std::max<std::size_t>(1, piece_bytes / sizeof(T)),
                   [&](std::size_t offset, int count) {
                     MPI_Allreduce(MPI_IN_PLACE, values.data() + offset, count, type, op, comm);
                   });
  }
  /// Where the parts of a gathering begin, by rank, and its end.
  [[nodiscard]] std::vector<std::size_t> gather_begins(std::size_t mine) const {
    const std::uint64_t length = mine;
    std::vector<std::uint64_t> lengths(static_cast<std::size_t>(size));
    MPI_Allgather(&length, 1, MPI_UINT64_T, lengths.data(), 1, MPI_UINT64_T, comm);
    return begins_of<std::uint64_t>(lengths);
  }
  template <class T>
  [[nodiscard]] static std::vector<std::size_t> begins_of(std::span<const T> lengths) {
    std::vector<std::size_t> begins{0};
    for (const T part : lengths) {
      begins.push_back(begins.back() + part);
    }
    return begins;
  }
  [[nodiscard]] MessageBytes gather(std::span<const std::byte> mine, std::span<const std::size_t> begins) const {
    MessageBytes all(begins.back());
    if (all.size() <= piece_bytes) {
      std::vector<int> counts;
      for (std::size_t from = 0; from + 1 < begins.size(); ++from) {
        counts.push_back(static_cast<int>(begins[from + 1] - begins[from]));
      }
      const std::vector<int> displacements(begins.begin(), begins.end() - 1);
      MPI_Allgatherv(mine.data(), static_cast<int>(mine.size()), MPI_BYTE, all.data(), counts.data(),
                     displacements.data(), MPI_BYTE, comm);
      return all;
    }
    std::ranges::copy(mine, all.begin() + static_cast<std::ptrdiff_t>(begins[static_cast<std::size_t>(rank)]));
    for (std::size_t from = 0; from + 1 < begins.size(); ++from) {
      broadcast(std::span(all).subspan(begins[from], begins[from + 1] - begins[from]), static_cast<int>(from));
    }
    return all;
  }
  void broadcast(std::span<std::byte> bytes, int root) const {
    for_each_piece(bytes.size(), piece_bytes, [&](std::size_t offset, int count) {
      MPI_Bcast(bytes.data() + offset, count, MPI_BYTE, root, comm);
    });
  }
};

MpiCommunicator::MpiCommunicator()
    : MpiCommunicator([] {
        auto state = std::make_unique<State>();
        // an own context: libraries that use MPI_COMM_WORLD cannot meet our messages
        MPI_Comm_dup(MPI_COMM_WORLD, &state->comm);
        return state;
      }()) {}

std::unique_ptr<MpiCommunicator> MpiCommunicator::renumbered(std::optional<int> number) const {
  auto state = std::make_unique<State>();
  MPI_Comm_split(state_->comm, number ? 0 : MPI_UNDEFINED, number.value_or(0), &state->comm);
  if (!number) {
    return nullptr;
  }
  state->piece_bytes = state_->piece_bytes;
  return std::unique_ptr<MpiCommunicator>(new MpiCommunicator(std::move(state)));
}

MpiCommunicator::MpiCommunicator(std::unique_ptr<State> state) : state_(std::move(state)) {
  MPI_Comm_dup(state_->comm, &state_->meeting);
  MPI_Comm_rank(state_->comm, &state_->rank);
  MPI_Comm_size(state_->comm, &state_->size);
  MPI_Type_contiguous(2, MPI_UINT64_T, &state_->extension);
  MPI_Type_commit(&state_->extension);
  MPI_Op_create(add_extension, 1, &state_->extension_sum);
  state_->find_nodes();
}

MpiCommunicator::~MpiCommunicator() {
  state_->node_memory.reset();
  MPI_Op_free(&state_->extension_sum);
  MPI_Type_free(&state_->extension);
  MPI_Comm_free(&state_->meeting);
  MPI_Comm_free(&state_->comm);
}

int MpiCommunicator::rank() const { return state_->rank; }
int MpiCommunicator::size() const { return state_->size; }
void MpiCommunicator::barrier() { MPI_Barrier(state_->comm); }
void MpiCommunicator::set_piece_bytes(std::size_t bytes) { state_->piece_bytes = bytes; }

void MpiCommunicator::all_reduce_sum(std::span<E> values) {
  state_->all_reduce(values, state_->extension, state_->extension_sum);
}

void MpiCommunicator::all_reduce_sum(std::span<std::int64_t> values) {
  // unsigned: wraps by definition
  state_->all_reduce(values, MPI_UINT64_T, MPI_SUM);
}

void MpiCommunicator::all_reduce_max(std::span<std::int64_t> values) {
  state_->all_reduce(values, MPI_INT64_T, MPI_MAX);
}

MessageBytes MpiCommunicator::all_gather_bytes(std::span<const std::byte> mine) {
  return state_->gather(mine, state_->gather_begins(mine.size()));
}

MessageBytes MpiCommunicator::all_gather_known(std::span<const std::byte> mine, std::span<const std::size_t> lengths) {
  assert(lengths.size() == static_cast<std::size_t>(state_->size) &&
         lengths[static_cast<std::size_t>(state_->rank)] == mine.size());
  return state_->gather(mine, State::begins_of(lengths));
}

SharedBytes MpiCommunicator::gather_shared(std::span<const std::byte> mine) {
  const std::vector<std::size_t> begins = state_->gather_begins(mine.size());
  NodeMemory& memory = *state_->node_memory;
  if (memory.useful() && begins.back() >= least_shared_bytes) {
    if (std::optional<SharedBytes> all = memory.gather(mine, begins, state_->piece_bytes)) {
      return *std::move(all);
    }
  }
  return SharedBytes::of(state_->gather(mine, begins), mine.size());
}

void MpiCommunicator::set_ranks_on_node(int ranks) { state_->find_nodes(ranks); }

std::vector<MessageBytes> MpiCommunicator::all_to_all_bytes(std::vector<MessageBytes> send) {
  constexpr int tag = 1;
  const auto ranks = static_cast<std::size_t>(state_->size);
  std::vector<std::uint64_t> send_lengths, lengths(ranks);
  for (const MessageBytes& bytes : send) {
    send_lengths.push_back(bytes.size());
  }
  send_lengths.resize(ranks);
  MPI_Alltoall(send_lengths.data(), 1, MPI_UINT64_T, lengths.data(), 1, MPI_UINT64_T, state_->comm);
  std::vector<MessageBytes> received(ranks);
  std::vector<MPI_Request> requests;
  const auto me = static_cast<std::size_t>(state_->rank);
  for (std::size_t step = 1; step < ranks; ++step) {
    const std::size_t from = (me + ranks - step) % ranks;
    received[from].resize(lengths[from]);
    for_each_piece(lengths[from], state_->piece_bytes, [&](std::size_t offset, int count) {
      MPI_Irecv(received[from].data() + offset, count, MPI_BYTE, static_cast<int>(from), tag, state_->comm,
                &requests.emplace_back());
    });
  }
  for (std::size_t step = 1; step < ranks; ++step) {  // every rank starts with another receiver
    const std::size_t to = (me + step) % ranks;
    for_each_piece(send_lengths[to], state_->piece_bytes, [&](std::size_t offset, int count) {
      MPI_Isend(send[to].data() + offset, count, MPI_BYTE, static_cast<int>(to), tag, state_->comm,
                &requests.emplace_back());
    });
  }
  if (me < send.size()) {
    received[me] = std::move(send[me]);
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  return received;
}

void MpiCommunicator::broadcast_bytes(MessageBytes& bytes, int root) {
  std::uint64_t length = bytes.size();
  MPI_Bcast(&length, 1, MPI_UINT64_T, root, state_->comm);
  bytes.resize(length);
  state_->broadcast(bytes, root);
}

bool MpiCommunicator::all_meet(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  if (state_->met == MPI_REQUEST_NULL) {
    MPI_Ibarrier(state_->meeting, &state_->met);
  }
  for (int met = 0; std::chrono::steady_clock::now() < end;) {
    MPI_Test(&state_->met, &met, MPI_STATUS_IGNORE);
    if (met != 0) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

MpiSession::MpiSession(int& argc, char**& argv) {
  expect_to_be_alone();
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  if (provided < MPI_THREAD_FUNNELED) {
    std::fputs("this MPI does not allow threads beside the communicating one\n", stderr);
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  world_ = std::make_unique<MpiCommunicator>();
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &ranks_on_node_);
  MPI_Comm_free(&node);
}

MpiSession::~MpiSession() {
  world_.reset();
  MPI_Finalize();
}

void MpiSession::abort(int exit_code) {
  std::fflush(nullptr);
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);  // MPI_Abort does not return, but does not say so
}

}  // namespace tessera

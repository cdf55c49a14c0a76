#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include "cluster/communicator.hpp"

namespace tessera {

/// All ranks of the MPI job, or some of them. Messages of any size; a failing MPI call ends the job.
class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator();
  ~MpiCommunicator() override;
  [[nodiscard]] int rank() const override;
  [[nodiscard]] int size() const override;
  void barrier() override;
  void all_reduce_sum(std::span<E> values) override;
  void all_reduce_sum(std::span<std::int64_t> values) override;
  void all_reduce_max(std::span<std::int64_t> values) override;
  MessageBytes all_gather_bytes(std::span<const std::byte> mine) override;
  MessageBytes all_gather_known(std::span<const std::byte> mine, std::span<const std::size_t> lengths) override;
  SharedBytes gather_shared(std::span<const std::byte> mine) override;
  std::vector<MessageBytes> all_to_all_bytes(std::vector<MessageBytes> send) override;
  void broadcast_bytes(MessageBytes& bytes, int root) override;

  /// Largest number of bytes in one MPI call; lowered by tests.
  void set_piece_bytes(std::size_t bytes);
  /// Tests: so many consecutive ranks share memory, whatever machine they are on. Collective.
  void set_ranks_on_node(int ranks);
  /// A communicator of these ranks under other numbers, without those that have none: `number` is this rank's, nothing
  /// for none. Null on ranks without number. Collective.
  [[nodiscard]] std::unique_ptr<MpiCommunicator> renumbered(std::optional<int> number) const;
  /// Whether all ranks call this within the time, whatever else some of them wait for. After false the
  /// job must end, or this be called again until it is true.
  [[nodiscard]] bool all_meet(std::chrono::milliseconds time);

 private:
  struct State;
  explicit MpiCommunicator(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// MPI from the program's start to its end; only main has one. Works with and without mpirun.
class MpiSession {
 public:
  /// Requests MPI_THREAD_FUNNELED: only the main thread communicates.
  MpiSession(int& argc, char**& argv);
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
  [[nodiscard]] MpiCommunicator& world() { return *world_; }
  /// Ranks that share this machine's memory.
  [[nodiscard]] int ranks_on_node() const { return ranks_on_node_; }
  /// Ends all ranks at once with this exit code, whatever they wait for.
  [[noreturn]] void abort(int exit_code);

 private:
  std::unique_ptr<MpiCommunicator> world_;
  int ranks_on_node_ = 1;
};

}  // namespace tessera

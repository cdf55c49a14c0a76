#pragma once

#include <string_view>

#include "cluster/communicator.hpp"
#include "cluster/contribution_record.hpp"
#include "cluster/counting_communicator.hpp"

namespace tessera {

/// Hands all calls to the communicator that it is given and records this rank's contributions. Calls count where a
/// scope below the outermost one is open: between phases, jobs that keep checkpoints make other calls than those that
/// do not.
class RecordingCommunicator final : public Communicator {
 public:
  explicit RecordingCommunicator(CountingCommunicator& comm) : comm_(comm) {}
  /// The communicator below, for calls that do not belong to the work and are not recorded.
  [[nodiscard]] CountingCommunicator& unrecorded() { return comm_; }
  /// What this rank has come to, as if it were handed over.
  void record(std::string_view scope, std::span<const std::byte> result);
  /// A part of the work is taken from an earlier job.
  void skip_work() { record_.whole = false; }
  [[nodiscard]] ContributionRecord take_record() { return std::move(record_); }

  [[nodiscard]] int rank() const override { return comm_.rank(); }
  [[nodiscard]] int size() const override { return comm_.size(); }
  void barrier() override { comm_.barrier(); }
  void all_reduce_sum(std::span<E> values) override;
  void all_reduce_sum(std::span<std::int64_t> values) override;
  void all_reduce_max(std::span<std::int64_t> values) override;
  MessageBytes all_gather_bytes(std::span<const std::byte> mine) override;
  MessageBytes all_gather_known(std::span<const std::byte> mine, std::span<const std::size_t> lengths) override;
  SharedBytes gather_shared(std::span<const std::byte> mine) override;
  std::vector<MessageBytes> all_to_all_bytes(std::vector<MessageBytes> send) override;
  void broadcast_bytes(MessageBytes& bytes, int root) override;

 private:
  void record_call(std::span<const std::byte> mine);
  CountingCommunicator& comm_;
  ContributionRecord record_;
};

}  // namespace tessera

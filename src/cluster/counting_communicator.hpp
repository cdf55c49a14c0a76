#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/communicator.hpp"

namespace tessera {

/// What one rank communicated: what it handed over and got, each byte once however many ranks share it. A reduction of
/// n bytes is n sent and n received; of a gathering, the own part is sent and the others' are received; a rank that is
/// alone sends and receives nothing.
struct Traffic {
  std::uint64_t calls = 0;  // the same on every rank: all calls are collective
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  friend bool operator==(const Traffic&, const Traffic&) = default;
};

/// What all ranks communicated in one scope.
struct ScopeTraffic {
  std::string scope;
  std::uint64_t calls = 0;
  std::vector<std::uint64_t> sent, received;  // bytes by rank
  friend bool operator==(const ScopeTraffic&, const ScopeTraffic&) = default;
};

/// Hands all calls to the communicator that it is given and counts by scope what goes through. Scopes nest; what an
/// inner one communicates is part of the outer ones'.
class CountingCommunicator final : public Communicator {
 public:
  explicit CountingCommunicator(Communicator& comm) : comm_(comm) {}
  void begin(std::string_view scope);
  /// The innermost scope ends.
  void end();
  /// The innermost scope; empty where only the outermost one is open, or none.
  [[nodiscard]] std::string_view inner_scope() const {
    return open_.size() < 2 ? std::string_view() : std::string_view(open_.back().scope);
  }
  /// Scopes that have ended, by name; not counted itself. Collective: all ranks must have had the same scopes.
  std::vector<ScopeTraffic> gather();

  [[nodiscard]] int rank() const override { return comm_.rank(); }
  [[nodiscard]] int size() const override { return comm_.size(); }
  void barrier() override;
  void all_reduce_sum(std::span<E> values) override;
  void all_reduce_sum(std::span<std::int64_t> values) override;
  void all_reduce_max(std::span<std::int64_t> values) override;
  MessageBytes all_gather_bytes(std::span<const std::byte> mine) override;
  MessageBytes all_gather_known(std::span<const std::byte> mine, std::span<const std::size_t> lengths) override;
  SharedBytes gather_shared(std::span<const std::byte> mine) override;
  std::vector<MessageBytes> all_to_all_bytes(std::vector<MessageBytes> send) override;
  void broadcast_bytes(MessageBytes& bytes, int root) override;

 private:
  struct Open {
    std::string scope;
    Traffic before;
  };
  void count(std::size_t sent, std::size_t received);

  Communicator& comm_;
  Traffic total_;
  std::vector<Open> open_;
  std::map<std::string, Traffic> scopes_;
};

}  // namespace tessera

#include "cluster/counting_communicator.hpp"

namespace tessera {
namespace {

std::size_t bytes_in(const std::vector<MessageBytes>& messages, int without) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    bytes += i == static_cast<std::size_t>(without) ? 0 : messages[i].size();
  }
  return bytes;
}

}  // namespace

void CountingCommunicator::begin(std::string_view scope) { open_.push_back({std::string(scope), total_}); }

void CountingCommunicator::end() {
  const Open& ended = open_.back();
  Traffic& sum = scopes_[ended.scope];
  sum.calls += total_.calls - ended.before.calls;
  sum.sent += total_.sent - ended.before.sent;
  sum.received += total_.received - ended.before.received;
  open_.pop_back();
}

std::vector<ScopeTraffic> CountingCommunicator::gather() {
  std::vector<std::uint64_t> mine;
  for (const auto& [scope, traffic] : scopes_) {
    mine.insert(mine.end(), {traffic.sent, traffic.received});
  }
  const std::vector<std::uint64_t> all = comm_.all_gather<std::uint64_t>(mine);
  std::vector<ScopeTraffic> result;
  for (const auto& [scope, traffic] : scopes_) {
    ScopeTraffic& entry = result.emplace_back(ScopeTraffic{scope, traffic.calls, {}, {}});
    for (std::size_t place = 2 * (result.size() - 1); place < all.size(); place += mine.size()) {
      entry.sent.push_back(all[place]);
      entry.received.push_back(all[place + 1]);
    }
  }
  return result;
}

void CountingCommunicator::count(std::size_t sent, std::size_t received) {
  ++total_.calls;
  if (size() > 1) {
    total_.sent += sent;
    total_.received += received;
  }
}

void CountingCommunicator::barrier() {
  count(0, 0);
  comm_.barrier();
}

void CountingCommunicator::all_reduce_sum(std::span<E> values) {
  count(values.size_bytes(), values.size_bytes());
  comm_.all_reduce_sum(values);
}

void CountingCommunicator::all_reduce_sum(std::span<std::int64_t> values) {
  count(values.size_bytes(), values.size_bytes());
  comm_.all_reduce_sum(values);
}

void CountingCommunicator::all_reduce_max(std::span<std::int64_t> values) {
  count(values.size_bytes(), values.size_bytes());
  comm_.all_reduce_max(values);
}

MessageBytes CountingCommunicator::all_gather_bytes(std::span<const std::byte> mine) {
  MessageBytes all = comm_.all_gather_bytes(mine);
  count(mine.size(), all.size() - mine.size());
  return all;
}

MessageBytes CountingCommunicator::all_gather_known(std::span<const std::byte> mine,
                                                    std::span<const std::size_t> lengths) {
  MessageBytes all = comm_.all_gather_known(mine, lengths);
  count(mine.size(), all.size() - mine.size());
  return all;
}

SharedBytes CountingCommunicator::gather_shared(std::span<const std::byte> mine) {
  SharedBytes all = comm_.gather_shared(mine);
  count(mine.size(), all.received());
  return all;
}

std::vector<MessageBytes> CountingCommunicator::all_to_all_bytes(std::vector<MessageBytes> send) {
  const std::size_t sent = bytes_in(send, rank());
  std::vector<MessageBytes> received = comm_.all_to_all_bytes(std::move(send));
  count(sent, bytes_in(received, rank()));
  return received;
}

void CountingCommunicator::broadcast_bytes(MessageBytes& bytes, int root) {
  comm_.broadcast_bytes(bytes, root);
  const bool sends = rank() == root;
  count(sends ? bytes.size() : 0, sends ? 0 : bytes.size());
}

}  // namespace tessera

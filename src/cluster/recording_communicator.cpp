#include "cluster/recording_communicator.hpp"

#include <algorithm>

namespace tessera {

void RecordingCommunicator::record_call(std::span<const std::byte> mine) {
  if (const std::string_view scope = comm_.inner_scope(); !scope.empty()) {
    record(scope, mine);
  }
}

void RecordingCommunicator::record(std::string_view scope, std::span<const std::byte> result) {
  if (record_.scope_of.empty() || record_.scopes[record_.scope_of.back()] != scope) {
    const auto found = std::ranges::find(record_.scopes, scope);
    record_.scope_of.push_back(static_cast<std::uint32_t>(found - record_.scopes.begin()));
    if (found == record_.scopes.end()) {
      record_.scopes.emplace_back(scope);
    }
  } else {
    record_.scope_of.push_back(record_.scope_of.back());
  }
  record_.digests.push_back(contribution_digest(result));
}

void RecordingCommunicator::all_reduce_sum(std::span<E> values) {
  record_call(std::as_bytes(values));
  comm_.all_reduce_sum(values);
}

void RecordingCommunicator::all_reduce_sum(std::span<std::int64_t> values) {
  record_call(std::as_bytes(values));
  comm_.all_reduce_sum(values);
}

void RecordingCommunicator::all_reduce_max(std::span<std::int64_t> values) {
  record_call(std::as_bytes(values));
  comm_.all_reduce_max(values);
}

MessageBytes RecordingCommunicator::all_gather_bytes(std::span<const std::byte> mine) {
  record_call(mine);
  return comm_.all_gather_bytes(mine);
}

MessageBytes RecordingCommunicator::all_gather_known(std::span<const std::byte> mine,
                                                     std::span<const std::size_t> lengths) {
  record_call(mine);
  return comm_.all_gather_known(mine, lengths);
}

SharedBytes RecordingCommunicator::gather_shared(std::span<const std::byte> mine) {
  record_call(mine);
  return comm_.gather_shared(mine);
}

std::vector<MessageBytes> RecordingCommunicator::all_to_all_bytes(std::vector<MessageBytes> send) {
  std::vector<std::uint64_t> parts;
  parts.reserve(send.size());
  for (const MessageBytes& message : send) {
    parts.push_back(contribution_digest(message));
  }
  const bool nothing = std::ranges::all_of(send, &MessageBytes::empty);
  record_call(nothing ? std::span<const std::byte>() : std::as_bytes(std::span(parts)));
  return comm_.all_to_all_bytes(std::move(send));
}

void RecordingCommunicator::broadcast_bytes(MessageBytes& bytes, int root) {
  record_call(rank() == root ? std::span<const std::byte>(bytes) : std::span<const std::byte>());
  comm_.broadcast_bytes(bytes, root);
}

}  // namespace tessera

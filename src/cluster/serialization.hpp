#pragma once

#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <sstream>
#include "cluster/communicator.hpp"

namespace tessera {

/// Boost.Serialization between ranks of one program: trusted data only.
template <class T>
MessageBytes to_bytes(const T& object) {
  std::ostringstream stream;
  boost::archive::binary_oarchive archive(stream);
  archive << object;
  const std::string text = std::move(stream).str();
  const std::span<const std::byte> raw = std::as_bytes(std::span(text));
  return {raw.begin(), raw.end()};
}

template <class T>
T from_bytes(std::span<const std::byte> bytes) {
  std::istringstream stream(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  boost::archive::binary_iarchive archive(stream);
  T object;
  archive >> object;
  return object;
}

/// Gives rank `root`'s object to all ranks.
template <class T>
void broadcast_object(Communicator& comm, T& object, int root = 0) {
  MessageBytes bytes;
  if (comm.rank() == root) {
    bytes = to_bytes(object);
  }
  comm.broadcast_bytes(bytes, root);
  if (comm.rank() != root) {
    object = from_bytes<T>(bytes);
  }
}

}  // namespace tessera

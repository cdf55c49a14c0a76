#pragma once

#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <sstream>
#include "cluster/communicator.hpp"

namespace tessera {

/// Gives rank `root`'s object to all ranks. Boost.Serialization between ranks of one program: trusted data only.
template <class T>
void broadcast_object(Communicator& comm, T& object, int root = 0) {
  std::vector<std::byte> bytes;
  if (comm.rank() == root) {
    std::ostringstream stream;
    boost::archive::binary_oarchive archive(stream);
    archive << object;
    const std::string text = std::move(stream).str();
    const std::span<const std::byte> raw = std::as_bytes(std::span(text));
    bytes.assign(raw.begin(), raw.end());
  }
  comm.broadcast_bytes(bytes, root);
  if (comm.rank() != root) {
    std::istringstream stream(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    boost::archive::binary_iarchive archive(stream);
    archive >> object;
  }
}

}  // namespace tessera

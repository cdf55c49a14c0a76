#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "field/extension.hpp"
#include "hash/blake2s.hpp"

namespace tessera {

class Communicator;

/// The Fiat-Shamir sponge that both sides share: a BLAKE2s-256 chain. Every message is absorbed with its scope path,
/// label and length; nothing overwrites the state, so a challenge depends on everything before it.
///
///   absorb:    state' = H(0x01 || state || len(name) || name || len(data) || data)      name = path + ":" + label
///   challenge: state' = H(0x02 || state || len(name) || name),  output = H(0x03 || state')  (32 bytes)
///
/// Lengths are 8 bytes little endian. An E challenge reduces the two 128-bit halves of the output mod p.
class Transcript {
 public:
  /// Nested name: domain separator, timer and error location. Ends with the object's life.
  class Scope {
   public:
    Scope(Transcript& transcript, std::string_view name);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Transcript& transcript_;
    std::size_t parent_length_;
    std::chrono::steady_clock::time_point start_;
  };

  [[nodiscard]] Scope scope(std::string_view name) { return {*this, name}; }
  /// Is told the path of every scope as it begins and as it ends (must not throw at an end), and drawn positions.
  struct Listener {
    std::function<void(std::string_view path)> begins = {}, ends = {};
    std::function<void(const std::vector<std::size_t>&)> draws = {};
  };
  void set_listener(Listener listener) { listener_ = std::move(listener); }
  [[nodiscard]] const std::string& path() const { return path_; }

  E challenge(std::string_view label);
  /// `count` independent uniform positions below `size` (at most 2^32), with repetition, in drawing order. Of a size
  /// that is no power of two one may be more likely than another by size / 2^64 of its chance.
  std::vector<std::size_t> positions(std::string_view label, std::size_t count, std::uint64_t size);

  /// Seconds spent in each scope path so far (children included).
  [[nodiscard]] const std::map<std::string, double>& timings() const { return timings_; }

  virtual ~Transcript() = default;

 protected:
  explicit Transcript(const Digest& seed) : state_(seed) {}
  Transcript(const Transcript&) = default;
  Transcript(Transcript&&) = default;
  Transcript& operator=(const Transcript&) = default;
  Transcript& operator=(Transcript&&) = default;
  virtual void absorb(std::string_view label, std::span<const std::uint8_t> data);
  Digest squeeze(std::string_view label);
  /// Leading zero bits of H(0x04 || state || nonce) for a proof-of-work nonce.
  [[nodiscard]] virtual unsigned work_of(std::uint64_t nonce) const;
  [[nodiscard]] const Digest& state() const { return state_; }

 private:
  std::string path_;
  Digest state_;
  std::map<std::string, double> timings_;
  Listener listener_;
};

/// Where a message lies in the payload.
struct Message {
  std::string path;
  std::string label;
  std::size_t offset = 0;
  std::size_t length = 0;
};

/// Prover's side: what is sent is absorbed and appended to the payload. Every rank runs an identical one.
class ProverTranscript : public Transcript {
 public:
  explicit ProverTranscript(const Digest& seed) : Transcript(seed) {}
  // What layers whose text is both sides' say to a VerifierView: a prover needs no reasons and checks nothing.
  using Transcript::challenge;
  E challenge(std::string_view label, double /*degree*/, std::string_view /*reason*/) { return challenge(label); }
  void identity(std::size_t /*variables*/, std::string_view /*reason*/) {}
  void check_equal(const E& /*a*/, const E& /*b*/, std::string_view /*why*/) {}

  /// Padded while there are pads.
  void send(std::string_view label, std::span<const E> values);
  void send(std::string_view label, const E& value) { send(label, std::span(&value, 1)); }
  void send(std::string_view label, std::span<const F> values);
  void send(std::string_view label, const Digest& digest);
  void send(std::string_view label, std::span<const Digest> digests);
  /// Sends bytes as they are, never padded.
  void send_bytes(std::string_view label, std::span<const std::uint8_t> bytes) { append(label, bytes); }
  /// From now on a pad is added to every element of E that is sent (hiding mode); end_pads(): no longer.
  void begin_pads(std::vector<E> pads);
  void end_pads();
  /// Never padded.
  void send_public(std::string_view label, std::span<const E> values);
  /// Sent in hiding mode only: what its verifier needs beside a plain one's messages (VerifierView).
  void send_hidden(std::string_view label, const E& value);
  /// Finds the least nonce with `bits` (at most 32) of work, sends it (8 bytes). Ranks share the search. Collective.
  virtual void grind(std::string_view label, unsigned bits, Communicator& comm);
  [[nodiscard]] const std::vector<std::uint8_t>& payload() const { return payload_; }
  /// Every message of the payload, in order.
  [[nodiscard]] const std::vector<Message>& messages() const { return messages_; }

 private:
  void append(std::string_view label, std::span<const std::uint8_t> bytes);
  std::vector<std::uint8_t> payload_;
  std::vector<Message> messages_;
  std::optional<std::vector<E>> pads_;
  std::size_t next_pad_ = 0;
};

}  // namespace tessera

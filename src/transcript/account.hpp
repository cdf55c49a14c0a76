#pragma once

#include <string>
#include <vector>

#include "transcript/soundness.hpp"

namespace tessera {

/// What a verifier does, in order, as its view writes it down when it runs without a proof.
struct Account {
  /// What a message consists of, each in its fixed encoding.
  enum class Unit : std::uint8_t { extension, base, digest, nonce, byte };
  struct Message {
    std::string path;
    std::string label;
    Unit unit = Unit::extension;
    std::size_t count = 0;
    [[nodiscard]] std::size_t bytes() const;
    [[nodiscard]] std::string_view unit_name() const;
  };
  /// A random choice of the verifier that lets a false statement through with probability error/|E| * 2^-work, or
  /// 2^-bits * 2^-work if it is one of positions.
  struct Chance {
    std::size_t messages = 0;  // before it
    std::string path;
    std::string label;  // empty: nothing is drawn, an identity is checked at a point drawn before
    std::string reason;
    double error = 0;  // a polynomial's degree; 0: `bits` says it
    double bits = 0;
    unsigned work = 0;  // ground before, since the last message
  };
  /// A sum-check; `degree` counts an eq factor.
  struct Sumcheck {
    std::string path;
    std::size_t rounds = 0;
    std::size_t degree = 0;
  };

  std::vector<Message> messages;
  std::vector<Chance> chances;
  std::vector<Sumcheck> sumchecks;

  [[nodiscard]] std::size_t bytes() const;
  /// One entry for each scope and reason, in order of appearance: the sum of the errors.
  [[nodiscard]] SoundnessReport soundness() const;
};

}  // namespace tessera

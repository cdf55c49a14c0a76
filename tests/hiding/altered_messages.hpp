#pragma once

#include "hiding_job.hpp"

namespace tessera::test {

/// A proof under a hiding key, of which bytes of its messages are others, or which is cut or longer.
inline void expect_altered_messages_rejected(TestModel& test, const std::optional<Sampling>& sampling) {
  HidingJob job(test, {1, 7, 3, 12, 20}, 2, sampling);
  Proof proof = job.prove(Digest{3});
  const PayloadVerifier verdict_of(test, job.statement);
  expect_accepted(verdict_of(proof.payload));
  for (std::size_t i = 0; i < proof.messages.size(); i += each_or_every(4)) {
    const Message& message = proof.messages[i];
    std::uint8_t& byte = proof.payload[message.offset + message.length / 2];
    byte ^= 1;
    EXPECT_FALSE(verdict_of(proof.payload).accepted) << message.path << ":" << message.label;
    byte ^= 1;
  }
  for (const std::size_t length : {std::size_t{0}, proof.payload.size() / 2, proof.payload.size() - 1}) {
    EXPECT_FALSE(verdict_of(std::span(proof.payload).first(length)).accepted) << length << " bytes";
  }
  proof.payload.push_back(0);
  EXPECT_FALSE(verdict_of(proof.payload).accepted) << "a byte more";
}

}  // namespace tessera::test

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <thread>

#include "cluster/thread_communicator.hpp"
#include "naive_transcript.hpp"

namespace tessera::test {
namespace {

const Digest seed = blake2s(std::vector<std::uint8_t>{1, 2, 3});
const E x{F::from_canonical(5), F::from_canonical(F::modulus - 1)};
SelfCommunicator self;
const E y{F::from_canonical(0x0102030405060708), F::zero()};

std::string hexadecimal(const Digest& digest) {
  std::string text;
  for (const std::uint8_t byte : digest) {
    text += "0123456789abcdef"[byte / 16];
    text += "0123456789abcdef"[byte % 16];
  }
  return text;
}

TEST(Blake2s, published_vectors) {
  const std::string abc = "abc";
  const std::vector<std::uint8_t> message(abc.begin(), abc.end());
  // RFC 7693, appendix B
  EXPECT_EQ(hexadecimal(blake2s(message)), "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982");
  EXPECT_EQ(hexadecimal(blake2s({})), "69217a3079908094e11121d042354a7c1f55b6482ca1a51e1b250dfd1ed0eef9");
}

TEST(Transcript, absorbing_and_drawing_as_defined) {
  ProverTranscript transcript(seed);
  NaiveTranscript naive(seed);
  const Digest digest = blake2s({});
  std::string payload;
  const auto absorb = [&](const std::string& name, const std::string& data) {
    naive.absorb(name, data);
    payload += data;
  };
  const auto element = [](const E& value) {
    return NaiveTranscript::length(value.c0.value()) + NaiveTranscript::length(value.c1.value());
  };

  EXPECT_EQ(transcript.challenge("first"), naive.challenge(":first"));
  transcript.send("one", x);
  absorb(":one", element(x));
  EXPECT_EQ(transcript.challenge("a"), naive.challenge(":a"));
  {
    const auto outer = transcript.scope("outer");
    transcript.send("two", std::array{x, y});
    absorb("/outer:two", element(x) + element(y));
    {
      const auto inner = transcript.scope("inner");
      EXPECT_EQ(transcript.path(), "/outer/inner");
      EXPECT_EQ(transcript.challenge("b"), naive.challenge("/outer/inner:b"));
      transcript.send("base", std::array{F::from_canonical(9), F::from_canonical(10), F::from_canonical(11)});
      absorb("/outer/inner:base",
             NaiveTranscript::length(9) + NaiveTranscript::length(10) + NaiveTranscript::length(11));
    }
    transcript.send("root", digest);
    absorb("/outer:root", NaiveTranscript::text(digest));
    transcript.send("roots", std::array{digest, seed});
    absorb("/outer:roots", NaiveTranscript::text(digest) + NaiveTranscript::text(seed));
  }
  EXPECT_EQ(transcript.path(), "");
  transcript.send("nothing", std::span<const E>());
  absorb(":nothing", "");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(transcript.challenge("several"), naive.challenge(":several"));
  }
  EXPECT_EQ(NaiveTranscript::text(transcript.payload()), payload);
}

TEST(Transcript, positions_as_defined) {
  for (const std::uint64_t size : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{32}, std::uint64_t{1} << 20U,
                                   std::uint64_t{51} << 14U, std::uint64_t{1} << 32U}) {
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{4}, std::size_t{11}}) {
      ProverTranscript transcript(seed);
      NaiveTranscript naive(seed);
      const std::vector<std::size_t> positions = transcript.positions("draw", count, size);
      ASSERT_EQ(positions.size(), count);
      std::string output;
      for (std::size_t i = 0; i < count; ++i) {
        if (i % 4 == 0) {
          output = naive.squeeze(":draw");
        }
        std::uint64_t word = 0;
        std::memcpy(&word, output.data() + 8 * (i % 4), 8);  // little endian, as all supported machines
        EXPECT_EQ(positions[i], word % size);
      }
    }
  }
  ProverTranscript transcript(seed);
  const std::vector<std::size_t> many = transcript.positions("draw", 4000, 8);
  for (std::size_t value = 0; value < 8; ++value) {
    EXPECT_NEAR(static_cast<double>(std::ranges::count(many, value)), 500.0, 120.0);
  }
}

TEST(Transcript, grinding_finds_the_least_nonce) {
  int ranks = 0;
  for (const unsigned bits : {0U, 1U, 5U, 9U, 13U}) {
    ++ranks;
    ProverTranscript transcript(seed);
    NaiveTranscript naive(seed);
    std::uint64_t nonce = 0;
    while (naive.work(nonce) < bits) {
      ++nonce;
    }
    run_ranks(ranks, [&](Communicator& comm) {
      ProverTranscript same(seed);
      same.grind("work", bits, comm);
      EXPECT_EQ(NaiveTranscript::text(same.payload()), NaiveTranscript::length(nonce));
    });
    transcript.grind("work", bits, self);
    EXPECT_EQ(NaiveTranscript::text(transcript.payload()), NaiveTranscript::length(nonce));
    naive.absorb(":work", NaiveTranscript::length(nonce));
    EXPECT_EQ(transcript.challenge("after"), naive.challenge(":after"));

    VerifierTranscript verifier(seed, transcript.payload());
    verifier.check_work("work", bits);
    naive.state = NaiveTranscript::text(seed);
    if (naive.work(nonce) < 40) {
      VerifierTranscript stricter(seed, transcript.payload());
      EXPECT_THROW(stricter.check_work("work", naive.work(nonce) + 1), Rejected);
    }
  }
}

TEST(Transcript, every_input_changes_the_challenge) {
  using Step = std::function<void(ProverTranscript&)>;
  const std::vector<Step> variants{
      [](ProverTranscript&) {},
      [](ProverTranscript& t) { t.send("m", x); },
      [](ProverTranscript& t) { t.send("m", y); },
      [](ProverTranscript& t) { t.send("n", x); },
      [](ProverTranscript& t) { t.send("m", std::span<const E>()); },
      [](ProverTranscript& t) {
        t.send("m", std::array{x, y});
      },
      [](ProverTranscript& t) {
        t.send("m", std::array{y, x});
      },
      [](ProverTranscript& t) {
        t.send("m", x);
        t.send("m", y);
      },
      [](ProverTranscript& t) {
        t.send("m", y);
        t.send("m", x);
      },
      [](ProverTranscript& t) {
        const auto scope = t.scope("m");
        t.send("m", x);
      },
      [](ProverTranscript& t) {
        const auto scope = t.scope("a");
        const auto inner = t.scope("b");
        t.send("m", x);
      },
      [](ProverTranscript& t) {
        const auto scope = t.scope("ab");
        t.send("m", x);
      },
      [](ProverTranscript& t) { (void)t.challenge("m"); },
      [](ProverTranscript& t) { (void)t.challenge("n"); },
      [](ProverTranscript& t) { (void)t.positions("p", 1, 16); },
      [](ProverTranscript& t) { t.grind("m", 0, self); },
  };
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  const auto draw = [&](ProverTranscript transcript, const Step& step, std::string_view label) {
    step(transcript);
    const E challenge = transcript.challenge(label);
    seen.emplace(challenge.c0.value(), challenge.c1.value());
  };
  for (const Step& step : variants) {
    draw(ProverTranscript(seed), step, "c");
    draw(ProverTranscript(blake2s({})), step, "c");
    draw(ProverTranscript(seed), step, "d");
  }
  EXPECT_EQ(seen.size(), 3 * variants.size());
}

TEST(Transcript, where_one_message_ends_matters) {
  // the same bytes sent as one message and as two
  ProverTranscript one(seed);
  one.send("m", std::array{x, y});
  ProverTranscript two(seed);
  two.send("m", x);
  two.send("m", y);
  EXPECT_EQ(one.payload(), two.payload());
  EXPECT_NE(one.challenge("c"), two.challenge("c"));
}

TEST(Transcript, both_sides_draw_the_same) {
  ProverTranscript prover(seed);
  prover.send("e", std::array{x, y});
  prover.send("f", std::array{F::from_canonical(3)});
  prover.send("d", std::array{seed, blake2s({})});
  prover.grind("w", 4, self);
  VerifierTranscript verifier(seed, prover.payload());
  EXPECT_EQ(verifier.receive("e", 2), (std::vector<E>{x, y}));
  EXPECT_EQ(verifier.receive_base("f", 1), (std::vector<F>{F::from_canonical(3)}));
  EXPECT_EQ(verifier.receive_digests("d", 2), (std::vector<Digest>{seed, blake2s({})}));
  verifier.check_work("w", 4);
  EXPECT_NO_THROW(verifier.finish());
  EXPECT_EQ(verifier.challenge("c"), prover.challenge("c"));
}

/// Where and why a verifier rejects; empty if it does not.
std::string rejection(std::span<const std::uint8_t> payload, const std::function<void(VerifierTranscript&)>& read) {
  VerifierTranscript verifier(seed, payload);
  try {
    const auto scope = verifier.scope("part");
    read(verifier);
    verifier.finish();
  } catch (const Rejected& rejected) {
    return rejected.scope() + ": " + rejected.what();
  }
  return {};
}

TEST(VerifierTranscript, field_elements_not_below_p_are_rejected) {
  for (const std::uint64_t value : {F::modulus - 1, F::modulus, F::modulus + 1, ~std::uint64_t{0}}) {
    for (std::size_t at = 0; at < 4; ++at) {
      std::string bytes;
      for (std::size_t i = 0; i < 4; ++i) {
        bytes += NaiveTranscript::length(i == at ? value : i);
      }
      const std::vector<std::uint8_t> payload(bytes.begin(), bytes.end());
      const std::string expected = value < F::modulus ? "" : "/part: field element not below p in message m";
      EXPECT_EQ(rejection(payload, [](VerifierTranscript& t) { t.receive("m", 2); }), expected);
      EXPECT_EQ(rejection(payload, [](VerifierTranscript& t) { t.receive_base("m", 4); }), expected);
    }
  }
}

TEST(VerifierTranscript, truncation_and_trailing_bytes_are_rejected) {
  const std::vector<std::uint8_t> payload(64);
  const std::vector<std::function<void(VerifierTranscript&)>> readers{
      [](VerifierTranscript& t) { t.receive("m", 4); },
      [](VerifierTranscript& t) { t.receive_base("m", 8); },
      [](VerifierTranscript& t) { t.receive_digests("m", 2); },
      [](VerifierTranscript& t) {
        for (int i = 0; i < 8; ++i) {
          t.check_work("m", 0);
        }
      },
  };
  for (const auto& reader : readers) {
    EXPECT_EQ(rejection(payload, reader), "");
    for (std::size_t size = 0; size < payload.size(); ++size) {
      EXPECT_EQ(rejection(std::span(payload).first(size), reader), "/part: proof ends inside message m");
    }
    std::vector<std::uint8_t> longer = payload;
    longer.push_back(0);
    EXPECT_EQ(rejection(longer, reader), "/part: trailing bytes after the proof");
  }
}

TEST(VerifierTranscript, checks_name_scope_and_reason) {
  EXPECT_EQ(rejection({}, [](VerifierTranscript& t) { t.check(true, "fine"); }), "");
  EXPECT_EQ(rejection({},
                      [](VerifierTranscript& t) {
                        const auto inner = t.scope("inner");
                        t.check(false, "not so");
                      }),
            "/part/inner: not so");
}

TEST(Transcript, scopes_nest_end_and_are_timed) {
  ProverTranscript transcript(seed);
  for (int i = 0; i < 2; ++i) {
    const auto outer = transcript.scope("outer");
    const auto inner = transcript.scope("inner");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(transcript.path(), "");
  const auto& timings = transcript.timings();
  ASSERT_EQ(timings.size(), 2U);
  EXPECT_GE(timings.at("/outer/inner"), 0.010);
  EXPECT_GE(timings.at("/outer"), timings.at("/outer/inner"));
  try {
    const auto scope = transcript.scope("failing");
    throw std::runtime_error("left");
  } catch (const std::runtime_error&) {
    EXPECT_EQ(transcript.path(), "");
  }
  EXPECT_TRUE(timings.contains("/failing"));
}

TEST(Transcript, scopes_without_messages_change_nothing) {
  ProverTranscript plain(seed);
  ProverTranscript scoped(seed);
  { const auto scope = scoped.scope("empty"); }
  EXPECT_EQ(plain.challenge("c"), scoped.challenge("c"));
}

}  // namespace
}  // namespace tessera::test

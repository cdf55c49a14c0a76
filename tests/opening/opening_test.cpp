#include <gtest/gtest.h>

#include <cstring>
#include <mutex>
#include <optional>

#include "cluster/thread_communicator.hpp"

#include "opening_case.hpp"
#include "opening_messages.hpp"
#include "opening_verdict.hpp"

namespace tessera::test {
namespace {

std::vector<std::uint8_t> prove(const OpeningCase& data, std::span<const OracleWitness> witnesses,
                                const std::vector<std::vector<Claim>>& claims, Communicator& comm) {
  ProverTranscript transcript(opening_seed);
  prove_opening(transcript, data.oracles, witnesses, claims, comm);
  return transcript.payload();
}

/// One honest proof, shared by the tests of lies.
class Opening : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    static SelfCommunicator self;
    comm = &self;
    data = new OpeningCase(self);
    claims = new std::vector<std::vector<Claim>>(random_claims(*data));
    payload = new std::vector<std::uint8_t>(prove(*data, data->witnesses, *claims, self));
  }
  static void TearDownTestSuite() {
    delete payload;
    delete claims;
    delete data;
  }
  /// Before every challenge for a row variable.
  static void ask_row_work(unsigned bits) {
    for (CommittedOracle& oracle : data->oracles) {
      oracle.row_work = bits;
    }
  }
  static std::string verdict_of(std::span<const std::uint8_t> bytes) {
    return opening_verdict(bytes, data->oracles, *claims);
  }

  inline static Communicator* comm = nullptr;
  inline static OpeningCase* data = nullptr;
  inline static std::vector<std::vector<Claim>>* claims = nullptr;
  inline static std::vector<std::uint8_t>* payload = nullptr;
};

constexpr const char* root_check = "opened columns do not lead to the committed root";
constexpr const char* clear_check = "the clear vector differs from an opened column";

TEST_F(Opening, honest_proof_is_accepted) { EXPECT_EQ(verdict_of(*payload), ""); }

TEST_F(Opening, payload_is_the_same_for_any_number_of_ranks) {
  for (const int ranks : {2, 3, 4, 5}) {
    std::mutex mutex;
    run_ranks(ranks, [&](Communicator& rank_comm) {
      OpeningCase sharded(rank_comm);
      const std::vector<std::uint8_t> bytes = prove(sharded, sharded.witnesses, *claims, rank_comm);
      const std::scoped_lock lock(mutex);
      EXPECT_EQ(sharded.oracles[0].root, data->oracles[0].root);
      EXPECT_EQ(sharded.oracles[1].root, data->oracles[1].root);
      EXPECT_TRUE(bytes == *payload) << ranks;
    });
  }
}

/// Rows in one to four bands, more of them in either oracle, whoever has which chunk.
TEST(OpeningOfBands, is_accepted_for_any_number_of_rows_and_ranks) {
  SelfCommunicator self;
  std::vector<std::uint64_t> digests;
  using Both = std::vector<OracleParameters>;
  for (const Both& parameters : {Both{{7, 1, 16}, {6, 1, 16}}, Both{{5, 1}, {7, 1, 48}}, Both{{6, 1, 16}, {6, 2}},
                                 Both{{4, 5, 0, 21}, {6, 6, 16, 1}}, Both{{7, 1, 8}, {6, 1, 24}}}) {
    const OpeningCase data(self, parameters);
    const std::vector<std::vector<Claim>> claims = random_claims(data);
    const std::vector<std::uint8_t> payload = prove(data, data.witnesses, claims, self);
    EXPECT_EQ(opening_verdict(payload, data.oracles, claims), "");
    const Digest digest = blake2s(payload);
    std::memcpy(&digests.emplace_back(), digest.data(), sizeof(std::uint64_t));
    for (const int ranks : {2, 3, 8}) {
      run_ranks(ranks, [&](Communicator& rank_comm) {
        OpeningCase sharded(rank_comm, parameters);
        EXPECT_TRUE(prove(sharded, sharded.witnesses, claims, rank_comm) == payload) << ranks;
      });
    }
    for (std::size_t j = 0; j < 2; ++j) {
      for (std::size_t i = 0; i < claims[j].size(); ++i) {
        std::vector<std::vector<Claim>> wrong = claims;
        wrong[j][i].value += E::one();
        EXPECT_EQ(opening_verdict(payload, data.oracles, wrong), final_check);
      }
    }
  }
  // bytes of the format: they change with format_version only
  EXPECT_EQ(digests, (std::vector<std::uint64_t>{15161071306301963792U, 14216906005913107238U, 7324567364955598827U,
                                                 130773486341315684U, 6927169454342435360U}));
}

/// As many bits as are asked for stand before every challenge for a row variable, whoever looks for them.
TEST_F(Opening, challenges_for_row_variables_need_work) {
  constexpr unsigned bits = 3;
  ask_row_work(bits);
  const std::vector<std::uint8_t> worked = prove(*data, data->witnesses, *claims, *comm);
  EXPECT_EQ(verdict_of(worked), "");
  const auto messages = opening_messages(opening_seed, worked, data->oracles);
  EXPECT_EQ(messages.back().end, worked.size());
  const OpeningSchedule schedule = opening_schedule(data->oracles);
  EXPECT_EQ(std::ranges::count(messages, "work", &Message::name),
            schedule.row_variables + OpeningSchedule::folding * schedule.vectors.size() + schedule.vectors.size() + 1);
  run_ranks(3, [&](Communicator& rank_comm) {
    OpeningCase sharded(rank_comm);
    sharded.oracles = data->oracles;
    EXPECT_TRUE(prove(sharded, sharded.witnesses, *claims, rank_comm) == worked);
  });
  EXPECT_NE(verdict_of(*payload), "");  // none of it
  ask_row_work(0);
  EXPECT_NE(verdict_of(worked), "");
  ask_row_work(bits + 12);  // less
  EXPECT_EQ(verdict_of(worked), "not enough work in message work");
  ask_row_work(0);
}

TEST_F(Opening, every_wrong_claim_is_rejected) {
  for (std::size_t j = 0; j < 2; ++j) {
    for (std::size_t i = 0; i < (*claims)[j].size(); ++i) {
      std::vector<std::vector<Claim>> wrong = *claims;
      wrong[j][i].value += E::one();
      // an honest payload and a prover that follows the lie
      EXPECT_EQ(opening_verdict(*payload, data->oracles, wrong), final_check);
      if (i % 5 == 0) {
        EXPECT_EQ(opening_verdict(prove(*data, data->witnesses, wrong, *comm), data->oracles, wrong), final_check);
      }
    }
  }
}

TEST_F(Opening, messages_fill_the_payload_and_size_is_as_expected) {
  const auto messages = opening_messages(opening_seed, *payload, data->oracles);
  EXPECT_EQ(messages.back().end, payload->size());
  AccountingTranscript transcript;  // positions are as far apart as can be: none longer, few much shorter
  verify_opening(transcript, data->oracles, *claims);
  const std::size_t most = transcript.account().bytes();
  EXPECT_LE(payload->size(), most);
  EXPECT_GE(payload->size(), most - most / 8);
}

TEST_F(Opening, one_bit_anywhere_is_rejected_for_its_reason) {
  std::map<std::string, std::string> reasons{{"columns", root_check},
                                             {"siblings", root_check},
                                             {"root", "not enough work in message work"},
                                             {"clear", "not enough work in message work"},
                                             {"work", "not enough work in message work"}};
  std::mt19937_64 random(7);
  for (const Message& message : opening_messages(opening_seed, *payload, data->oracles)) {
    for (int i = 0; i < 6; ++i) {
      std::vector<std::uint8_t> wrong = *payload;
      const std::size_t at = message.begin + random() % (message.end - message.begin);
      // a low bit of a byte that is not an element's highest: the element stays below p
      wrong[at - at % 8 + at % 7] ^= 1;
      const std::string why = verdict_of(wrong);
      ASSERT_NE(why, "");
      if (reasons.contains(message.name)) {
        EXPECT_EQ(why, reasons[message.name]) << message.name;
      }
    }
  }
}

TEST_F(Opening, dropped_duplicated_swapped_truncated_and_extended_messages_are_rejected) {
  const auto messages = opening_messages(opening_seed, *payload, data->oracles);
  const auto part = [&](std::size_t from, std::size_t to) {
    return std::vector<std::uint8_t>(payload->begin() + static_cast<std::ptrdiff_t>(from),
                                     payload->begin() + static_cast<std::ptrdiff_t>(to));
  };
  const auto join = [](std::vector<std::vector<std::uint8_t>> parts) {
    std::vector<std::uint8_t> all;
    for (const auto& bytes : parts) {
      all.insert(all.end(), bytes.begin(), bytes.end());
    }
    return all;
  };
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const auto& [name, begin, end] = messages[i];
    const std::size_t size = payload->size();
    EXPECT_NE(verdict_of(join({part(0, begin), part(end, size)})), "") << "dropped " << name;
    EXPECT_NE(verdict_of(join({part(0, end), part(begin, size)})), "") << "duplicated " << name;
    EXPECT_NE(verdict_of(part(0, begin)), "") << "truncated before " << name;
    EXPECT_NE(verdict_of(part(0, end - 1)), "") << "truncated inside " << name;
    if (i + 1 < messages.size()) {
      const std::size_t next = messages[i + 1].end;
      EXPECT_NE(verdict_of(join({part(0, begin), part(end, next), part(begin, end), part(next, size)})), "");
    }
  }
  EXPECT_EQ(verdict_of(join({*payload, {0}})), "trailing bytes after the proof");
  EXPECT_NE(verdict_of({}), "");
}

TEST_F(Opening, elements_not_below_p_are_rejected) {
  for (const Message& message : opening_messages(opening_seed, *payload, data->oracles)) {
    if (message.name == "round" || message.name == "columns" || message.name == "clear") {
      std::vector<std::uint8_t> wrong = *payload;
      for (std::size_t i = 0; i < 8; ++i) {
        wrong[message.begin + i] = static_cast<std::uint8_t>(F::modulus >> (8 * i));
      }
      EXPECT_EQ(verdict_of(wrong), "field element not below p in message " + message.name);
    }
  }
}

TEST_F(Opening, wrong_root_is_rejected) {
  for (std::size_t j = 0; j < 2; ++j) {
    std::vector<CommittedOracle> wrong = data->oracles;
    wrong[j].root[5] ^= 4;
    EXPECT_EQ(opening_verdict(*payload, wrong, *claims), root_check);
  }
}

/// A store that lies about one column or one sibling, after which the prover goes on consistently.
class LyingStore final : public CodewordStore {
 public:
  LyingStore(CodewordStore& honest, bool about_column) : honest_(honest), about_column_(about_column) {}
  [[nodiscard]] Digest root() const override { return honest_.root(); }
  std::vector<F> columns(std::span<const std::size_t> positions) override {
    std::vector<F> values = honest_.columns(positions);
    values[3] += about_column_ ? F::one() : F::zero();
    return values;
  }
  std::vector<Digest> nodes(unsigned level, std::span<const std::size_t> indices) override {
    std::vector<Digest> result = honest_.nodes(level, indices);
    if (!about_column_ && level == 2 && !result.empty()) {
      result.front()[0] ^= 1;
    }
    return result;
  }

 private:
  CodewordStore& honest_;
  bool about_column_;
};

TEST_F(Opening, columns_and_siblings_that_were_not_committed_are_rejected) {
  for (std::size_t j = 0; j < 2; ++j) {
    for (const bool about_column : {false, true}) {
      LyingStore lying(*data->stores[j], about_column);
      std::vector<OracleWitness> witnesses = data->witnesses;
      witnesses[j].codeword = &lying;
      EXPECT_EQ(opening_verdict(prove(*data, witnesses, *claims, *comm), data->oracles, *claims), root_check);
    }
  }
}

TEST_F(Opening, tensor_that_differs_from_the_committed_one_is_rejected) {
  ChunkedTensor<std::int16_t> other = data->weights;
  other.values()[1234] = static_cast<std::int16_t>(other.values()[1234] ^ 1);
  std::vector<OracleWitness> witnesses = data->witnesses;
  witnesses[0].tensors[0] = &other;
  std::vector<std::vector<Claim>> about_other = *claims;
  for (Claim& claim : about_other[0]) {
    claim.value = OpeningCase::naive_value(witnesses[0].tensors[claim.tensor], claim.weight);
  }
  EXPECT_EQ(opening_verdict(prove(*data, witnesses, about_other, *comm), data->oracles, about_other), final_check);
}

/// Their codewords are in memory; what is told goes on without the tensors.
TEST_F(Opening, reads_no_tensor_once_the_first_vector_is_made) {
  std::vector<OracleWitness> witnesses = data->witnesses;
  std::size_t told = 0;
  for (OracleWitness& witness : witnesses) {
    witness.bound = [&] {
      ++told;
      for (OracleWitness& other : witnesses) {
        std::ranges::fill(other.tensors, static_cast<const ChunkedTensor<std::int16_t>*>(nullptr));
      }
    };
  }
  EXPECT_EQ(prove(*data, witnesses, *claims, *comm), *payload);
  EXPECT_EQ(told, witnesses.size());
}

/// An oracle so small that its bound vector is sent in clear at once.
TEST(SmallOpening, clear_vector_that_differs_from_the_committed_one_is_rejected) {
  SelfCommunicator self;
  const Shape shape({Dimension::outer(2), Dimension::whole(100)});
  ChunkedTensor<std::int16_t> tensor = filled<std::int16_t>(shape, {}, 11, self);
  const OracleLayout layout({shape});
  const auto store = commit_oracle(layout, {5, 1}, std::vector<IntegerTensor>{&tensor}, self);
  const std::vector<CommittedOracle> oracles{{layout, {5, 1}, store->root()}};
  for (const bool lie : {false, true}) {
    tensor.values()[130] = static_cast<std::int16_t>(tensor.values()[130] + (lie ? 1 : 0));
    const std::vector<Factor> weight{Factor::ones(1), Factor::ones(7)};
    const std::vector<std::vector<Claim>> claims{{{0, weight, OpeningCase::naive_value(&tensor, weight)}}};
    ProverTranscript transcript(opening_seed);
    prove_opening(transcript, oracles, std::vector<OracleWitness>{{{&tensor}, store.get()}}, claims, self);
    EXPECT_EQ(opening_verdict(transcript.payload(), oracles, claims), lie ? clear_check : "");
  }
}

TEST(SmallOpening, zero_plus_p_is_not_zero) {
  SelfCommunicator self;
  const Shape shape({Dimension::whole(128)});
  const ChunkedTensor<std::int16_t> tensor(shape, {}, 0, 1);
  const OracleLayout layout({shape});
  const auto store = commit_oracle(layout, {7, 3}, std::vector<IntegerTensor>{&tensor}, self);
  const std::vector<CommittedOracle> oracles{{layout, {7, 3}, store->root()}};
  const std::vector<std::vector<Claim>> claims{{{0, {Factor::ones(7)}, E::zero()}}};
  ProverTranscript transcript(opening_seed);
  prove_opening(transcript, oracles, std::vector<OracleWitness>{{{&tensor}, store.get()}}, claims, self);
  EXPECT_EQ(opening_verdict(transcript.payload(), oracles, claims), "");
  std::vector<std::uint8_t> wrong = transcript.payload();
  for (std::size_t i = 0; i < 8; ++i) {
    wrong[i] = static_cast<std::uint8_t>(F::modulus >> (8 * i));
  }
  EXPECT_EQ(opening_verdict(wrong, oracles, claims), "field element not below p in message round");
}

TEST_F(Opening, claims_that_do_not_fit_their_tensor_are_an_error) {
  std::vector<std::vector<Claim>> wrong = *claims;
  wrong[0][0].weight.pop_back();
  EXPECT_THROW(opening_verdict(*payload, data->oracles, wrong), std::invalid_argument);
  wrong = *claims;
  wrong[1][0].tensor = 4;
  EXPECT_THROW(opening_verdict(*payload, data->oracles, wrong), std::invalid_argument);
  wrong = *claims;
  wrong[1][0].weight[1] = Factor::ones(3);
  EXPECT_THROW(opening_verdict(*payload, data->oracles, wrong), std::invalid_argument);
  wrong.pop_back();
  EXPECT_THROW(opening_verdict(*payload, data->oracles, wrong), std::invalid_argument);
}

}  // namespace
}  // namespace tessera::test

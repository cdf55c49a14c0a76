// Values that leave their range are clamped and listed: every lie about a list is seen.

#include <gtest/gtest.h>

#include <algorithm>

#include "base/little_endian.hpp"

#include "../model/saturated_models.hpp"
#include "parts.hpp"

namespace tessera::testing {
namespace {

const std::vector<std::uint32_t> gpt2_prompt{17, 42, 5, 99, 120, 7, 64, 31};
const std::vector<std::uint32_t> llama_prompt{1, 7, 3, 12, 20};

TestModel& saturated() {
  static TestModel test(saturated_gpt2());
  return test;
}
TestModel& distant() {
  static TestModel test(distant_gpt2());
  return test;
}
TestModel& saturated_of(std::size_t kind) {
  static std::map<std::size_t, TestModel> models;
  return models.try_emplace(kind, saturated_llama(kind)).first->second;
}

/// An honest inference, and what a liar makes of its trace before the witness.
struct Told {
  TestModel& test;
  Statement statement;
  ModelPlan plan;
  Trace trace;

  Told(TestModel& model, std::vector<std::uint32_t> prompt, std::size_t generate = 5)
      : test(model),
        statement{std::move(prompt), std::vector<std::uint32_t>(generate)},
        plan(ModelPlan::of(test.key, PassShape::of(statement))),
        trace(run_inference(test.integers, plan, statement.prompt, test.comm)) {
    statement.generated = trace.generated_tokens();
  }
  [[nodiscard]] std::size_t list(const std::string& name) const {
    const auto found = std::ranges::find(plan.clamped, name, &ClampedTensor::name);
    EXPECT_NE(found, plan.clamped.end()) << name;
    return static_cast<std::size_t>(found - plan.clamped.begin());
  }
  std::vector<Exception>& entries(const std::string& name) { return trace.exceptions[list(name)]; }
  [[nodiscard]] Forgery forge() const { return {test, statement, plan, trace}; }
  [[nodiscard]] Verdict verdict(Forgery& forgery) const {
    return verify_inference(test.key, statement, forgery.prove().payload);
  }
  [[nodiscard]] Verdict verdict() const {
    Forgery forgery = forge();
    return verdict(forgery);
  }
};

Told gpt2_run() { return {saturated(), gpt2_prompt}; }
Told distant_run() { return {distant(), gpt2_prompt}; }
Told llama_run(std::size_t kind) { return {saturated_of(kind), llama_prompt, 2}; }

std::map<std::string, std::size_t> counts(const Verdict& verdict) {
  std::map<std::string, std::size_t> result;
  for (const ClampedValues& values : verdict.clamped) {
    result[values.tensor] = values.count;
  }
  return result;
}

void expect_all_listed(const Told& run) {
  const Verdict verdict = run.verdict();
  expect_accepted(verdict);
  const auto found = counts(verdict);
  for (std::size_t list = 0; list < run.plan.clamped.size(); ++list) {
    const std::string& name = run.plan.clamped[list].name;
    EXPECT_EQ(run.trace.exceptions[list].empty(), name == "far") << name;
    EXPECT_EQ(found.contains(name) ? found.at(name) : 0, run.trace.exceptions[list].size()) << name;
  }
}

TEST(Saturation, EveryListOfGpt2) { expect_all_listed(gpt2_run()); }
TEST(Saturation, EveryListOfLlama) {
  for (const std::size_t kind : {0U, 1U, 2U}) {
    SCOPED_TRACE(kind);
    expect_all_listed(llama_run(kind));
  }
}
TEST(Saturation, DistancesAlone) {
  const Told run = distant_run();
  const auto found = counts(run.verdict());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_GT(found.at("far"), 0U);
}

TEST(Saturation, OneListAlone) {
  std::size_t alone = 0;
  struct Damage {
    std::string list;
    ParameterId bias;
    std::int32_t Exponents::*exponent;
    int value;
    std::size_t block;                // whose bias is large
    std::optional<ParameterId> pull;  // what takes the residual stream away from its limit in block 1
  };
  for (const Damage& damage : {Damage{"layer_norm_1/u", beta1, &Exponents::beta1, 8, 1, {}},
                               {"layer_norm_2/u", beta2, &Exponents::beta2, 8, 1, {}},
                               {"layer_norm_final/u", betaf, &Exponents::betaf, 8, 0, {}},
                               {"q", bq, &Exponents::bq, 10, 1, {}},
                               {"k", bk, &Exponents::bk, 10, 0, {}},
                               {"v", bv, &Exponents::bv, 10, 1, {}},
                               {"mlp", b1, &Exponents::b1, 10, 1, {}},
                               {"x_mid", bo, &Exponents::bo, 0, 1, b2},
                               {"x_in", b2, &Exponents::b2, 0, 0, bo},
                               {"x_end", b2, &Exponents::b2, 0, 1, {}}}) {
    SCOPED_TRACE(damage.list);
    Model model = RandomModel(11).make({2, 36, 3, 144, 300, 48});
    const std::span<std::int16_t> values = model.parameters[damage.bias].values();
    std::ranges::fill(values, std::int16_t{0});
    const std::size_t rows = damage.bias == betaf ? values.size() : values.size() / 2;
    values[damage.block * rows + rows - 1] = 32767;
    if (damage.pull) {
      model.parameters[*damage.pull].values()[2 * 36 - 1] = -32767;
    }
    for (const ParameterId gain : {gamma1, gamma2, gammaf}) {  // so that a large feature is none when it is normalised
      model.parameters[gain].values().back() = 2048;
    }
    model.exponents.*damage.exponent = damage.value;
    TestModel test(std::move(model));
    Told run(test, gpt2_prompt);
    const std::size_t listed = run.entries(damage.list).size();
    EXPECT_GT(listed, 0U);
    expect_accepted(run.verdict());
    alone += total(counts_of(run.trace.exceptions)) == listed ? 1 : 0;
  }
  EXPECT_GE(alone, 6U);  // others follow from some
}

/// The rejection of a true trace with another list.
void expect_list_rejected(const Told& honest, const std::string& name, const std::string& scope,
                          const std::function<void(std::vector<Exception>&)>& lie) {
  SCOPED_TRACE(name);
  Told run = honest;
  lie(run.entries(name));
  expect_rejected(run.verdict(), scope);
}

/// Where an identity on each list's values is checked.
const std::vector<std::pair<std::string, std::string>> gpt2_identities{
    {"x_in", "/feed_forward/mlp/product"},          {"x_mid", "/self_attention/projection/product"},
    {"x_end", "/feed_forward/mlp/product"},         {"layer_norm_1/u", "/self_attention/layer_norm"},
    {"layer_norm_2/u", "/feed_forward/layer_norm"}, {"layer_norm_final/u", "/final/layer_norm"},
    {"q", "/self_attention/qkv/product"},           {"k", "/self_attention/qkv/product"},
    {"v", "/self_attention/qkv/product"},           {"mlp", "/feed_forward/mlp/product"},
};
const std::vector<std::pair<std::string, std::string>> llama_identities{
    {"x_in", "/feed_forward/gated_mlp/product"},   {"x_mid", "/self_attention/projection/product"},
    {"x_end", "/feed_forward/gated_mlp/product"},  {"rms_norm_1/u", "/self_attention/rms_norm"},
    {"q_norm/h", "/self_attention/qkv/q/product"}, {"k_norm/h", "/self_attention/qkv/k/product"},
    {"q", "/self_attention/qkv/q/norm"},           {"k", "/self_attention/qkv/k/norm"},
    {"v", "/self_attention/qkv/v/product"},        {"gate", "/feed_forward/gated_mlp/product"},
    {"product", "/feed_forward/gated_mlp/gating"},
};

TEST(Saturation, AnEntryLeftOutIsSeen) {
  const auto leave_out = [](std::vector<Exception>& list) { list.erase(list.begin() + std::ssize(list) / 2); };
  for (const auto& [name, scope] : gpt2_identities) {
    expect_list_rejected(gpt2_run(), name, scope, leave_out);
  }
  expect_list_rejected(distant_run(), "far", lookup_scope, leave_out);
}

TEST(Saturation, AnExcessOffByOneIsSeen) {
  const auto more = [](std::vector<Exception>& list) { list.front().excess += list.front().excess > 0 ? 1 : -1; };
  for (const auto& [name, scope] : gpt2_identities) {
    expect_list_rejected(gpt2_run(), name, scope, more);
  }
  expect_list_rejected(distant_run(), "far", "/self_attention/attention/mask", more);
}

TEST(Saturation, EntriesOfLlamaAreBound) {
  const Told honest = llama_run(2);
  for (const auto& [name, scope] : llama_identities) {
    if (name == "product") {  // its remainder is made from the list
      continue;
    }
    expect_list_rejected(honest, name, scope,
                         [](std::vector<Exception>& list) { list.back().excess += list.back().excess > 0 ? 1 : -1; });
  }
  // t's remainder stays what it was
  Told run = honest;
  Forgery forgery = run.forge();
  Exception& entry = forgery.witness->exceptions[run.list("product")].front();
  entry.excess += entry.excess > 0 ? 1 : -1;
  expect_rejected(run.verdict(forgery), "/feed_forward/gated_mlp/gating");
}

/// The payload with other lists in it.
std::vector<std::uint8_t> with_lists(const Proof& proof, const ExceptionLists& lists) {
  std::vector<std::uint8_t> number, places;
  append_little_endian(number, static_cast<std::uint32_t>(total(counts_of(lists))));
  for (const std::vector<Exception>& list : lists) {
    append_little_endian(places, static_cast<std::uint32_t>(list.size()));
    for (const Exception& entry : list) {
      append_little_endian(places, entry.place);
      append_little_endian(places, entry.excess);
    }
  }
  std::vector<std::uint8_t> payload;
  for (const Message& message : proof.messages) {
    const auto first = proof.payload.begin() + static_cast<std::ptrdiff_t>(message.offset);
    if (message.label == "exceptions") {
      payload.insert(payload.end(), number.begin(), number.end());
    } else if (message.label == "places") {
      payload.insert(payload.end(), places.begin(), places.end());
    } else {
      payload.insert(payload.end(), first, first + static_cast<std::ptrdiff_t>(message.length));
    }
  }
  return payload;
}

/// Fields of the message that no honest prover sends.
TEST(Saturation, MalformedListsAreRejected) {
  const auto expect = [](const Told& run, const Proof& proof, const std::string& name, const std::string& reason,
                         const std::function<void(std::vector<Exception>&)>& lie) {
    SCOPED_TRACE(name + ": " + reason);
    ExceptionLists lists = run.trace.exceptions;
    lie(lists[run.list(name)]);
    const Verdict verdict = verify_inference(run.test.key, run.statement, with_lists(proof, lists));
    EXPECT_FALSE(verdict.accepted);
    EXPECT_EQ(verdict.scope, "/");
    EXPECT_EQ(verdict.reason, reason);
  };
  const Told run = gpt2_run();
  const Proof proof = run.forge().prove();
  expect_accepted(verify_inference(run.test.key, run.statement, with_lists(proof, run.trace.exceptions)));
  const auto sign = [](const Exception& entry) { return entry.excess > 0 ? 1 : -1; };
  expect(run, proof, "mlp", "exceptions are not in order", [](auto& list) { std::swap(list[0], list[1]); });
  expect(run, proof, "mlp", "exceptions are not in order", [&](auto& list) {
    const Exception half{list[0].place, sign(list[0])};
    list[0].excess -= half.excess;
    list.insert(list.begin(), half);
  });
  expect(run, proof, "mlp", "an exception within the range", [](auto& list) { list[0].excess = 0; });
  expect(run, proof, "mlp", "an exception outside its tensor", [](auto& list) { list.push_back({2 * 144 * 16, 1}); });
  expect(run, proof, "x_in", "an exception outside its tensor", [](auto& list) { list.insert(list.begin(), {3, 1}); });
  expect(run, proof, "q", "an exception beyond what rounding leaves", [&](auto& list) {
    const int shift = saturated().model.exponents.shift_q();
    list[0].excess = sign(list[0]) * ((std::int64_t{1} << (62 - shift)) + 1);
  });
  expect(run, proof, "mlp", "more exceptions than the key allows", [](auto& list) {
    list.clear();
    for (std::uint64_t place = 0; place <= default_exceptions; ++place) {
      list.push_back({place, 1});
    }
  });
  const Told far = distant_run();
  const Proof far_proof = far.forge().prove();
  expect(far, far_proof, "far", "an exception within the range", [](auto& list) { list[0].excess = -list[0].excess; });
  expect(far, far_proof, "far", "an exception outside its tensor", [](auto& list) {
    list.insert(list.begin(), {7, 1});  // query 0, key 7: hidden
  });
}

/// Counts that do not add up to the number of entries.
TEST(Saturation, CountsOfListsAddUp) {
  const Told run = gpt2_run();
  const Proof proof = run.forge().prove();
  for (const int by : {1, -1}) {
    std::vector<std::uint8_t> payload = proof.payload;
    for (const Message& message : proof.messages) {
      if (message.label == "places") {
        // the last list's count: its entries are read as one more, or one is left
        const std::size_t last = message.offset + message.length - 4 - 16 * run.trace.exceptions.back().size();
        payload[last] = static_cast<std::uint8_t>(payload[last] + by);
      }
    }
    const Verdict verdict = verify_inference(run.test.key, run.statement, payload);
    EXPECT_EQ(verdict.scope, "/");
    EXPECT_EQ(verdict.reason,
              by > 0 ? "lists of exceptions longer than all of them" : "lists of exceptions shorter than all of them");
  }
}

/// An excess that no small integer is, with a remainder that it repairs: the bound alone is in its way.
TEST(Saturation, AnExcessThatIsNoSmallIntegerIsRejected) {
  Told run = gpt2_run();
  const std::size_t number = run.list("q");
  const ClampedTensor& tensor = run.plan.clamped[number];
  ChunkedTensor<std::uint16_t>& remainders = run.trace[gpt2_qkv(run.plan.qkv).remainder[0]];
  bool told = false;
  for (Exception& entry : run.trace.exceptions[number]) {
    const auto [chunk, inner] = chunk_place(tensor.shape, entry.place);
    std::uint16_t& remainder = remainders.chunk(chunk)[inner];
    for (unsigned bit = 1; bit < 14 && !told; ++bit) {
      const int by = (remainder & (1U << bit)) != 0 ? -(1 << bit) : 1 << bit;
      const F excess =
          F::from_signed(entry.excess) - F::from_signed(by) * two_to_the(static_cast<unsigned>(tensor.shift)).inverse();
      const auto value =
          static_cast<std::int64_t>(excess.value() > F::modulus / 2 ? excess.value() - F::modulus : excess.value());
      if ((value > 0) == (entry.excess > 0)) {
        remainder = static_cast<std::uint16_t>(remainder + by);
        entry.excess = value;
        told = true;
      }
    }
    if (told) {
      break;
    }
  }
  ASSERT_TRUE(told);
  const Verdict verdict = run.verdict();
  expect_rejected(verdict, "/");
  EXPECT_EQ(verdict.reason, "an exception beyond what rounding leaves");
}

/// A value in range is given away for an entry: only the claim that it is at its limit sees it.
TEST(Saturation, AListedValueIsAtItsLimit) {
  struct Lie {
    Stage stage;
    std::string list, scope;
    std::function<void(Trace&, std::uint64_t place, int by)> change;  // of the value in block 1
  };
  const ModelPlan& plan = odd_plan();
  const auto number = [&](const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(plan.clamped, name, &ClampedTensor::name) - plan.clamped.begin());
  };
  const auto change = [&](const auto& tensor, const std::string& name) {
    return [&plan, &tensor, list = number(name)](Trace& trace, std::uint64_t place, int by) {
      const auto [chunk, inner] = chunk_place(plan.clamped[list].shape, place);
      auto& value = trace[tensor].chunk(chunk)[inner];
      value = static_cast<std::decay_t<decltype(value)>>(value + by);
    };
  };
  const std::vector<Lie> lies{
      {Stage::u1, "layer_norm_1/u", "/self_attention/layer_norm/reduce",
       change(layer_norm(plan.norm_1).u, "layer_norm_1/u")},
      {Stage::u2, "layer_norm_2/u", "/feed_forward/layer_norm/reduce",
       change(layer_norm(plan.norm_2).u, "layer_norm_2/u")},
      {Stage::q, "q", "/self_attention/qkv/reduce", change(gpt2_qkv(plan.qkv).value[0], "q")},
      {Stage::k, "k", "/self_attention/qkv/reduce", change(gpt2_qkv(plan.qkv).value[1], "k")},
      {Stage::v, "v", "/self_attention/qkv/reduce", change(gpt2_qkv(plan.qkv).value[2], "v")},
      {Stage::mlp, "mlp", "/feed_forward/mlp/reduce", change(gpt2_mlp(plan.mlp).z, "mlp")},
      {Stage::x_mid, "x_mid", "/self_attention/projection/x_mid/reduce", change(plan.x_mid, "x_mid")},
  };
  for (const Lie& lie : lies) {
    for (const int by : {-1, 3}) {
      SCOPED_TRACE(lie.list + " " + std::to_string(by));
      const ClampedTensor& tensor = plan.clamped[number(lie.list)];
      // block 1, its last row but one, the last token: filler
      const std::uint64_t place = place_count(tensor.shape) - 1 - odd_tokens;
      const Liar liar = lie_at(lie.stage, 1, [&](Trace& trace) {
        lie.change(trace, place, by);
        trace.exceptions[number(lie.list)] = {{place, -by}};
      });
      Forgery forgery(odd_model(), odd_statement(), plan, odd_trace(liar));
      expect_rejected(verify_inference(odd_model().key, odd_statement(), forgery.prove().payload), lie.scope);
    }
  }
}

/// x_in of block 1 and x_end.
TEST(Saturation, AListedResidualIsAtItsLimit) {
  const ModelPlan& plan = odd_plan();
  for (const std::string name : {"x_in", "x_end"}) {
    SCOPED_TRACE(name);
    const auto list =
        static_cast<std::size_t>(std::ranges::find(plan.clamped, name, &ClampedTensor::name) - plan.clamped.begin());
    const bool end = name == "x_end";
    const ClampedTensor& tensor = plan.clamped[list];
    const std::uint64_t place = place_count(tensor.shape) - 1;
    const Liar liar = lie_at(Stage::x_out, end ? 1 : 0, [&](Trace& trace) {
      const auto [chunk, inner] = chunk_place(tensor.shape, place);
      trace[end ? plan.x_end : plan.x_in].chunk(chunk)[inner] += 5;
      trace.exceptions[list] = {{place, -5}};
    });
    Forgery forgery(odd_model(), odd_statement(), plan, odd_trace(liar));
    expect_rejected(verify_inference(odd_model().key, odd_statement(), forgery.prove().payload),
                    "/feed_forward/mlp/" + name + "/reduce");
  }
}

/// A visible key is moved nearer for an entry: e is not 0 where it is listed.
TEST(Saturation, ListedKeysHaveNoWeight) {
  const ModelPlan& plan = odd_plan();
  const AttentionPlan& attention = plan.attention;
  const auto list =
      static_cast<std::size_t>(std::ranges::find(plan.clamped, "far", &ClampedTensor::name) - plan.clamped.begin());
  constexpr std::size_t query = 15;
  constexpr std::int64_t by = 2;                                 // by which it is nearer
  const std::size_t outer = odd_model().model.shape.n_head + 1;  // of block 1
  const std::vector<std::int32_t>& table = odd_model().integers.key.exp_table;
  std::size_t key = 0;
  std::int64_t distance = 0;
  const Liar liar = lie_at(Stage::exponential, 1, [&](Trace& trace) {
    for (;; ++key) {
      ASSERT_LT(key, query);
      distance = trace[attention.row_max].values()[outer * odd_tokens + query] -
                 score_at(trace[attention.score], outer, query, key) - by;
      if (distance > 0 && distance < std::ssize(table) && table[static_cast<std::size_t>(distance)] > 0) {
        break;
      }
    }
    score_at(trace[attention.exponential], outer, query, key) = table[static_cast<std::size_t>(distance)];
  });
  Forgery forgery(odd_model(), odd_statement(), plan, odd_trace(liar));
  const std::uint64_t place = (outer * odd_tokens + query) * odd_tokens + key;
  forgery.witness->exceptions[list] = {{place, by}};
  const auto [chunk, inner] = chunk_place(attention.scores, place);
  forgery.set_input(attention.exponential, chunk, inner, static_cast<std::uint32_t>(distance));
  forgery.recount();
  expect_rejected(verify_inference(odd_model().key, odd_statement(), forgery.prove().payload),
                  "/self_attention/attention/far/reduce");
}

/// A near key is pushed out of sight by an entry that is negative: only its sign is in the way.
TEST(Saturation, KeysAreNotPushedAway) {
  const ModelPlan& plan = odd_plan();
  const AttentionPlan& attention = plan.attention;
  const auto list =
      static_cast<std::size_t>(std::ranges::find(plan.clamped, "far", &ClampedTensor::name) - plan.clamped.begin());
  constexpr std::size_t query = 15, key = 14;
  constexpr std::int64_t away = 70000;                           // where the table has 0
  const std::size_t outer = odd_model().model.shape.n_head + 1;  // of block 1
  std::int64_t distance = 0;
  bool nearest = false;
  const Liar liar = lie_at(Stage::exponential, 1, [&](Trace& trace) {
    distance = trace[attention.row_max].values()[outer * odd_tokens + query] -
               score_at(trace[attention.score], outer, query, key);
    nearest = distance == 0;
    score_at(trace[attention.exponential], outer, query, key) = 0;
  });
  Forgery forgery(odd_model(), odd_statement(), plan, odd_trace(liar));
  ASSERT_FALSE(nearest);
  const std::uint64_t place = (outer * odd_tokens + query) * odd_tokens + key;
  forgery.witness->exceptions[list] = {{place, distance - away}};
  const auto [chunk, inner] = chunk_place(attention.scores, place);
  forgery.set_input(attention.exponential, chunk, inner, static_cast<std::uint32_t>(away));
  forgery.recount();
  const Verdict verdict = verify_inference(odd_model().key, odd_statement(), forgery.prove().payload);
  expect_rejected(verdict, "/");
  EXPECT_EQ(verdict.reason, "an exception within the range");
}

/// Out of range and not clamped.
TEST(Saturation, AValueOutOfRangeIsInNoTable) {
  Told run = gpt2_run();
  const std::size_t number = run.list("mlp");
  const Exception entry = run.trace.exceptions[number].front();
  const auto [chunk, inner] = chunk_place(run.plan.clamped[number].shape, entry.place);
  run.trace.exceptions[number].erase(run.trace.exceptions[number].begin());
  Forgery forgery = run.forge();
  const std::int64_t z = (entry.excess > 0 ? 32767 : -32768) + entry.excess;
  forgery.set_input(gpt2_mlp(run.plan.mlp).gelu, chunk, inner, static_cast<std::uint32_t>(z + 32768));
  forgery.recount();
  expect_rejected(run.verdict(forgery), lookup_scope);
}

TEST(Saturation, MessagesOfListsAreBound) {
  Told run = gpt2_run();
  const Proof proof = run.forge().prove();
  const PayloadVerifier verdict_of(run.test, run.statement);
  std::vector<std::uint8_t> payload = proof.payload;
  expect_accepted(verdict_of(payload));
  std::size_t seen = 0;
  for (const Message& message : proof.messages) {
    if (message.label != "exceptions" && message.label != "places") {
      continue;
    }
    ++seen;
    for (std::size_t i = 0; i < message.length; i += 1 + message.length / 16) {
      payload[message.offset + i] ^= 1;
      EXPECT_FALSE(verdict_of(payload).accepted) << message.label << " " << i;
      payload[message.offset + i] ^= 1;
    }
  }
  EXPECT_EQ(seen, 2U);
  expect_accepted(verdict_of(payload));
}

/// The account of a proof with exceptions is its messages.
TEST(Saturation, AccountIsTheProofMessageByMessage) {
  for (const bool llama : {false, true}) {
    SCOPED_TRACE(llama);
    Told run = llama ? llama_run(2) : gpt2_run();
    const Proof proof = run.forge().prove();
    std::vector<std::vector<std::size_t>> drawn;
    VerifierTranscript transcript(statement_seed(run.test.key, run.statement), proof.payload);
    transcript.set_listener({.draws = [&](const auto& positions) { drawn.push_back(positions); }});
    const ProofClaims claims = verify_all(run.plan, run.test.key, run.statement, transcript);
    std::size_t draw = 0;
    const StatementAccount account = account_of(
        run.plan, run.test.key, [&](std::size_t, unsigned) { return drawn.at(draw++); }, claims.exceptions);
    ASSERT_EQ(proof.messages.size(), account.account.messages.size());
    for (std::size_t i = 0; i < proof.messages.size(); ++i) {
      EXPECT_EQ(proof.messages[i].path, account.account.messages[i].path);
      EXPECT_EQ(proof.messages[i].label, account.account.messages[i].label);
      EXPECT_EQ(proof.messages[i].length, account.account.messages[i].bytes()) << proof.messages[i].label;
    }
    // no proof has less soundness than is said of the statement
    EXPECT_GE(account.account.soundness().union_bits() + 1e-9, soundness_report(run.plan, run.test.key).union_bits());
  }
}

/// A conversation of two parts is one pass over both: states hold clamped keys and values.
TEST(Saturation, ContinuationsAreBound) {
  if (hiding_proofs > 0) {
    GTEST_SKIP() << "hiding keys have no conversations";
  }
  TestModel& test = saturated();
  const Part first = prove_part(test, nullptr, gpt2_prompt, 4, true);
  expect_accepted(verify(test, first));
  Statement statement = statement_after(&first, {3, 250}, true);
  statement.generated.resize(3);
  statement.pass_length = 2;
  const Part second = prove_part(test, &first, std::move(statement));
  const Verdict verdict = verify(test, second);
  expect_accepted(verdict);
  EXPECT_GT(counts(verdict).size(), 3U);
  // one pass over all
  std::vector<std::uint32_t> all = gpt2_prompt;
  all.insert(all.end(), first.statement.generated.begin(), first.statement.generated.end());
  all.insert(all.end(), {3, 250});
  const Told whole(test, all, 3);
  EXPECT_EQ(whole.statement.generated, second.statement.generated);
}

/// Beyond the key's limit inference refuses, with counts by tensor.
TEST(Saturation, MoreThanTheKeyAllowsIsRefused) {
  TestModel test(saturated_gpt2(), hiding_proofs, 20);
  try {
    Told run(test, gpt2_prompt);
    FAIL() << "inferred";
  } catch (const RangeError& error) {
    const std::string message = error.what();
    EXPECT_TRUE(
        message.starts_with("values beyond their ranges: expected at most 20 (the key's limit of exceptions), "
                            "found "))
        << message;
    EXPECT_NE(message.find("mlp "), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace tessera::testing

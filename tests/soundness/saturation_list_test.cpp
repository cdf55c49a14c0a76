// Lists of clamped values: every lie in a list is seen.

#include <gtest/gtest.h>

#include <algorithm>

#include "base/little_endian.hpp"

#include "saturation_runs.hpp"

namespace tessera::test {
namespace {

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

TEST(Saturation, an_entry_left_out_is_seen) {
  const auto leave_out = [](std::vector<Exception>& list) { list.erase(list.begin() + std::ssize(list) / 2); };
  for (const auto& [name, scope] : gpt2_identities) {
    expect_list_rejected(gpt2_run(), name, scope, leave_out);
  }
  expect_list_rejected(distant_run(), "far", lookup_scope, leave_out);
}

TEST(Saturation, an_excess_off_by_one_is_seen) {
  const auto more = [](std::vector<Exception>& list) { list.front().excess += list.front().excess > 0 ? 1 : -1; };
  for (const auto& [name, scope] : gpt2_identities) {
    expect_list_rejected(gpt2_run(), name, scope, more);
  }
  expect_list_rejected(distant_run(), "far", "/self_attention/attention/mask", more);
}

TEST(Saturation, entries_of_llama_are_bound) {
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
TEST(Saturation, malformed_lists_are_rejected) {
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
  const Exponents& e = saturated().model.exponents;
  const int shift = e[wq] + e[scales::u1] - e[scales::q];
  for (const std::int64_t side : {1, -1}) {
    expect(run, proof, "q", "an exception beyond what rounding leaves",
           [&](auto& list) { list[0].excess = side * ((std::int64_t{1} << (62 - shift)) + 1); });
  }
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
TEST(Saturation, counts_of_lists_add_up) {
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
TEST(Saturation, an_excess_that_is_no_small_integer_is_rejected) {
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

/// Out of range and not clamped.
TEST(Saturation, a_value_out_of_range_is_in_no_table) {
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

TEST(Saturation, messages_of_lists_are_bound) {
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

}  // namespace
}  // namespace tessera::test

#include <gmock/gmock.h>

#include <chrono>
#include "archive/hdf5.hpp"
#include "archive/key_file.hpp"
#include "archive/model_file.hpp"
#include "archive/proof_file.hpp"
#include <thread>

#include "samples.hpp"
#include "../files/temporary_directory.hpp"

namespace tessera::test {
namespace {

using ::testing::HasSubstr;

TEST(Hdf5, round_trips_every_kind_of_dataset) {
  const TemporaryDirectory directory;
  const std::vector<std::string> strings = {"", std::string("\0x", 2), "\xff"};
  const std::vector<std::string> texts = {"one", "", "three"};
  Digest digest;
  {
    WriteFile file(directory / "a.h5", "tessera test");
    file.write<std::int16_t>("deep/er/i16", std::vector<std::int16_t>{-1, 2, -32768, 32767, 0, 1}, {2, 3});
    file.write("f32", std::vector<float>{1.5F, -0.0F});
    file.write("empty", std::vector<std::uint64_t>{});
    file.write_scalar("f64", 0.1);
    file.write_text("text", "hello");
    file.write_text("empty_text", "");
    file.write_texts("texts", texts);
    file.write_texts("no_texts", {});
    file.write_strings("strings", strings);
    digest = file.commit();
  }
  const ReadFile file(directory / "a.h5", "tessera test");
  EXPECT_EQ(file.digest(), digest);
  EXPECT_EQ(file.read<std::int16_t>("deep/er/i16", {2, 3}), (std::vector<std::int16_t>{-1, 2, -32768, 32767, 0, 1}));
  std::array<std::int16_t, 2> part{};
  file.read_part("deep/er/i16", {2, 3}, 3, std::span<std::int16_t>(part));
  EXPECT_EQ(part, (std::array<std::int16_t, 2>{32767, 0}));
  EXPECT_THROW(file.read_part("deep/er/i16", {2, 3}, 5, std::span<std::int16_t>(part)), std::logic_error);
  EXPECT_EQ(file.read_list<float>("f32", 2), (std::vector<float>{1.5F, -0.0F}));
  EXPECT_TRUE(file.read_list<std::uint64_t>("empty", 5).empty());
  EXPECT_EQ(file.read_scalar<double>("f64"), 0.1);
  EXPECT_EQ(file.read_text("text", 100), "hello");
  EXPECT_EQ(file.read_text("empty_text", 100), "");
  EXPECT_EQ(file.read_texts("texts", 3, 100), texts);
  EXPECT_TRUE(file.read_texts("no_texts", 3, 100).empty());
  EXPECT_EQ(file.read_strings("strings", 3, 100), strings);
  file.check_all();
  EXPECT_EQ(directory.entries(), 1U);
}

TEST(Hdf5, names_file_field_expected_and_found) {
  const TemporaryDirectory directory;
  {
    WriteFile file(directory / "a.h5", "tessera test");
    file.write("values", std::vector<std::uint32_t>{1, 2, 3});
    file.commit();
  }
  const ReadFile file(directory / "a.h5");
  const auto message = [](auto&& body) -> std::string {
    try {
      body();
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(message([&] { (void)file.read<std::uint32_t>("values", {4}); }),
              HasSubstr("a.h5: values: expected (4), found (3)"));
  EXPECT_THAT(message([&] { (void)file.read<std::uint16_t>("values", {3}); }),
              HasSubstr("values: expected uint16, found uint32"));
  EXPECT_THAT(message([&] { (void)file.read_list<std::uint32_t>("values", 2); }), HasSubstr("at most 2 entries"));
  EXPECT_THAT(message([&] { (void)file.read_list<std::uint32_t>("other", 2); }),
              HasSubstr("other: expected a dataset"));
  EXPECT_THAT(message([&] { const ReadFile wrong(directory / "a.h5", "tessera model"); }),
              HasSubstr("format: expected tessera model, found tessera test"));
  EXPECT_THAT(message([&] { const ReadFile big(directory / "a.h5", "tessera test", 10); }),
              HasSubstr("size: expected at most 10 bytes"));
  EXPECT_THAT(message([&] { const ReadFile none(directory / "none.h5"); }), HasSubstr("none.h5: expected a file"));
  EXPECT_THAT(message([&] { const ReadFile folder(directory.path()); }), HasSubstr("expected a file"));
}

TEST(Files, are_the_same_bytes_for_the_same_content) {
  const TemporaryDirectory directory;
  const Model model = small_model();
  for (const char* const name : {"a", "b"}) {
    save_model(directory / (std::string(name) + ".model"), model);
    save_key(directory / (std::string(name) + ".key"), small_key());
    save_proof(directory / (std::string(name) + ".proof"), small_proof());
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // times in a file would differ
  }
  for (const char* const kind : {".model", ".key", ".proof"}) {
    EXPECT_TRUE(read_bytes(directory / ("a" + std::string(kind))) == read_bytes(directory / ("b" + std::string(kind))))
        << kind;
  }
}

TEST(ModelFile, round_trips) {
  const TemporaryDirectory directory;
  Model model = small_model();
  model.origin = {"GGUF", {{"a.gguf", 123, {1, 2, 3}}, {"b.gguf", 4, {}}}, {{"F32", 25}, {"Q4_K", 96}}};
  save_model(directory / "m.h5", model);
  const Model loaded = load_model(directory / "m.h5");
  EXPECT_EQ(loaded.shape, model.shape);
  EXPECT_EQ(loaded.layer_norm_epsilon, model.layer_norm_epsilon);
  EXPECT_EQ(loaded.exponents, model.exponents);
  EXPECT_EQ(loaded.parameters, model.parameters);
  EXPECT_EQ(loaded.calibration.maxima, model.calibration.maxima);
  EXPECT_EQ(loaded.tokenizer.vocabulary, model.tokenizer.vocabulary);
  EXPECT_EQ(loaded.tokenizer.merges, model.tokenizer.merges);
  EXPECT_EQ(loaded.tokenizer.end_of_text, model.tokenizer.end_of_text);
  EXPECT_EQ(loaded.origin, model.origin);
}

TEST(ModelFile, every_rank_gets_the_rows_that_the_table_gives_it) {
  const TemporaryDirectory directory;
  const Model model = small_model();
  save_model(directory / "m.h5", model);
  constexpr int ranks = 3;
  ByParameter<std::vector<int>> holders;  // of every row
  for (int rank = 0; rank < ranks; ++rank) {
    const Model loaded = load_model(directory / "m.h5", rank, Division::finest(ranks));
    for (const ParameterRow& row : parameter_table(model.shape)) {
      SCOPED_TRACE(row.name);
      const auto& part = loaded.parameters[row.id];
      const auto& whole = model.parameters[row.id];
      EXPECT_EQ(part.held(), row.held_rows(model.shape, rank, Division::finest(ranks)));
      EXPECT_EQ(part.extents(), whole.extents());
      holders[row.id].resize(part.extents().rows);
      for (std::size_t block = 0; block < part.extents().blocks; ++block) {
        for (std::size_t i = 0; i < part.extents().rows; ++i) {
          if (part.held().contains(i)) {
            EXPECT_TRUE(std::ranges::equal(part.block(block).row(i), whole.block(block).row(i))) << i;
            ++holders[row.id][i];
          } else {
            EXPECT_THROW(static_cast<void>(part.block(block).row(i)), std::logic_error) << i;
          }
        }
      }
    }
  }
  for (const ParameterRow& row : parameter_table(model.shape)) {
    EXPECT_THAT(holders[row.id], ::testing::Each(::testing::Gt(0))) << row.name;
  }
}

TEST(ModelFile, parameters_digest_is_of_the_parameters_only) {
  const TemporaryDirectory directory;
  const auto digest_after = [&](auto&& change) {
    Model model = small_model();
    change(model);
    save_model(directory / "m.h5", model);
    return parameters_digest(directory / "m.h5");
  };
  const Digest digest = digest_after([](Model&) {});
  EXPECT_EQ(digest_after([](Model& m) { m.calibration.maxima.clear(); }), digest);
  EXPECT_NE(digest_after([](Model& m) { m.parameters[w1].values()[5] ^= 1; }), digest);
  EXPECT_NE(digest_after([](Model& m) {
              std::ranges::swap_ranges(m.parameters[gamma1].values(), m.parameters[gamma2].values());
            }),
            digest);
}

TEST(ModelFile, refuses_unsupported_shapes_and_exponents) {
  const TemporaryDirectory directory;
  const auto load_changed = [&](auto&& change) {
    Model model = small_model();
    change(model);
    save_model(directory / "m.h5", model);
    return load_model(directory / "m.h5");
  };
  EXPECT_NO_THROW(load_changed([](Model&) {}));
  EXPECT_THROW(load_changed([](Model& m) { m.shape.n_head = 5; }), InputError);
  EXPECT_THROW(load_changed([](Model& m) { m.shape.n_head = 0; }), InputError);
  EXPECT_THROW(load_changed([](Model& m) { m.exponents[wq] = 40; }), InputError);
  EXPECT_THROW(load_changed([](Model& m) { m.exponents[scales::residual] = 13; }), InputError);
  EXPECT_THROW(load_changed([](Model& m) { m.layer_norm_epsilon = -1; }), InputError);
  EXPECT_THROW(load_changed([](Model& m) { m.layer_norm_epsilon = std::nan(""); }), InputError);
  EXPECT_THROW(load_changed([](Model& m) { m.layer_norm_epsilon = 300; }), InputError);
  EXPECT_THROW(load_changed([](Model& m) { m.tokenizer.end_of_text = 30; }), InputError);
  EXPECT_THROW(load_changed([](Model& m) { m.tokenizer.vocabulary.pop_back(); }), InputError);
}

TEST(ModelFile, tokenizers_round_trip) {
  const TemporaryDirectory directory;
  for (const auto kind : {TokenizerModel::gpt2, TokenizerModel::byte_level, TokenizerModel::byte_fallback,
                          TokenizerModel::tied_fallback}) {
    Model model = small_model();
    model.shape.n_vocab = 300;
    model.parameters = Parameters(model.shape);
    const auto reload = [&](auto&& change) {
      model.tokenizer = large_tokenizer(kind);
      change(model.tokenizer);
      save_model(directory / "m.h5", model);
      return load_model(directory / "m.h5").tokenizer;
    };
    const TokenizerData loaded = reload([](TokenizerData&) {});
    EXPECT_EQ(loaded, model.tokenizer);
    if (kind != TokenizerModel::gpt2) {
      const TokenizerData stripping =
          reload([](TokenizerData& data) { data.added_lstrip = data.added_rstrip = {260}; });
      EXPECT_EQ(stripping, model.tokenizer);
      EXPECT_THROW(reload([](TokenizerData& data) { data.added_rstrip = {256}; }), InputError);
      EXPECT_THROW(reload([](TokenizerData& data) { data.added.push_back(300); }), InputError);
      EXPECT_THROW(reload([](TokenizerData& data) { data.prefix.assign(17, 259); }), InputError);
      EXPECT_THROW(reload([](TokenizerData& data) { data.split = Split::metaspace_always; }), InputError);
      EXPECT_THROW(reload([](TokenizerData& data) { data.byte_tokens = {1}; }), InputError);
      EXPECT_THROW(reload([](TokenizerData& data) { data.tied.assign(2, 1); }), InputError);
    }
  }
}

TEST(ProofFile, round_trips) {
  const TemporaryDirectory directory;
  const ProofArchive proof = small_proof();
  save_proof(directory / "p.h5", proof);
  const ProofArchive loaded = load_proof(directory / "p.h5");
  EXPECT_EQ(loaded.statement, proof.statement);
  EXPECT_EQ(loaded.payload, proof.payload);
  EXPECT_EQ(loaded.key_digest, proof.key_digest);
  EXPECT_EQ(loaded.text, proof.text);
  EXPECT_EQ(loaded.configuration, proof.configuration);
  EXPECT_EQ(loaded.timings, proof.timings);
  EXPECT_EQ(loaded.memory_measure, proof.memory_measure);
  EXPECT_EQ(loaded.machine, proof.machine);
  EXPECT_EQ(loaded.ranks, proof.ranks);
  EXPECT_EQ(loaded.communication, proof.communication);
  EXPECT_EQ(loaded.ownership, proof.ownership);
  EXPECT_EQ(loaded.hosts, proof.hosts);
  ASSERT_EQ(loaded.soundness.entries.size(), 2U);
  EXPECT_EQ(loaded.soundness.entries[1].reason, "poles");
  EXPECT_EQ(loaded.soundness.entries[1].bits, 100.25);
}

TEST(ProofFile, needs_no_measures_of_ranks) {
  const TemporaryDirectory directory;
  ProofArchive proof = small_proof();
  proof.ranks.clear();
  save_proof(directory / "p.h5", proof);
  EXPECT_FALSE(ReadFile(directory / "p.h5", proof_format).contains("information/ranks/seconds"));
  EXPECT_TRUE(load_proof(directory / "p.h5").ranks.empty());
  // more than would be read: the proof is worth more than they are
  proof.ranks.assign((1 << 18) + 1, small_proof().ranks.front());
  save_proof(directory / "p.h5", proof);
  EXPECT_TRUE(load_proof(directory / "p.h5").ranks.empty());
}

TEST(ProofFile, refuses_information_of_another_number_of_ranks) {
  const TemporaryDirectory directory;
  const auto message_of = [&](const auto& change) {
    ProofArchive proof = small_proof();
    change(proof);
    save_proof(directory / "p.h5", proof);
    try {
      (void)load_proof(directory / "p.h5");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message_of([](ProofArchive& proof) { proof.hosts.pop_back(); }),
              testing::HasSubstr("information/machine/host: expected 2 entries, found 1"));
  EXPECT_EQ(message_of([](ProofArchive& proof) {
              proof.hosts.clear();  // an older file: it does not say
              proof.communication.clear();
              proof.ownership.clear();
            }),
            "");
}

TEST(ProofFile, refuses_lengths_that_no_pass_has) {
  const TemporaryDirectory directory;
  const auto error_of = [&](std::uint32_t length) -> std::string {
    WriteFile file(directory / "p.h5", proof_format);
    file.write("payload", std::vector<std::uint8_t>{1});
    file.write("statement/prompt", std::vector<std::uint32_t>{1});
    file.write("statement/generated", std::vector<std::uint32_t>{1});
    file.write_scalar("statement/pass_length", length);
    (void)file.commit();
    try {
      (void)load_proof(directory / "p.h5");
      return "accepted";
    } catch (const InputError& error) {
      return error.what();
    }
  };
  for (const std::uint32_t length : {0U, 3U, 127U, 129U, 256U, 1U << 31, ~0U}) {
    EXPECT_THAT(error_of(length), HasSubstr("statement/pass_length: expected a power of two from 1 to 128, or nothing, "
                                            "found " +
                                            std::to_string(length)));
  }
  for (const std::uint32_t length : {1, 128}) {
    EXPECT_THAT(error_of(length), HasSubstr("key_digest"));  // the next one that is missing
    ProofArchive proof = small_proof();
    proof.statement.pass_length = length;
    save_proof(directory / "p.h5", proof);
    EXPECT_EQ(load_proof(directory / "p.h5").statement, proof.statement);
  }
}

TEST(ProofFile, says_how_tokens_are_drawn) {
  const TemporaryDirectory directory;
  ProofArchive proof = small_proof();
  EXPECT_FALSE(proof.statement.sampling);
  proof.statement.sampling = Sampling{5851, 40, 62259, 12000, {1, 2, 3}};
  save_proof(directory / "p.h5", proof);
  EXPECT_EQ(load_proof(directory / "p.h5").statement, proof.statement);
}

TEST(ProofFile, bounds_its_lists) {
  const TemporaryDirectory directory;
  ProofArchive proof = small_proof();
  proof.statement.prompt.resize(4097);
  save_proof(directory / "p.h5", proof);
  EXPECT_THROW(load_proof(directory / "p.h5"), InputError);
  proof = small_proof();
  proof.payload.resize(max_payload_bytes + 1);
  save_proof(directory / "p.h5", proof);
  EXPECT_THROW(load_proof(directory / "p.h5"), InputError);
}

}  // namespace
}  // namespace tessera::test

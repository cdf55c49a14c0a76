// tessera._tessera: what the package in tessera/ is written on. It has plain values only (bytes, str, float, tuples);
// arrays and documentation are the package's.
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include <tessera/expected.hpp>
#include <tessera/sampling.hpp>

#include "api/names.hpp"
#include "archive/isolated.hpp"
#include "archive/isolated_archive.hpp"
#include "archive/renewal_file.hpp"
#include "arrays.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "cli/verify_chat.hpp"
#include "protocol/protocol.hpp"
#include "protocol/renewal.hpp"
#include "tokenizer/decode.hpp"

namespace nb = nanobind;

namespace tessera::python {
namespace {

/// A file is read by a forked process, in which whatever other threads hold stays locked, such as a static that is
/// being made. So nothing is verified meanwhile: verifying shares this, without Python's lock; reading has it alone,
/// with Python's lock, which keeps anything from beginning.
std::shared_mutex at_work;

template <class Read>
auto read_alone(Read read) {
  const std::unique_lock alone(at_work);
  return read();
}

/// A key, read and checked once.
struct Key : IdentifiedKey {
  std::shared_ptr<const Tokenizer> tokenizer = {};  // made when a text is first to be split, which takes a while
};

using Path = std::filesystem::path;

/// ConversationState: root, length, last token.
using State = std::tuple<nb::bytes, std::uint64_t, std::uint32_t>;

std::optional<State> given(const std::optional<ConversationState>& state) {
  return state ? std::optional(State(raw<std::uint8_t>(state->root), state->length, state->last_token)) : std::nullopt;
}

std::optional<ConversationState> taken(const std::optional<State>& state) {
  if (!state) {
    return std::nullopt;
  }
  const std::span<const std::uint8_t> root = bytes_in(std::get<0>(*state));
  ConversationState result{{}, std::get<1>(*state), std::get<2>(*state)};
  if (root.size() != result.root.size()) {
    throw InputError("state: root: expected " + std::to_string(result.root.size()) + " bytes, found " +
                     std::to_string(root.size()));
  }
  std::ranges::copy(root, result.root.begin());
  return result;
}

/// What becomes known of a proof.
struct Judgement {
  Verdict verdict;
  SoundnessBits soundness;  // of an accepted proof
};

Judgement judge(const IdentifiedKey& key, const ProofArchive& proof, const std::optional<ConversationState>& before) {
  Judgement judgement;
  judgement.verdict =
      tessera::judge(key, proof.key_digest, proof.statement, proof.payload, {before.has_value(), before});
  if (judgement.verdict.accepted) {
    const SoundnessReport report = soundness_report(ModelPlan::of(key.key, proof.statement), key.key);
    judgement.soundness = {report.round_by_round_bits(), report.union_bits()};
  }
  return judgement;
}

/// Other threads run meanwhile: nothing in it touches Python.
Judgement judge_aside(const Key& key, const ProofArchive& proof, const std::optional<State>& before) {
  const std::optional<ConversationState> start = taken(before);
  const nb::gil_scoped_release aside;
  const std::shared_lock with_others(at_work);
  return judge(key, proof, start);
}

const std::shared_ptr<const Tokenizer>& tokenizer_of(Key& key) {
  if (!key.tokenizer) {  // no other thread is here: Python's lock is held
    key.tokenizer = std::make_shared<const Tokenizer>(key.key.tokenizer);
  }
  return key.tokenizer;
}

nb::bytes encode_messages(Key& key, const std::string& messages, const std::optional<std::uint32_t>& after,
                          const std::string& python) {
  const std::shared_ptr<const Tokenizer> tokenizer = tokenizer_of(key);
  std::vector<std::uint32_t> ids;
  {
    const nb::gil_scoped_release aside;
    const std::shared_lock with_others(at_work);
    ids = cli::ids_of_message_text(*tokenizer, messages, after, python);
  }
  return raw<std::uint32_t>(ids);
}

/// An expected prompt: its kind, source and ids.
using PromptExpectation = std::tuple<std::string, std::string, nb::bytes>;
/// Expected parameters, seed, commitment and opening.
using SamplingExpectation = std::tuple<std::string, std::string, std::string, std::string>;

std::optional<std::string> unexpected_in(const ProofArchive& proof, const std::optional<PromptExpectation>& prompt,
                                         const SamplingExpectation& sampling) {
  const auto& [parameters, seed, commitment, opening] = sampling;
  Expected expected{{}, {parameters, seed, commitment, opening}};
  if (prompt) {
    const auto& [kind, source, ids] = *prompt;
    expected.prompt = {ids_in(ids),
                       kind == "text"  ? PromptKind::text
                       : kind == "ids" ? PromptKind::ids
                                       : PromptKind::messages,
                       source};
  }
  return unexpected(expected, proof.statement);
}

Judgement judge_renewal_aside(const Key& key, const Renewal& renewal) {
  const nb::gil_scoped_release aside;
  const std::shared_lock with_others(at_work);
  return {verify_renewal(key, renewal.old_key, renewal.key, renewal.payload), {}};
}

template <class Entry, class Value>
nb::bytes column(const std::vector<Entry>& entries, Value Entry::*member) {
  std::vector<Value> values;
  for (const Entry& entry : entries) {
    values.push_back(entry.*member);
  }
  return raw<Value>(values);
}

template <class Entry>
Texts text_column(const std::vector<Entry>& entries, std::string Entry::*member) {
  std::vector<std::string_view> values;
  for (const Entry& entry : entries) {
    values.emplace_back(entry.*member);
  }
  return texts(values);
}

/// Row by row: ranks x scopes.
template <class Value>
nb::bytes rank_rows(const std::vector<RankInfo>& ranks, std::vector<Value> RankInfo::*member) {
  std::vector<Value> values;
  for (const RankInfo& rank : ranks) {
    values.insert(values.end(), (rank.*member).begin(), (rank.*member).end());
  }
  return raw<Value>(values);
}

void declare_key(nb::module_& module) {
  nb::class_<Key>(module, "Key")
      .def_prop_ro("digest", [](const Key& key) { return raw<std::uint8_t>(key.digest); })
      .def_prop_ro("chat_template", [](const Key& key) { return text(key.key.tokenizer.chat.text); })
      .def("decode", [](const Key& key, const nb::bytes& ids) { return text(decode(key.key.tokenizer, ids_in(ids))); })
      .def("encode",
           [](Key& key, const std::string& prompt, bool begins) {
             const Tokenizer& tokenizer = *tokenizer_of(key);
             return raw<std::uint32_t>(begins ? tokenizer.encode_prompt(prompt) : tokenizer.encode(prompt));
           })
      .def("encode_messages", &encode_messages, nb::arg("messages"), nb::arg("after").none(), nb::arg("python"));
  module.def(
      "read_key", [](const Path& file) { return Key{read_alone([&] { return load_key_isolated(file); })}; },
      nb::sig("def read_key(file: os.PathLike[str]) -> Key"));
  module.def("read_key_bytes", [](const nb::bytes& file) {
    return Key{read_alone([&] { return load_key_isolated(key_name, bytes_in(file)); })};
  });
}

void declare_information(nb::class_<ProofArchive>& proof) {
  using P = ProofArchive;
  proof.def_prop_ro("text", [](const P& p) { return text(p.text); })
      .def_prop_ro("configuration", [](const P& p) { return text(p.configuration); })
      .def_prop_ro("memory_measure", [](const P& p) { return text(p.memory_measure); })
      .def_prop_ro("round_scopes", [](const P& p) { return text_column(p.soundness.entries, &SoundnessEntry::scope); })
      .def_prop_ro("round_reasons",
                   [](const P& p) { return text_column(p.soundness.entries, &SoundnessEntry::reason); })
      .def_prop_ro("round_bits", [](const P& p) { return column(p.soundness.entries, &SoundnessEntry::bits); })
      .def_prop_ro("scopes", [](const P& p) { return text_column(p.timings, &ScopeTiming::scope); })
      .def_prop_ro("seconds", [](const P& p) { return column(p.timings, &ScopeTiming::seconds); })
      .def_prop_ro("peak_memory", [](const P& p) { return column(p.timings, &ScopeTiming::peak_memory); })
      .def_prop_ro("machine",
                   [](const P& p) { return std::tuple(p.machine.ranks, p.machine.threads, p.machine.peak_memory); })
      .def_prop_ro("processors", [](const P& p) { return text_column(p.ranks, &RankInfo::processor); })
      .def_prop_ro("rank_seconds", [](const P& p) { return rank_rows(p.ranks, &RankInfo::seconds); })
      .def_prop_ro("rank_peak_memory", [](const P& p) { return rank_rows(p.ranks, &RankInfo::peak_memory); });
}

void declare_proof(nb::module_& module) {
  using P = ProofArchive;
  nb::class_<P> proof(module, "Proof");
  proof.def_prop_ro("prompt", [](const P& p) { return raw<std::uint32_t>(p.statement.prompt); })
      .def_prop_ro("generated", [](const P& p) { return raw<std::uint32_t>(p.statement.generated); })
      .def_prop_ro("start", [](const P& p) { return given(p.statement.start); })
      .def_prop_ro("keeps", [](const P& p) { return p.statement.keeps; })
      .def_prop_ro("pass_length", [](const P& p) { return p.statement.pass_length; })
      .def_prop_ro("sampling",
                   [](const P& p) -> std::optional<std::tuple<double, std::uint32_t, double, double, nb::bytes>> {
                     if (!p.statement.sampling) {
                       return std::nullopt;
                     }
                     const SamplingParameters parameters = parameters_of(*p.statement.sampling);
                     return std::tuple(parameters.temperature, parameters.top_k, parameters.top_p, parameters.min_p,
                                       raw<std::uint8_t>(p.statement.sampling->seed));
                   })
      .def_prop_ro("payload", [](const P& p) { return raw<std::uint8_t>(p.payload); })
      .def_prop_ro("key_digest", [](const P& p) { return raw<std::uint8_t>(p.key_digest); });
  declare_information(proof);
  module.def(
      "read_proof", [](const Path& file) { return read_alone([&] { return load_archive_isolated(file); }); },
      nb::sig("def read_proof(file: os.PathLike[str]) -> Proof"));
  module.def("read_proof_bytes", [](const nb::bytes& file) {
    return read_alone([&] { return load_archive_isolated(proof_name, bytes_in(file)); });
  });
}

void declare_renewal(nb::module_& module) {
  nb::class_<Renewal>(module, "Renewal")
      .def_prop_ro("old_key_digest", [](const Renewal& renewal) { return raw<std::uint8_t>(renewal.old_key); })
      .def_prop_ro("key_digest", [](const Renewal& renewal) { return raw<std::uint8_t>(renewal.key.digest); })
      .def("new_key", [](const Renewal& renewal) { return Key{renewal.key}; });
  module.def(
      "read_renewal", [](const Path& file) { return read_alone([&] { return load_renewal_isolated(file); }); },
      nb::sig("def read_renewal(file: os.PathLike[str]) -> Renewal"));
  module.def("read_renewal_bytes", [](const nb::bytes& file) {
    return read_alone([&] { return load_renewal_isolated(renewal_name, bytes_in(file)); });
  });
}

void declare_verdict(nb::module_& module) {
  using J = Judgement;
  nb::class_<J>(module, "Judgement")
      .def_prop_ro("accepted", [](const J& j) { return j.verdict.accepted; })
      .def_prop_ro("scope", [](const J& j) { return one_line(j.verdict.scope); })
      .def_prop_ro("reason", [](const J& j) { return one_line(j.verdict.reason); })
      .def_prop_ro("seconds", [](const J& j) { return j.verdict.timings; })
      .def_prop_ro("kept", [](const J& j) { return given(j.verdict.kept); })
      .def_prop_ro("clamped",
                   [](const J& j) {
                     std::map<std::string, std::uint64_t> counts;
                     for (const ClampedValues& values : j.verdict.clamped) {
                       counts[values.tensor] = values.count;
                     }
                     return counts;
                   })
      .def_prop_ro("ended_by", [](const J& j) { return j.verdict.ended_by; })
      .def_prop_ro("soundness", [](const J& j) { return std::tuple(j.soundness.least, j.soundness.sum); });
  module.def("unexpected", &unexpected_in, nb::arg("proof"), nb::arg("prompt").none(), nb::arg("sampling"));
  module.def("check_sampling", [](const SamplingExpectation& sampling) {
    const auto& [parameters, seed, commitment, opening] = sampling;
    ExpectedSampling expected{parameters, seed, commitment, opening};
    check_expected(expected);
  });
  module.def("judge", &judge_aside, nb::arg("key"), nb::arg("proof"), nb::arg("before").none());
  module.def("judge_renewal", &judge_renewal_aside, nb::arg("key"), nb::arg("renewal"));
}

void raise(const char* name, const char* message) {
  const nb::object type = nb::module_::import_("tessera.errors").attr(name);
  PyErr_SetString(type.ptr(), one_line(message).c_str());
}

void translate(const std::exception_ptr& error, void* /*nothing*/) {
  try {
    std::rethrow_exception(error);
  } catch (const InputError& unusable) {
    raise("UnusableInput", unusable.what());
  } catch (const JobError& failed) {
    raise("JobFailed", failed.what());
  }
}

}  // namespace
}  // namespace tessera::python

NB_MODULE(_tessera, module) {
  using namespace tessera::python;
  nb::register_exception_translator(&translate);
  declare_key(module);
  declare_proof(module);
  declare_renewal(module);
  declare_verdict(module);
  module.attr("format_version") = tessera::format_version;
}

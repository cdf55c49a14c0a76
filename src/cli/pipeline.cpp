#include "pipeline.hpp"

namespace tessera::cli {
namespace {

[[noreturn]] void not_wired(const char* what) { throw std::logic_error(std::string(what) + ": not wired"); }

}  // namespace

Imported import_model(const std::filesystem::path& /*checkpoint*/, const std::optional<std::string>& /*text*/,
                      const std::optional<Exponents>& /*exponents*/, Progress& /*progress*/) {
  not_wired("import_model");
}

Evaluation evaluate_model(const Model& /*model*/, const FloatModel* /*original*/, const std::string& /*text*/,
                          Communicator& /*comm*/, Progress& /*progress*/) {
  not_wired("evaluate_model");
}

VerifyingKey commit_model(const Model& /*model*/, const std::filesystem::path& /*directory*/, Communicator& /*comm*/,
                          Progress& /*progress*/) {
  not_wired("commit_model");
}

std::vector<std::uint32_t> encode_text(const Model& /*model*/, const std::string& /*text*/) {
  not_wired("encode_text");
}

ProofArchive prove_model(const Model& /*model*/, const VerifyingKey& /*key*/, CodewordStore& /*parameters*/,
                         const JobPlan& /*plan*/, Communicator& /*comm*/, Progress& /*progress*/) {
  not_wired("prove_model");
}

}  // namespace tessera::cli

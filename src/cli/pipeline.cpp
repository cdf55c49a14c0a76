#include "cli/pipeline.hpp"

#include <fstream>
#include <iterator>

#include "float_model/float_model.hpp"
#include "integer_model/integer_model.hpp"
#include "tokenizer/tokenizer.hpp"

namespace tessera::cli {
std::string read_text_file(const std::string& path) {
  std::ifstream stream;
  if (!std::filesystem::is_directory(path)) {
    stream.open(path, std::ios::binary);
  }
  std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (!stream.is_open() || stream.bad()) {
    throw InputError(path + ": expected a readable text file, found none");
  }
  return text;
}

std::string read_edited_text_file(const std::string& path) {
  std::string text = read_text_file(path);
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    throw InputError(path + ": expected a text file in UTF-8, found one in UTF-16");
  }
  constexpr std::string_view mark = "\xef\xbb\xbf";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

Evaluation evaluate_model(const Model& model, const FloatModel* original, const std::string& text, Communicator& comm,
                          Progress& progress) {
  const std::vector<std::uint32_t> tokens = Tokenizer(model.tokenizer).encode_prompt(text);
  if (tokens.size() < 2) {
    throw InputError("--text: expected at least two tokens, found " + std::to_string(tokens.size()));
  }
  Evaluation result;
  result.windows = (tokens.size() + model.shape.n_positions - 1) / model.shape.n_positions;
  std::optional<FloatTransformer> transformer;
  if (original != nullptr && comm.rank() == 0) {
    transformer.emplace(*original);
  }
  progress.begin("evaluating");
  result.comparison =
      compare_models(integer_model(model), transformer ? &*transformer : nullptr, tokens, comm, progress.updates());
  return result;
}

}  // namespace tessera::cli

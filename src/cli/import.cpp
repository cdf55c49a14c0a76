#include <cstring>
#include <iostream>
#include "archive/hdf5.hpp"
#include "archive/library_image.hpp"
#include "archive/key_file.hpp"
#include "archive/model_file.hpp"
#include "base/heap.hpp"
#include "base/text.hpp"

#include "cli/command.hpp"
#include "cli/pipeline.hpp"
#include "integer_model/import.hpp"

namespace tessera::cli {
namespace {

void append(std::vector<std::uint8_t>& bytes, const void* values, std::size_t size) {
  const std::size_t before = bytes.size();
  bytes.resize(before + size);
  std::memcpy(bytes.data() + before, values, size);
}

/// What comes back of the process that reads a file: exponents, widths and context, then the powers of every place.
std::vector<std::uint8_t> encode(const ModelShape& shape, const ImportChoices& choices) {
  std::vector<std::uint8_t> bytes;
  append(bytes, &shape.layers.positions, sizeof shape.layers.positions);
  append(bytes, &choices.exponents, sizeof choices.exponents);
  append(bytes, &choices.widths, sizeof choices.widths);
  append(bytes, &choices.n_positions, sizeof choices.n_positions);
  for (const auto& [place, powers] : choices.equalisation) {
    const std::uint64_t sizes[] = {place.size(), powers.size()};
    append(bytes, sizes, sizeof sizes);
    append(bytes, place.data(), place.size());
    append(bytes, powers.data(), powers.size() * sizeof powers.front());
  }
  return bytes;
}

class RestReader {
 public:
  RestReader(std::span<const std::uint8_t> rest, const std::string& path) : rest_(rest), path_(path) {}
  void take(void* values, std::size_t size) {
    if (size > rest_.size()) {
      throw InputError(path_ + ": expected choices of an import, found other bytes");
    }
    std::memcpy(values, rest_.data(), size);
    rest_ = rest_.subspan(size);
  }
  [[nodiscard]] std::size_t left() const { return rest_.size(); }

 private:
  std::span<const std::uint8_t> rest_;
  const std::string& path_;
};

ImportChoices decode(std::span<const std::uint8_t> encoded, const std::string& path) {
  RestReader bytes(encoded, path);
  Positions positions{};
  ImportChoices choices;
  bytes.take(&positions, sizeof positions);
  bytes.take(&choices.exponents, sizeof choices.exponents);
  bytes.take(&choices.widths, sizeof choices.widths);
  bytes.take(&choices.n_positions, sizeof choices.n_positions);
  while (bytes.left() > 0) {
    std::uint64_t sizes[2] = {};
    bytes.take(sizes, sizeof sizes);
    if (sizes[0] > bytes.left() || sizes[1] > bytes.left()) {
      throw InputError(path + ": expected choices of an import, found other bytes");
    }
    std::string place(sizes[0], '\0');
    std::vector<std::int16_t> powers(sizes[1]);
    bytes.take(place.data(), place.size());
    bytes.take(powers.data(), powers.size() * sizeof(std::int16_t));
    choices.equalisation.emplace(std::move(place), std::move(powers));
  }
  if (positions == Positions::learned) {
    choices.n_positions = 0;  // the checkpoint's own
  }
  return choices;
}

/// Choices of the import of a key or of another model file, which are mostly somebody else's.
ImportChoices load_choices(const std::string& path) {
  const auto read = [&path] {
    if (ReadFile(path).format() == key_format) {
      const VerifyingKey key = load_key(path);
      if (key.hiding_proofs > 0 && key.shape.rotary()) {
        throw InputError(path +
                         ": expected a model or a plain key, found a hiding key, which does not say the powers " +
                         "of equalisation");
      }
      return encode(key.shape, {key.exponents, key.widths, key.equalisation, key.shape.n_positions});
    }
    const Model model = load_model(path);
    return encode(model.shape, {model.exponents, model.widths, model.equalisation, model.shape.n_positions});
  };
  return decode(read_isolated_by_library(path, read, IsolationLimits::for_whole(path)), path);
}

}  // namespace

void run(const ImportCommand& options, Context& context) {
  keep_freed_heap();
  ImportOptions choices;
  choices.progress = context.progress.updates();
  choices.note = [&](const std::string& note) { context.progress.note(one_line(note)); };
  choices.context = options.context;
  choices.margin = options.margin;
  if (!options.width.empty()) {
    choices.product_bits = static_cast<std::uint32_t>(std::stoul(options.width.substr(2)));  // t=...
  }
  if (!options.calibrate.empty()) {
    choices.calibration_text = read_text_file(options.calibrate);
  }
  if (!options.exponents.empty()) {
    choices.choices = load_choices(options.exponents);
  }
  ModelWriter writer(options.out);  // an unwritable target is better found now
  choices.keep_float_model = false;
  context.progress.begin(choices.choices ? "reading checkpoint" : "calibrating");
  const ImportedModel imported = import_model(options.checkpoint, choices);
  context.progress.begin("writing " + options.out);
  const Digest digest = writer.commit(imported.model);
  context.progress.finish();
  std::cout << one_line(options.out) << ": digest " << to_hex(digest) << '\n';
}

}  // namespace tessera::cli

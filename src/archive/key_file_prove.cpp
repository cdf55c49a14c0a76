#include "archive/hdf5.hpp"
#include "archive/key_file.hpp"
#include "integer_model/model.hpp"

#include "archive/naming.hpp"
#include "archive/tokenizer_fields.hpp"

namespace tessera {
void write_merges(WriteFile& file, const std::string& name, const std::vector<Merge>& merges) {
  std::vector<std::uint32_t> ids;
  for (const Merge& merge : merges) {
    ids.insert(ids.end(), {merge.left, merge.right});
  }
  file.write(name, std::span<const std::uint32_t>(ids), {merges.size(), 2});
}

Digest save_key(const std::filesystem::path& path, const VerifyingKey& key) {
  const std::vector<std::uint8_t> bytes = key.encode();
  (void)VerifyingKey::decode(bytes);  // a key that nobody could read is refused here
  WriteFile file(path, key_format);
  file.write("key", bytes);
  const Digest digest = blake2s(bytes);
  file.write("information/key_digest", std::span<const std::uint8_t>(digest), {digest.size()});
  file.write("information/parameter_root", std::span<const std::uint8_t>(key.parameter_root), {digest.size()});
  file.write_scalar<std::uint32_t>("information/parameter_oracle/log_rows", key.parameter_oracle.log_rows);
  file.write_scalar<std::uint32_t>("information/parameter_oracle/log_inverse_rate",
                                   key.parameter_oracle.log_inverse_rate);
  file.write_scalar<std::uint32_t>("information/parameter_oracle/absent_rows", key.parameter_oracle.absent_rows);
  file.write_text("information/layers", layers_text(key.shape));
  for_each_size(key.shape, [&](std::string_view name, std::size_t size) {
    file.write_scalar<std::uint64_t>("information/shape/" + std::string(name), size);
  });
  for_each_flag(key.shape, [&](std::string_view name, bool flag) {
    file.write_scalar<std::uint8_t>("information/shape/" + std::string(name), flag ? 1 : 0);
  });
  file.write_scalar<std::int64_t>("information/epsilon", key.epsilon);
  for_each_width(key.shape, key.widths, [&](std::string_view name, std::uint32_t width) {
    file.write_scalar("information/" + std::string(name), width);
  });
  for_each_exponent(key.shape, key.exponents, [&](std::string_view name, std::int32_t value) {
    file.write_scalar("information/exponents/" + std::string(name), value);
  });
  file.write("information/exp_table", key.exp_table);
  file.write("information/gelu_table", key.gelu_table);
  if (key.shape.score_cap) {
    file.write("information/cap_table", key.cap_table);
  }
  if (is_gpt2(key.tokenizer)) {
    file.write_text("information/tokenizer/kind", name_of(key.tokenizer.model));
    file.write_text("information/tokenizer/pre_tokenizer", name_of(key.tokenizer.split));
  }
  write_tokenizer_fields(file, "information/tokenizer/", key.tokenizer);
  file.write_strings("information/tokenizer/vocabulary", key.tokenizer.vocabulary);
  write_merges(file, "information/tokenizer/merges", key.tokenizer.merges);
  file.write_scalar<std::uint32_t>("information/tokenizer/end_of_text", key.tokenizer.end_of_text);
  file.write_scalar<std::uint32_t>("information/tokenizer/filler", key.filler);
  return file.commit();
}

VerifyingKey load_key(const std::filesystem::path& path) {
  return naming(path,
                [&] { return VerifyingKey::decode(read_key_bytes(ReadFile(path, key_format, max_key_file_bytes))); });
}

}  // namespace tessera

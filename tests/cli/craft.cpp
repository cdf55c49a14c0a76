#include <hdf5.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include "archive/gathered_file.hpp"
#include "archive/hdf5.hpp"
#include "archive/key_file.hpp"
#include "archive/model_file.hpp"
#include "archive/proof_file.hpp"

/// \file
/// Makes well-formed files with false contents, and hostile ones, for the tests of the programs: `craft KIND ...`.

namespace tessera::test {
namespace {

using Arguments = std::vector<std::string>;

/// IN OUT NAME DELTA: a model whose exponent NAME is off by DELTA.
void exponent(const Arguments& a) {
  Model model = load_model(a.at(0));
  for_each_exponent(model.shape, model.exponents, [&](std::string_view name, std::int32_t& value) {
    value += name == a.at(2) ? std::stoi(a.at(3)) : 0;
  });
  save_model(a.at(1), model);
}

/// IN OUT N: a hiding key that claims to be good for N proofs.
void uses(const Arguments& a) {
  VerifyingKey key = load_key(a.at(0));
  key.hiding_proofs = std::stoull(a.at(2));
  save_key(a.at(1), key);
}

/// IN OUT: a model with one parameter off by one: same shape, exponents and tables.
void parameter(const Arguments& a) {
  Model model = load_model(a.at(0));
  model.parameters[wo].values()[5] ^= 1;
  save_model(a.at(1), model);
}

/// IN OUT: a model whose MLP gets values that leave their range.
void overflow(const Arguments& a) {
  Model model = load_model(a.at(0));
  std::ranges::fill(model.parameters[gamma2].values(), std::int16_t{32767});
  std::uint16_t bits = 0;
  for (std::int16_t& weight : model.parameters[w1].values()) {
    weight = static_cast<std::int16_t>(bits += 7919);
  }
  save_model(a.at(1), model);
}

/// IN OUT OFFSET: a proof file that is in order but for one payload byte; OFFSET counts from the end if negative.
void payload(const Arguments& a) {
  ProofArchive proof = load_proof(a.at(0));
  const long offset = std::stol(a.at(2));
  const std::size_t at =
      offset < 0 ? proof.payload.size() - static_cast<std::size_t>(-offset) : static_cast<std::size_t>(offset);
  proof.payload.at(at) ^= 1;
  save_proof(a.at(1), proof);
}

/// IN OUT: a proof file with another generated token.
void token(const Arguments& a) {
  ProofArchive proof = load_proof(a.at(0));
  proof.statement.generated.back() ^= 1U;
  save_proof(a.at(1), proof);
}

/// IN OUT WHAT: a continuation that tells another start, or that it is none, or that it keeps nothing.
void start(const Arguments& a) {
  ProofArchive proof = load_proof(a.at(0));
  const std::string& what = a.at(2);
  if (what == "root") {
    proof.statement.start->root.back() ^= 1U;
  } else if (what == "length") {
    proof.statement.start->length += 1;
  } else if (what == "last_token") {
    proof.statement.start->last_token ^= 1U;
  } else if (what == "beginning") {
    proof.statement.start.reset();
  } else {
    proof.statement.keeps = false;
  }
  save_proof(a.at(1), proof);
}

/// IN OUT LENGTH: a proof file that tells another pass length.
void passes(const Arguments& a) {
  ProofArchive proof = load_proof(a.at(0));
  proof.statement.pass_length = static_cast<std::uint32_t>(std::stoul(a.at(2)));
  save_proof(a.at(1), proof);
}

/// IN OUT: a proof file with a prompt token that no model has.
void unknown(const Arguments& a) {
  ProofArchive proof = load_proof(a.at(0));
  proof.statement.prompt.front() = UINT32_MAX;
  save_proof(a.at(1), proof);
}

/// IN OUT: a proof file whose text fields hold terminal controls.
void controls(const Arguments& a) {
  ProofArchive proof = load_proof(a.at(0));
  proof.text = "\x1b[2J\x1b]0;title\a\x9b";
  proof.timings.push_back({"/\x1b[31m", 0.0, 0});
  proof.ranks.clear();
  proof.memory_measure = "\x1b[32m";
  save_proof(a.at(1), proof);
}

/// IN OUT: a proof file whose text has characters that do not show, and looks like an escape.
void hidden(const Arguments& a) {
  ProofArchive proof = load_proof(a.at(0));
  proof.text = "a\U000E0041\u2060\uFEFF\u00AD\u034F\u180E\u3164\\x1b \"";
  save_proof(a.at(1), proof);
}

/// IN OUT: a proof file whose text fields hold HTML, and measures that are none.
void markup(const Arguments& a) {
  ProofArchive proof = load_proof(a.at(0));
  const std::string text =
      "\"'></title></style><script>document.title='owned'</script><img src=http://x.example/>{{program}}";
  proof.text = proof.configuration = proof.memory_measure = text;
  proof.timings.push_back({"/" + text, std::nan(""), UINT64_MAX});
  proof.timings.push_back({"/", std::numeric_limits<double>::infinity(), 0});
  proof.soundness.entries.push_back({text, text, -1e300});
  proof.soundness.entries.push_back({text, text, std::nan("")});
  for (RankInfo& rank : proof.ranks) {
    rank.processor = text;
    rank.seconds.resize(proof.timings.size(), -1);
    rank.peak_memory.resize(proof.timings.size(), UINT64_MAX);
  }
  save_proof(a.at(1), proof);
}

/// OUT (NAME FILE)...: an archive of many proofs with any names and files.
void gathered(const Arguments& a) {
  std::vector<std::string> names;
  std::vector<std::uint32_t> lengths;
  std::string bytes;
  for (std::size_t i = 1; i < a.size(); i += 2) {
    std::ifstream stream(a.at(i + 1), std::ios::binary);
    const std::string file{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    names.push_back(a.at(i));
    lengths.push_back(static_cast<std::uint32_t>(file.size()));
    bytes += file;
  }
  WriteFile file(a.at(0), gathered_format);
  file.write_strings("names", names);
  file.write("files/lengths", lengths);
  file.write("files/bytes", std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
  file.commit();
}

void add_attribute(hid_t file, const char* name, hid_t type, hid_t space, const void* data) {
  const hid_t attribute = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, type, data);
  H5Aclose(attribute);
}

/// The root attributes of a file of ours; the digest is none's.
void add_head(hid_t file, const std::string& format) {
  const hid_t scalar = H5Screate(H5S_SCALAR);
  const hid_t text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, format.size());
  H5Tset_cset(text, H5T_CSET_UTF8);
  H5Tset_strpad(text, H5T_STR_NULLPAD);
  add_attribute(file, "format", text, scalar, format.data());
  add_attribute(file, "format_version", H5T_STD_U32LE, scalar, &format_version);
  const Digest digest{};
  const hsize_t size = digest.size();
  add_attribute(file, "digest", H5T_STD_U8LE, H5Screate_simple(1, &size, nullptr), digest.data());
}

hid_t create(const std::string& path, const std::string& format) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  const hid_t creation = H5Pcreate(H5P_FILE_CREATE);
  H5Pset_link_phase_change(creation, 0, 0);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access);
  add_head(file, format);
  return file;
}

/// OUT FORMAT SECRET: a dataset whose bytes lie in another file.
void external(const Arguments& a) {
  const hid_t file = create(a.at(0), a.at(1));
  const hsize_t size = 16;
  const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_external(list, a.at(2).c_str(), 0, size);
  H5Dcreate2(file, "payload", H5T_STD_U8LE, H5Screate_simple(1, &size, nullptr), H5P_DEFAULT, list, H5P_DEFAULT);
  H5Fclose(file);
}

/// OUT FORMAT: a dataset that declares 2^40 values.
void huge(const Arguments& a) {
  const hid_t file = create(a.at(0), a.at(1));
  const hsize_t size = hsize_t{1} << 40;
  H5Dcreate2(file, "payload", H5T_STD_U8LE, H5Screate_simple(1, &size, nullptr), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(file);
}

/// OUT FORMAT TARGET: a link to another file.
void link(const Arguments& a) {
  const hid_t file = create(a.at(0), a.at(1));
  H5Lcreate_external(a.at(2).c_str(), "/", file, "payload", H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(file);
}

/// OUT FORMAT: a dataset of an enumeration whose values lie far beyond its header, which libhdf5 1.10 copies from there
/// and dies. The header is of the old kind, without a checksum.
void crash(const Arguments& a) {
  const hid_t creation = H5Pcreate(H5P_FILE_CREATE);
  H5Pset_link_creation_order(creation, H5P_CRT_ORDER_TRACKED);
  H5Pset_link_phase_change(creation, 0, 0);
  const hid_t file = H5Fcreate(a.at(0).c_str(), H5F_ACC_TRUNC, creation, H5P_DEFAULT);
  add_head(file, a.at(1));
  const hid_t type = H5Tenum_create(H5T_STD_I32LE);
  for (int i = 0; i < 5; ++i) {
    H5Tenum_insert(type, std::to_string(i).c_str(), &i);
  }
  const hsize_t size = 16;
  H5Dclose(
      H5Dcreate2(file, "payload", type, H5Screate_simple(1, &size, nullptr), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Fclose(file);
  std::fstream stream(a.at(0), std::ios::in | std::ios::out | std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  const std::string head("\x18\x05\0\0\x04\0\0\0", 8);  // enumeration of 5 names, 4 bytes an element
  const std::size_t at = bytes.find(head);
  if (at == std::string::npos) {
    throw std::runtime_error("no enumeration in the file");
  }
  stream.seekp(static_cast<std::streamoff>(at + 6));
  stream.put('\x40');  // 4 MiB an element
}

/// An attribute of one object as it is, for another.
void copy_attribute(hid_t from, hid_t to, const char* name) {
  const hid_t source = H5Aopen(from, name, H5P_DEFAULT);
  const hid_t type = H5Aget_type(source);
  const hid_t space = H5Aget_space(source);
  std::vector<char> bytes(H5Aget_storage_size(source));
  H5Aread(source, type, bytes.data());
  H5Awrite(H5Acreate2(to, name, type, space, H5P_DEFAULT, H5P_DEFAULT), type, bytes.data());
}

/// IN OUT FORM: all that is in a file of ours, written by the library as h5py would do it: in the `earliest` or the
/// `latest` form.
void again(const Arguments& a) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  const hid_t from = H5Fopen(a.at(0).c_str(), H5F_ACC_RDONLY, access);
  const bool latest = a.at(2) == "latest";
  H5Pset_libver_bounds(access, latest ? H5F_LIBVER_LATEST : H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST);
  const hid_t to = H5Fcreate(a.at(1).c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  for (const char* const name : {"format", "format_version", "digest"}) {
    copy_attribute(from, to, name);
  }
  H5G_info_t info{};
  H5Gget_info(from, &info);
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    char name[256];
    H5Lget_name_by_idx(from, ".", H5_INDEX_NAME, H5_ITER_NATIVE, i, name, sizeof name, H5P_DEFAULT);
    H5Ocopy(from, name, to, name, H5P_DEFAULT, H5P_DEFAULT);
  }
  H5Fclose(to);
  H5Fclose(from);
}

int run(const std::string& kind, const Arguments& arguments) {
  const std::map<std::string, void (*)(const Arguments&)> kinds = {
      {"exponent", exponent}, {"parameter", parameter}, {"overflow", overflow},
      {"payload", payload},   {"token", token},         {"start", start},
      {"unknown", unknown},   {"controls", controls},   {"passes", passes},
      {"hidden", hidden},     {"external", external},   {"huge", huge},
      {"markup", markup},     {"link", link},           {"crash", crash},
      {"gathered", gathered}, {"again", again},         {"uses", uses}};
  try {
    kinds.at(kind)(arguments);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "craft " << kind << ": " << error.what() << '\n';
    return 1;
  }
}

}  // namespace
}  // namespace tessera::test

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return arguments.empty() ? 2 : tessera::test::run(arguments.front(), {arguments.begin() + 1, arguments.end()});
}

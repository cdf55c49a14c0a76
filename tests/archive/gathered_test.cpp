#include <gmock/gmock.h>

#include <numeric>
#include <random>

#include "archive/gathered_file.hpp"
#include "archive/isolated.hpp"
#include "archive/isolated_gathered.hpp"
#include "base/errors.hpp"
#include "datasets/image_file.hpp"

#include "samples.hpp"
#include "../files/temporary_directory.hpp"

namespace tessera::test {
namespace {

using Bytes = std::vector<std::uint8_t>;
using ::testing::HasSubstr;

Bytes bytes_of(const std::filesystem::path& path) {
  const std::string text = read_bytes(path);
  return {text.begin(), text.end()};
}

/// What an archive says, right or wrong.
struct Fields {
  std::vector<std::string> names = {"a.h5", "b/c.h5"};
  std::vector<std::uint32_t> lengths = {3, 4};
  Bytes files = {1, 2, 3, 4, 5, 6, 7};
};

class GatheredTest : public ::testing::Test {
 protected:
  const std::filesystem::path& write(const Fields& fields) {
    WriteFile file(path_, gathered_format);
    file.write_strings("names", fields.names);
    file.write("files/lengths", fields.lengths);
    file.write("files/bytes", fields.files);
    file.commit();
    return path_;
  }
  std::string error_of(const Fields& fields) {
    try {
      const auto proofs = list_gathered_isolated(write(fields));
      return proofs ? "none" : "another format";
    } catch (const InputError& error) {
      return error.what();
    }
  }
  TemporaryDirectory directory_;
  std::filesystem::path path_ = directory_ / "archive.h5";
};

TEST_F(GatheredTest, holds_whole_files) {
  ProofArchive other = small_proof();
  other.payload.push_back(1);
  save_proof(directory_ / "a.h5", small_proof());
  save_proof(directory_ / "b.h5", other);
  const std::vector<Bytes> files = {bytes_of(directory_ / "a.h5"), bytes_of(directory_ / "b.h5")};
  const std::vector<std::string> names = {"z.h5", "day 1/é.h5"};
  const std::vector<std::uint64_t> sizes = {files[0].size(), files[1].size()};
  GatheredWriter writer(path_, names, sizes);
  writer.append(files[0]);
  writer.append(files[1]);
  const Digest digest = writer.commit();
  EXPECT_EQ(ReadFile(path_).digest(), digest);
  for (const bool check : {false, true}) {
    const auto proofs = list_gathered_isolated(path_, check);
    ASSERT_TRUE(proofs && proofs->size() == 2);
    const Bytes archive = bytes_of(path_);
    for (std::size_t i = 0; i < 2; ++i) {
      const GatheredProof& proof = proofs->at(i);
      EXPECT_EQ(proof.name, names[i]);
      ASSERT_LE(proof.offset + proof.bytes, archive.size());
      const auto begin = archive.begin() + static_cast<std::ptrdiff_t>(proof.offset);
      EXPECT_EQ(Bytes(begin, begin + static_cast<std::ptrdiff_t>(proof.bytes)), files[i]);
      const StoredProof stored = load_proof_isolated("name", FilePart{path_, proof.offset, proof.bytes});
      EXPECT_EQ(stored.payload, i == 0 ? small_proof().payload : other.payload);
      EXPECT_EQ(stored.statement, other.statement);
    }
  }
  EXPECT_FALSE(list_gathered_isolated(directory_ / "a.h5"));
}

TEST_F(GatheredTest, incomplete_ones_leave_nothing) {
  const std::vector<std::string> names = {"a"};
  const std::vector<std::uint64_t> sizes = {10};
  { GatheredWriter(path_, names, sizes).append(Bytes(5)); }
  EXPECT_EQ(directory_.entries(), 0U);
}

TEST_F(GatheredTest, names_are_paths_below_a_directory) {
  const std::string part(255, 'x');
  for (const std::string& name : {std::string("a"), std::string("a/b.h5"), std::string("..a/.b"), std::string("ä 文"),
                                  part, part + "/" + part + "/" + part + "/" + part}) {
    EXPECT_TRUE(is_gathered_name(name)) << name;
  }
  for (const std::string& name :
       {std::string(), std::string("/a"), std::string("a/"), std::string("a//b"), std::string("."), std::string(".."),
        std::string("../a"), std::string("a/../b"), std::string("a/."), std::string("a\nb"), std::string("a\0b", 3),
        std::string("\x7f"), std::string("a\u0085"), std::string("a\xff"), std::string("\xed\xa0\x80"), part + "x",
        part + "/" + part + "/" + part + "/" + part + "/x"}) {
    EXPECT_FALSE(is_gathered_name(name)) << name;
    EXPECT_THAT(error_of({.names = {"a.h5", name}}), HasSubstr("names: expected relative paths of UTF-8"));
  }
}

TEST_F(GatheredTest, fields_that_do_not_fit_are_refused) {
  EXPECT_EQ(error_of({}), "none");
  EXPECT_THAT(error_of({.names = {"a", "a"}}), HasSubstr("names: expected different names, found \"a\" twice"));
  EXPECT_THAT(error_of({.lengths = {3, 3}}), HasSubstr("files/lengths: expected lengths of a sum of 7, found 6"));
  EXPECT_THAT(error_of({.lengths = {3, 5}}), HasSubstr("files/lengths: expected lengths of a sum of 7, found 5 more"));
  EXPECT_THAT(error_of({.lengths = {UINT32_MAX, 8}}), HasSubstr("files/lengths: expected"));  // 2^32 in sum
  EXPECT_THAT(error_of({.lengths = {7}}), HasSubstr("files/lengths: expected (2), found (1)"));
  EXPECT_THAT(error_of({.names = {}, .lengths = {}, .files = {}}), HasSubstr("names: expected one proof or more"));
  {
    WriteFile file(path_, gathered_format);
    file.write_strings("names", std::vector<std::string>{"a"});
    file.write("files/lengths", std::vector<std::uint32_t>{6});
    file.write("files/bytes", std::span<const std::uint8_t>(Bytes(6)), {2, 3});
    file.commit();
  }
  EXPECT_THROW((void)list_gathered_isolated(path_), InputError);
}

TEST_F(GatheredTest, proofs_are_no_archives) {
  const Fields inner;
  const Bytes archive = bytes_of(write(inner));
  const auto length = static_cast<std::uint32_t>(archive.size());
  const auto proofs = list_gathered_isolated(write({{"inner.h5"}, {length}, archive}));
  ASSERT_TRUE(proofs);
  try {
    (void)load_proof_isolated("outer.h5: inner.h5", FilePart{path_, proofs->front().offset, length});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "outer.h5: inner.h5: format: expected tessera proof, found tessera proofs");
  }
}

TEST_F(GatheredTest, parts_lie_in_their_file) {
  save_proof(path_, small_proof());
  const std::uint64_t size = std::filesystem::file_size(path_);
  EXPECT_NO_THROW((void)load_proof_isolated("part", FilePart{path_, 0, size}));
  for (const FilePart& part : {FilePart{path_, 0, size + 1}, FilePart{path_, 1, size}, FilePart{path_, size + 1, 1},
                               FilePart{path_, UINT64_MAX, 2}, FilePart{path_, 0, 0}, FilePart{path_, 8, size - 8}}) {
    try {
      (void)load_proof_isolated("part", part);
      ADD_FAILURE() << part.offset << ' ' << part.bytes;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), ::testing::StartsWith("part: expected"));
    }
  }
}

TEST_F(GatheredTest, of_a_list_only_what_the_child_writes_is_taken) {
  const std::vector<GatheredProof> proofs = {{"a", 1, 2}, {"b/c", UINT64_MAX, 5}};
  const Bytes bytes = encode_gathered(proofs);
  EXPECT_EQ(decode_gathered(bytes), proofs);
  const std::size_t first = encode_gathered(std::span(proofs).first(1)).size();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    if (size != first) {
      EXPECT_THROW((void)decode_gathered(std::span(bytes).first(size)), InputError) << size;
    }
  }
  for (const GatheredProof& wrong :
       {GatheredProof{"a\n", 0, 0}, GatheredProof{"", 0, 0}, GatheredProof{"a", 0, UINT64_MAX}}) {
    EXPECT_THROW((void)decode_gathered(encode_gathered(std::span(&wrong, 1))), InputError);
  }
}

/// Read in this process, by the reader that needs no library: refused, or what is listed lies in the file.
bool takes(const std::string& bytes) {
  try {
    const ImageFile file("image", {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, gathered_format);
    std::uint64_t sum = 0;
    std::set<std::string> names;
    for (const GatheredProof& proof : read_gathered(file)) {
      EXPECT_LE(proof.bytes, bytes.size());
      EXPECT_LE(proof.offset, bytes.size() - proof.bytes);
      EXPECT_TRUE(is_gathered_name(proof.name) && names.insert(proof.name).second);
      sum += proof.bytes;
    }
    EXPECT_EQ(sum, file.extents<std::uint8_t>("files/bytes").front());
    return true;
  } catch (const InputError&) {
    return false;
  }
}

TEST_F(GatheredTest, any_fields_are_refused_or_lie_in_the_file) {
  std::mt19937_64 random(3);
  const std::vector<std::string> names = {"a", "b", "c/d", "..", "", "e\x1b"};
  std::size_t taken = 0;
  for (int i = 0; i < 500; ++i) {
    Fields fields;
    fields.names.clear();
    for (std::size_t count = random() % 4; count > 0; --count) {
      fields.names.push_back(names[random() % (i % 2 == 0 ? 3 : names.size())]);
    }
    fields.lengths.resize(fields.names.size() + (random() % 8 == 0 ? 1 : 0));
    std::ranges::generate(fields.lengths,
                          [&] { return static_cast<std::uint32_t>(random() % 8 == 0 ? random() : random() % 6); });
    const std::size_t sum = std::accumulate(fields.lengths.begin(), fields.lengths.end(), std::size_t{0});
    fields.files.resize(random() % 4 == 0 ? random() % 20 : sum % 4096);
    taken += takes(read_bytes(write(fields))) ? 1 : 0;
  }
  EXPECT_GT(taken, 50U);
  EXPECT_LT(taken, 450U);
}

TEST_F(GatheredTest, damage_is_refused_or_a_proofs_own) {
  const std::string whole = read_bytes(write({}));
  const std::uint64_t files = list_gathered_isolated(path_).value().front().offset;
  std::size_t taken = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(~damaged[i]);
    const bool in_files = i >= files && i < files + 7;
    const bool took = takes(damaged);
    EXPECT_TRUE(took || !in_files) << i;
    taken += took ? 1 : 0;
  }
  EXPECT_LT(taken, whole.size() / 2);
  for (std::size_t length = 0; length < whole.size(); length += 13) {
    EXPECT_FALSE(takes(whole.substr(0, length))) << length;
  }
  std::string damaged = whole;
  damaged[files] = 'x';
  write_bytes(path_, damaged);
  EXPECT_TRUE(list_gathered_isolated(path_));
  EXPECT_THROW((void)list_gathered_isolated(path_, true), InputError);
}

}  // namespace
}  // namespace tessera::test

#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "archive/hiding_files.hpp"
#include "archive/hiding_uses.hpp"
#include "base/errors.hpp"

#include "../files/temporary_directory.hpp"

namespace tessera::test {

inline constexpr Digest some_secret{1, 2, 3};
inline const CountedKey three_proofs{{1}, {2}, 3}, nine_proofs{{3}, {4}, 9};

/// Commitments are made, used and tampered with in a directory of their own.
class HidingUses : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path at(const std::string& name) const { return directory_.path() / name; }
  /// What `commit` does but for the codeword; `secret`: empty: a new one. Whether the secret was not counted before.
  bool commit(const std::string& target, const std::string& secret, const CountedKey& key = three_proofs) const {
    CommitCount count(secret.empty() ? std::filesystem::path() : at(secret), at(target));
    const std::filesystem::path staged = at(target + ".partial");
    std::filesystem::create_directory(staged);
    const bool fresh = [&] {
      try {
        return count.write(staged, some_secret, key);
      } catch (...) {
        std::filesystem::remove_all(staged);
        throw;
      }
    }();
    std::filesystem::create_directories(at(target));
    for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(staged)) {
      std::filesystem::rename(entry.path(), at(target) / entry.path().filename());
    }
    std::filesystem::remove(staged);
    return fresh;
  }
  [[nodiscard]] std::uint64_t left(const std::string& name, const CountedKey& key = three_proofs) const {
    return load_uses(at(name), key).left();
  }
  void use(const std::string& name, const CountedKey& key = three_proofs) const { reserve_use(at(name), key); }
  [[nodiscard]] std::string text(const std::string& name) const {
    std::ifstream stream(at(name));
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void write(const std::string& name, const std::string& content) const { std::ofstream(at(name)) << content; }
  /// Every one of them is refused, and advises a new secret.
  template <class... Jobs>
  void expect_refused(const std::string& why, const Jobs&... jobs) const {
    (expect_one_refused(why, jobs), ...);
  }

  TemporaryDirectory directory_;

 private:
  template <class Job>
  void expect_one_refused(const std::string& why, const Job& job) const {
    try {
      job();
      ADD_FAILURE() << "expected: " << why;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), ::testing::AllOf(::testing::HasSubstr(why), ::testing::HasSubstr("new secret")));
    }
  }
};

}  // namespace tessera::test

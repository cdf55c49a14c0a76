#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/file.h>

#include <atomic>
#include <fstream>
#include <future>
#include <iterator>
#include <thread>

#include "archive/descriptor.hpp"
#include "archive/hiding_files.hpp"
#include "archive/hiding_uses.hpp"

#include "temporary_directory.hpp"

namespace tessera::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr Digest some_secret{1, 2, 3};
const CountedKey three_proofs{{1}, {2}, 3}, nine_proofs{{3}, {4}, 9};

/// Commitments are made, used and tampered with in a directory of their own.
class HidingUses : public ::testing::Test {
 protected:
  [[nodiscard]] fs::path at(const std::string& name) const { return directory_.path() / name; }
  /// What `commit` does but for the codeword; `secret`: empty: a new one. Whether the secret was not counted before.
  bool commit(const std::string& target, const std::string& secret, const CountedKey& key = three_proofs) const {
    CommitCount count(secret.empty() ? fs::path() : at(secret), at(target));
    const fs::path staged = at(target + ".partial");
    fs::create_directory(staged);
    const bool fresh = [&] {
      try {
        return count.write(staged, some_secret, key);
      } catch (...) {
        fs::remove_all(staged);
        throw;
      }
    }();
    fs::create_directories(at(target));
    for (const fs::directory_entry& entry : fs::directory_iterator(staged)) {
      fs::rename(entry.path(), at(target) / entry.path().filename());
    }
    fs::remove(staged);
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
      EXPECT_THAT(error.what(), AllOf(HasSubstr(why), HasSubstr("new secret")));
    }
  }
};

TEST_F(HidingUses, of_one_secret_and_root_are_one_count) {
  save_secret(at("given"), some_secret);
  EXPECT_TRUE(commit("a", "given"));
  use("a");
  EXPECT_FALSE(commit("b", "given"));
  EXPECT_EQ(left("a"), 2);
  EXPECT_EQ(left("b"), 2);
  use("b");
  EXPECT_EQ(left("a"), 1);
  EXPECT_FALSE(commit("c", "b/secret"));  // a copy that knows where it is counted
  use("c");
  for (const std::string name : {"a", "b", "c"}) {
    EXPECT_EQ(left(name), 0) << name;
    expect_refused("found all begun", [&] { use(name); });
  }
  commit("a", "given");  // again
  EXPECT_EQ(left("a"), 0);
  commit("other", "given", nine_proofs);  // another root
  EXPECT_EQ(left("other", nine_proofs), 9);
}

TEST_F(HidingUses, of_a_commitments_own_secret_are_one_count_too) {
  EXPECT_TRUE(commit("a", ""));
  use("a");
  EXPECT_FALSE(commit("b", "a/secret"));
  EXPECT_EQ(left("b"), 2);
  use("b");
  EXPECT_EQ(left("a"), 1);
  commit("a", "a/secret");  // into itself
  EXPECT_EQ(left("a"), 1);
  commit("b", "b/secret");
  EXPECT_EQ(left("b"), 1);
  fs::create_symlink(at("a"), at("link"));
  use("link");
  EXPECT_EQ(left("b"), 0);
  commit("a", "");  // a new secret: what was there goes, and whoever used it knows nothing any more
  EXPECT_EQ(left("a"), 3);
  expect_refused("secret.uses", [&] { use("b"); });
}

TEST_F(HidingUses, of_copies_are_not_taken) {
  save_secret(at("given"), some_secret);
  commit("a", "");
  commit("b", "given");
  use("a");
  for (const auto options : {fs::copy_options::copy_symlinks, fs::copy_options::none}) {
    fs::copy(at("a"), at("copy"), options | fs::copy_options::recursive);
    expect_refused(
        "copies", [&] { use("copy"); }, [&] { (void)left("copy"); }, [&] { commit("copy", "copy/secret"); });
    fs::remove_all(at("copy"));
  }
  fs::copy(at("b"), at("copy"), fs::copy_options::copy_symlinks | fs::copy_options::recursive);
  use("copy");  // it knows where it is counted
  EXPECT_EQ(left("b"), 2);
  fs::rename(at("a"), at("moved"));
  use("moved");
  EXPECT_EQ(left("moved"), 1);
  // a directory that was restored
  fs::copy(at("moved"), at("backup"), fs::copy_options::recursive);
  use("moved");
  fs::remove_all(at("moved"));
  fs::rename(at("backup"), at("moved"));
  expect_refused("copies", [&] { use("moved"); });
  // a second name of a secret would have a second count beside it
  fs::create_hard_link(at("given"), at("name"));
  EXPECT_THAT([&] { commit("c", "name"); }, ::testing::ThrowsMessage<InputError>(HasSubstr("one name, found 2")));
}

TEST_F(HidingUses, that_were_put_back_are_known_by_the_other_place) {
  save_secret(at("given"), some_secret);
  commit("a", "given");
  const std::string beside_secret = text("given.uses"), own = text("a/uses");
  use("a");
  write("given.uses", beside_secret);
  expect_refused("put back", [&] { use("a"); });
  expect_refused("lost", [&] { commit("a", "given"); });
  commit("b", "given");  // of which nothing is known here
  fs::remove_all(at("b"));
  fs::remove(at("given.uses"));
  expect_refused("no such file", [&] { use("a"); });
  expect_refused("lost", [&] { commit("a", "given"); });
  commit("b", "");
  use("b");
  const std::string older = text("b/uses");
  use("b");
  write("b/uses", older);
  EXPECT_EQ(left("b"), 1);
}

/// Whatever was there and is not known now: commit does not begin at 0.
TEST_F(HidingUses, that_are_lost_are_not_begun_again) {
  save_secret(at("given"), some_secret);
  commit("a", "given");
  use("a");
  const std::string own = text("a/uses"), beside_secret = text("given.uses");
  const auto lost = [&](const std::string& file, const std::string& content, const std::string& why) {
    fs::remove(at(file));
    if (!content.empty()) {
      write(file, content);
    }
    expect_refused(
        why, [&] { commit("a", "given"); }, [&] { use("a"); });
    EXPECT_FALSE(fs::exists(at("a.partial")));
    write("a/uses", own);
    write("given.uses", beside_secret);
  };
  lost("a/uses", "", "no such file");
  lost("given.uses", "", "given.uses");
  for (const auto& [file, good] : {std::pair{"a/uses", own}, {"given.uses", beside_secret}}) {
    lost(file, "x", "another first line");
    lost(file, good + "x", "check: ");
    lost(file, good.substr(0, good.find("check")), "check: ");
    std::string altered = good;
    altered[good.find("used 1") + 5] = '0';
    lost(file, altered, "check: ");
    altered = good;
    altered[good.find('\n') + 6] ^= 1;  // another key, or secret
    lost(file, altered, "check: ");
  }
  EXPECT_EQ(left("a"), 2);
  // of another key, and nothing
  commit("a", "given", nine_proofs);
  EXPECT_EQ(left("a", nine_proofs), 9);
  expect_refused("another commitment's", [&] { use("a"); });
  commit("a", "given");
  EXPECT_EQ(left("a"), 2);
  // what is new begins at 0 wherever it is put
  write("a/uses", "x");
  commit("a", "");
  EXPECT_EQ(left("a"), 3);
}

TEST_F(HidingUses, are_taken_by_one_job_each) {
  save_secret(at("given"), some_secret);
  const CountedKey key{{1}, {2}, 20};
  commit("a", "given", key);
  commit("b", "given", key);
  std::atomic<int> taken = 0;
  std::vector<std::thread> jobs;
  for (int job = 0; job < 8; ++job) {
    jobs.emplace_back([&, name = job % 2 == 0 ? "a" : "b"] {
      for (int i = 0; i < 4; ++i) {
        try {
          use(name, key);
          ++taken;
        } catch (const InputError&) {
        }
      }
    });
  }
  for (std::thread& job : jobs) {
    job.join();
  }
  EXPECT_EQ(taken, 20);
  EXPECT_EQ(left("a", key), 0);
}

TEST_F(HidingUses, are_not_taken_while_a_commitment_is_put_in_place) {
  save_secret(at("given"), some_secret);
  commit("a", "given");
  for (const std::string name : {"a/uses.lock", "given.uses.lock"}) {
    const Descriptor held(at(name), O_RDWR | O_CREAT);
    ASSERT_EQ(::flock(held.number(), LOCK_EX), 0);
    std::future<bool> waiting = std::async(std::launch::async, [&] { return commit("a", "given"); });
    EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout) << name;
    ::flock(held.number(), LOCK_UN);
    EXPECT_FALSE(waiting.get());
  }
  CommitCount count(at("given"), at("a"));
  fs::create_directory(at("staged"));
  count.write(at("staged"), some_secret, three_proofs);
  for (const std::string name : {"a/uses.lock", "given.uses.lock"}) {
    const Descriptor other(at(name), O_RDWR);
    EXPECT_NE(::flock(other.number(), LOCK_EX | LOCK_NB), 0) << name;
  }
}

}  // namespace
}  // namespace tessera::test

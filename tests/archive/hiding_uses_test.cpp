#include <fcntl.h>
#include <sys/file.h>

#include <atomic>
#include <future>
#include <thread>

#include "files/descriptor.hpp"

#include "hiding_uses_fixture.hpp"

namespace tessera::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

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
  for (const char* const name : {"secret", "secret.uses"}) {  // renamed, and put back
    fs::rename(at("a") / name, at(name));
  }
  expect_refused("put it and its secret back there", [&] { use("b"); });
  for (const char* const name : {"secret", "secret.uses"}) {
    fs::rename(at(name), at("a") / name);
  }
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
        "or commit with --secret of it where you want it", [&] { use("copy"); }, [&] { (void)left("copy"); },
        [&] { commit("copy", "copy/secret"); });
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
    std::future<void> prover = std::async(std::launch::async, [&] { use("a"); });
    EXPECT_EQ(prover.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout) << name;
    ::flock(held.number(), LOCK_UN);
    EXPECT_FALSE(waiting.get());
    prover.get();
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

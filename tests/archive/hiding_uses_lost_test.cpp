#include "archive/key_file.hpp"

#include "hiding_uses_fixture.hpp"
#include "samples.hpp"

namespace tessera::test {
namespace {

namespace fs = std::filesystem;

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
    if (file != "given.uses" || !content.empty()) {  // else nobody knows yet what was counted there
      expect_refused(why, [&] { const CommitCount before_the_work(at("given"), at("a")); });
    }
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

/// Counts of other roots in place of those that were there.
TEST_F(HidingUses, of_a_root_that_is_lost_are_not_begun_again) {
  save_secret(at("given"), some_secret);
  commit("other", "given", nine_proofs);
  const std::string without = text("given.uses");
  commit("a", "given");
  write("given.uses", without);
  expect_refused(
      "others alone: the count is lost", [&] { use("a"); }, [&] { (void)left("a"); });
  expect_refused("or more, found none: the count is lost", [&] { commit("a", "given"); });
  fs::remove(at("given.uses"));  // all of them, before the first use
  expect_refused("or more, found none: the count is lost", [&] { commit("a", "given"); });
}

/// The key is enough to know that there was a count.
TEST_F(HidingUses, are_not_begun_again_where_the_key_alone_is_left) {
  VerifyingKey key = small_key();
  key.hiding_proofs = 3;
  const CountedKey counted = CountedKey::of(key);
  save_secret(at("given"), some_secret);
  commit("a", "given", counted);
  for (const char* const name : {"a/uses", "a/secret", "a/secret.uses", "given.uses"}) {
    fs::remove(at(name));
  }
  save_key(at("a/verifying.key"), key);
  expect_refused("or more, found none: the count is lost", [&] { commit("a", "given", counted); });
  EXPECT_TRUE(commit("a", "given", nine_proofs));
}

/// Numbers that no job writes, whose check holds.
TEST_F(HidingUses, are_numbers_that_fit_each_other) {
  save_secret(at("given"), some_secret);
  commit("a", "given");
  const std::string own = text("a/uses"), beside_secret = text("given.uses");
  const auto write_checked = [&](const std::string& file, const std::string& lines) {
    const auto digest = blake2s(std::span(reinterpret_cast<const std::uint8_t*>(lines.data()), lines.size()));
    write(file, lines + "check " + to_hex(digest) + "\n");
  };
  const auto altered = [&](const std::string& file, const std::string& good, const std::string& from,
                           const std::string& to, const std::string& why) {
    std::string lines = good.substr(0, good.find("check "));
    lines.replace(lines.find(from), from.size(), to);
    write_checked(file, lines);
    expect_refused(
        why, [&] { use("a"); }, [&] { (void)left("a"); });
    write(file, good);
  };
  altered("a/uses", own, "used 0", "used 4", "proofs: expected 3, found 3, 4 used");
  altered("a/uses", own, "proofs 3", "proofs 4", "proofs: expected 3, found 4, 0 used");
  altered("given.uses", beside_secret, "used 0", "used 4", "used: expected at most 3, found 4");
  altered("given.uses", beside_secret, "proofs 3", "proofs 9", "expected 0 or more of 3 proofs");
  // an equal number on another file system; one of the two may not know births
  const std::size_t born = beside_secret.find("born "), roots = beside_secret.find("root ");
  if (beside_secret.substr(born, roots - born) != "born 0\n") {
    altered("given.uses", beside_secret, "born 1", "born 9", "expected a file born at 9");
  }
  write_checked("given.uses",
                beside_secret.substr(0, born) + beside_secret.substr(roots, beside_secret.find("check ") - roots));
  use("a");
  // one root is of one number of proofs
  expect_refused("the count is lost", [&] { commit("b", "given", {{7}, three_proofs.root, 9}); });
}

}  // namespace
}  // namespace tessera::test

#include <gtest/gtest.h>

#include <csignal>
#include <system_error>

#include "files/program.hpp"

namespace tessera::test {
namespace {

std::string all_of(std::FILE* file) {
  std::string text(1000, 0);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  return text;
}

TEST(Program, reads_its_input_and_writes) {
  const EndedProgram ended =
      run_program({"sh", "-c", "tr a-z A-Z; echo \"$1\" >&2; exit 0", "sh", "two words"}, "text");
  EXPECT_TRUE(ended.end.good());
  EXPECT_EQ(all_of(ended.output.get()), "TEXT");
  EXPECT_EQ(all_of(ended.errors.get()), "two words\n");
}

TEST(Program, ends_are_told) {
  EXPECT_FALSE(run_program({"sh", "-c", "exit 4"}, "").end.good());
  EXPECT_EQ(run_program({"sh", "-c", "kill -TERM $$"}, "").end.signal(), SIGTERM);
}

TEST(Program, that_is_not_there_is_an_error) {
  try {
    run_program({"no-such-program-of-tessera"}, "");
    FAIL() << "it was run";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::no_such_file_or_directory);
  }
}

}  // namespace
}  // namespace tessera::test

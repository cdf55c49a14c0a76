#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <filesystem>

#include "../files/temporary_directory.hpp"
#include "cli/verify_options.hpp"
#include "path_program.hpp"

namespace tessera::cli {
namespace {

namespace fs = std::filesystem;
using test::TemporaryDirectory;
using test::write_bytes;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Form = Target::Form;

/// Visits every command's pairs of an output and an input or another output, by numbers that are the same in every
/// Program.
template <class Visit>
void each_pair(const Visit& visit) {
  const Program names;
  for (const CLI::App* const command : names.app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::vector<CLI::Option*> all = options_of(*command);
    const CLI::Option* const config = names.app.get_config_ptr();
    for (std::size_t output = 0; output < all.size(); ++output) {
      const PathOptions::Entry* const written = entry_of(names.options, all[output]);
      if (written == nullptr || !written->target) {
        continue;
      }
      for (std::size_t other = 0; other <= all.size(); ++other) {  // the last is the program's --config
        const CLI::Option* const option = other < all.size() ? all[other] : config;
        if (other != output && entry_of(names.options, option) != nullptr) {
          SCOPED_TRACE(command->get_name() + " " + all[output]->get_name() + ", " + option->get_name());
          visit(command->get_name(), output, other);
        }
      }
    }
  }
}

/// One pair of options with values.
struct Pair {
  Program program;
  const PathOptions::Entry* output;
  const PathOptions::Entry* other;
  Pair(const std::string& command, std::size_t output_number, std::size_t other_number) {
    const std::vector<CLI::Option*> all = options_of(*program.app.get_subcommand(command));
    output = entry_of(program.options, all.at(output_number));
    CLI::Option* const option =
        other_number < all.size() ? all[other_number] : const_cast<CLI::Option*>(program.app.get_config_ptr());
    other = entry_of(program.options, option);
  }
  [[nodiscard]] std::string check(const fs::path& written, const fs::path& named) {
    const_cast<CLI::Option*>(output->option)->add_result(written.string());
    const_cast<CLI::Option*>(other->option)->add_result(named.string());
    return program.check();
  }
  [[nodiscard]] bool other_is_directory() const {
    return other->target ? other->target().form != Form::file : other->option->get_type_name() == directory_argument;
  }
};

/// A folder in which something is known under many names.
class Names {
 public:
  Names() {
    fs::create_directory(folder_ / "sub");
    fs::create_directory_symlink(folder_.path(), folder_ / "sub/here");
  }
  void make_file(const std::string& content) {
    write_bytes(folder_ / "it.h5", content);
    fs::create_hard_link(folder_ / "it.h5", folder_ / "sub/hard.h5");
    links();
  }
  void make_directory() {
    fs::create_directory(folder_ / "it.h5");
    links();
  }
  [[nodiscard]] fs::path it() const { return folder_ / "it.h5"; }
  [[nodiscard]] std::vector<fs::path> all() const {
    std::vector<fs::path> names{it(),
                                folder_ / "./it.h5",
                                folder_ / "sub/../it.h5",
                                fs::relative(folder_.path()) / "it.h5",
                                folder_ / "sub/here/it.h5",
                                folder_ / "sub/soft.h5",
                                folder_ / "sub/twice.h5"};
    if (fs::exists(folder_ / "sub/hard.h5")) {
      names.push_back(folder_ / "sub/hard.h5");
    } else {
      names.push_back(folder_ / "it.h5/");
    }
    return names;
  }

 private:
  void links() const {
    fs::create_symlink("../it.h5", folder_ / "sub/soft.h5");
    fs::create_symlink("soft.h5", folder_ / "sub/twice.h5");
  }
  TemporaryDirectory folder_;
};

TEST(Paths, all_that_options_name_is_declared) {
  const auto check = [](const CLI::App& app, const PathOptions& paths) {
    std::size_t found = 0;
    for (const CLI::Option* const option : options_of(app)) {
      const std::string type = option->get_type_name();
      if (type == file_argument || type == directory_argument || type == path_argument) {
        const auto same = [&](const PathOptions::Entry& entry) { return entry.option == option; };
        EXPECT_EQ(std::ranges::count_if(paths.entries(), same), 1) << option->get_name();
        ++found;
      }
    }
    EXPECT_EQ(found, paths.entries().size());
    EXPECT_GE(found, 3U);
  };
  const Program program;
  check(program.app, program.options.paths);
  VerifyOptions options;
  CLI::App verify;
  declare(verify, options);
  check(verify, options.paths);
  for (const PathOptions::Entry& entry : options.paths.entries()) {
    EXPECT_FALSE(entry.target) << entry.option->get_name() << ": tessera-verify writes nothing";
  }
}

TEST(Paths, no_output_is_anything_else_under_any_name) {
  std::size_t pairs = 0;
  each_pair([&](const std::string& command, std::size_t output, std::size_t other) {
    ++pairs;
    Names names;
    const Pair kind(command, output, other);
    const bool both = kind.output->target().form == Form::directory && kind.other->target &&
                      kind.other->target().form == Form::directory;
    kind.other_is_directory() ? names.make_directory() : names.make_file("");  // empty: nothing is lost but the name
    for (const fs::path& name : names.all()) {
      const std::string found = Pair(command, output, other).check(name, names.it());
      if (both) {
        EXPECT_EQ(found, "") << "traces, checkpoints and states have names of their own";
      } else {
        EXPECT_THAT(found, AllOf(StartsWith("--"), HasSubstr(": expected another path than that of "))) << name;
      }
    }
  });
  EXPECT_GE(pairs, 50U);
}

TEST(Paths, nor_is_one_that_is_not_there_yet) {
  each_pair([&](const std::string& command, std::size_t output, std::size_t other) {
    const Pair kind(command, output, other);
    if (!kind.other->target || kind.output->target().form != Form::file || kind.other_is_directory()) {
      return;
    }
    const TemporaryDirectory folder;
    fs::create_symlink("new", folder / "link");
    fs::create_directory(folder / "below");
    fs::create_directory_symlink(folder.path(), folder / "here");
    for (const char* const name : {"new", "link", "here/new", "./below/../new"}) {
      EXPECT_THAT(Pair(command, output, other).check(folder / name, folder / "new"),
                  HasSubstr(": expected another path than that of "))
          << name;
    }
    EXPECT_EQ(Pair(command, output, other).check(folder / "other", folder / "new"), "");
  });
}

TEST(Paths, no_file_of_a_directory_takes_the_place_of_an_input) {
  std::size_t found = 0;
  each_pair([&](const std::string& command, std::size_t output, std::size_t other) {
    const Pair kind(command, output, other);
    const Target target = kind.output->target();
    if (target.form != Form::directory || kind.other_is_directory()) {
      return;
    }
    for (const Members& members : target.members) {
      const TemporaryDirectory folder;
      const std::string name =
          std::string(members.begin) + (members.digits == 6 ? "000001" : "") + std::string(members.end);
      for (const bool exists : {true, false}) {
        if (exists) {
          write_bytes(folder / name, "");
          fs::create_hard_link(folder / name, folder / "hard");
        } else {
          fs::remove(folder / name);
        }
        fs::remove(folder / "soft");
        fs::create_symlink(name, folder / "soft");
        for (const std::string& alias :
             exists ? std::vector<std::string>{name, "soft", "hard"} : std::vector<std::string>{name, "soft"}) {
          EXPECT_THAT(Pair(command, output, other).check(folder.path(), folder / alias),
                      HasSubstr("expected a directory"))
              << alias;
          ++found;
        }
      }
      EXPECT_EQ(Pair(command, output, other).check(folder.path(), folder / "another"), "");
    }
  });
  EXPECT_GE(found, 50U);
}

TEST(Paths, mounts_of_one_file_are_one) {
  const TemporaryDirectory folder;
  write_bytes(folder / "m.h5", "");
  write_bytes(folder / "elsewhere", "");
  if (::mount((folder / "m.h5").c_str(), (folder / "elsewhere").c_str(), nullptr, MS_BIND, nullptr) != 0) {
    GTEST_SKIP() << "needs the right to mount";
  }
  Program program;
  CLI::App& prove = *program.app.get_subcommand("prove");
  prove.get_option("--model")->add_result(folder / "m.h5");
  prove.get_option("--out")->add_result(folder / "elsewhere");
  EXPECT_THAT(program.check(), HasSubstr("expected another path than that of --model"));
  ::umount2((folder / "elsewhere").c_str(), MNT_DETACH);
}

TEST(Paths, empty_ones_are_refused_wherever_they_stand) {
  const auto error_of = [](CLI::App& app, CLI::Option* option) -> std::string {
    try {
      option->add_result("");
      option->run_callback();
    } catch (const CLI::Error& error) {
      return error.what();
    }
    return app.get_name();
  };
  std::size_t count = 0;
  Program program;
  for (const PathOptions::Entry& entry : program.options.paths.entries()) {
    EXPECT_THAT(error_of(program.app, const_cast<CLI::Option*>(entry.option)),
                HasSubstr(entry.option->get_name() + ": expected a path, found an empty one"));
    ++count;
  }
  VerifyOptions options;
  CLI::App verify;
  declare(verify, options);
  for (const PathOptions::Entry& entry : options.paths.entries()) {
    EXPECT_THAT(error_of(verify, const_cast<CLI::Option*>(entry.option)),
                HasSubstr("expected a path, found an empty one"));
    ++count;
  }
  EXPECT_GE(count, 40U);
}

}  // namespace
}  // namespace tessera::cli

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>

#include "../archive/temporary_directory.hpp"
#include "archive/hdf5.hpp"
#include "archive/staged_file.hpp"
#include "base/errors.hpp"
#include "cli/check_paths.hpp"
#include "cli/content.hpp"
#include "cli/options.hpp"
#include "cli/verify_options.hpp"
#include "datasets/gathered_proofs.hpp"
#include "datasets/key_archive.hpp"
#include "datasets/proof_archive.hpp"

namespace tessera::cli {
namespace {

namespace fs = std::filesystem;
using test::read_bytes;
using test::TemporaryDirectory;
using test::write_bytes;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Form = Target::Form;

/// All options, as the program has them; a test fills them in.
struct Program {
  Options options;
  CLI::App app;
  Program() { declare(app, options); }
  [[nodiscard]] std::string check() const {
    try {
      check_paths(options.paths);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
};

void collect(const CLI::App& app, std::vector<CLI::Option*>& options) {
  for (const CLI::Option* const option : app.get_options()) {
    options.push_back(const_cast<CLI::Option*>(option));
  }
  for (const CLI::App* const group : app.get_subcommands([](const CLI::App*) { return true; })) {
    collect(*group, options);
  }
}

std::vector<CLI::Option*> options_of(const CLI::App& app) {
  std::vector<CLI::Option*> options;
  collect(app, options);
  return options;
}

const PathOptions::Entry* entry_of(const Options& options, const CLI::Option* option) {
  const auto found = std::ranges::find(options.paths.entries(), option, &PathOptions::Entry::option);
  return found == options.paths.entries().end() ? nullptr : &*found;
}

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

TEST(Paths, AllThatOptionsNameIsDeclared) {
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

TEST(Paths, NoOutputIsAnythingElseUnderAnyName) {
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

TEST(Paths, NorIsOneThatIsNotThereYet) {
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

TEST(Paths, NoFileOfADirectoryTakesThePlaceOfAnInput) {
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

TEST(Paths, MountsOfOneFileAreOne) {
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

/// Some file of each kind that commands write or read.
std::map<std::string, fs::path> files_of_all_kinds(const TemporaryDirectory& folder) {
  std::map<std::string, fs::path> files;
  for (const char* const format :
       {"tessera model", "tessera verifying key", "tessera codeword", "tessera codeword rows", "tessera proof",
        "tessera proofs", "tessera renewal", "tessera conversation state", "tessera conversation keys and values",
        "tessera trace", "another program's"}) {
    files[format] = folder / (std::string(format) + ".h5");
    WriteFile(files[format], format).commit();
  }
  const auto add = [&](const std::string& name, const std::string& content) {
    files[name] = folder / name;
    write_bytes(files[name], content);
  };
  add("checkpoint", "tessera checkpoint 1\n...");
  add("page", "<!DOCTYPE html>\n<head><title>tessera report: accepted</title>");
  add("rates", "{\n \"format\": \"tessera rates\",\n");
  add("log", "2026-01-02 03:04:05 calibrating ...\n");
  add("json log", R"({"phase":"calibrating","done":null)");
  add("text", "It was a bright morning\n");
  add("other page", "<!DOCTYPE html>\n<title>mine</title>");
  add("config.json", "{\n \"n_layer\": 2\n}");
  add("uses", "tessera hiding uses 2\n");
  add("m.gguf", std::string("GGUF\3\0\0\0", 8));
  add("bytes", std::string("\0\1\2", 3));
  add("secret", "\x8f\xee\x31\xa5\x77\xc0\x19\xd2");
  return files;
}

const std::map<Content, std::vector<std::string>> own{
    {Content::model, {"tessera model"}},
    {Content::key, {"tessera verifying key"}},
    {Content::codeword, {"tessera codeword"}},
    {Content::codeword_rows, {"tessera codeword rows"}},
    {Content::proof, {"tessera proof"}},
    {Content::proofs, {"tessera proofs"}},
    {Content::renewal, {"tessera renewal"}},
    {Content::state, {"tessera conversation state"}},
    {Content::state_rows, {"tessera conversation keys and values"}},
    {Content::trace, {"tessera trace"}},
    {Content::checkpoint, {"checkpoint"}},
    {Content::page, {"page"}},
    {Content::rates, {"rates"}},
    {Content::log, {"log", "json log", "text", "config.json", "other page"}}};

TEST(Paths, OnlyFilesOfTheKindThatIsWrittenAreReplaced) {
  const TemporaryDirectory folder;
  const auto files = files_of_all_kinds(folder);
  write_bytes(folder / "empty", "");
  for (const auto& [content, kinds] : own) {
    EXPECT_EQ(other_content(folder / "empty", content, Place::anywhere), std::nullopt);
    for (const auto& [kind, file] : files) {
      const bool same = std::ranges::count(kinds, kind) > 0;
      EXPECT_EQ(!other_content(file, content, Place::anywhere), same) << name_of(content) << " over " << kind;
    }
  }
  for (const auto& [kind, file] : files) {  // what an import may read gets no lines of progress
    EXPECT_EQ(!other_content(file, Content::log, Place::among_inputs), kind == "log" || kind == "json log") << kind;
  }
  // a damaged file is replaced only where its name is one that tessera gives
  const std::string whole = read_bytes(files.at("tessera trace"));
  write_bytes(folder / "cut", whole.substr(0, whole.size() / 2));
  EXPECT_EQ(other_content(folder / "cut", Content::trace, Place::own_name), std::nullopt);
  EXPECT_NE(other_content(folder / "cut", Content::trace, Place::anywhere), std::nullopt);
}

TEST(Paths, EveryOutputIsLookedAt) {
  const Program names;
  for (const CLI::App* const command : names.app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::vector<CLI::Option*> all = options_of(*command);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const PathOptions::Entry* const entry = entry_of(names.options, all[i]);
      if (entry == nullptr || !entry->target) {
        continue;
      }
      SCOPED_TRACE(command->get_name() + " " + all[i]->get_name());
      const Target target = entry->target();
      const TemporaryDirectory folder;
      const auto files = files_of_all_kinds(folder);
      const auto found = [&](const fs::path& path) {
        Program program;
        options_of(*program.app.get_subcommand(command->get_name())).at(i)->add_result(path.string());
        return program.check();
      };
      if (target.form == Form::file) {
        EXPECT_THAT(found(files.at("m.gguf")),
                    AllOf(HasSubstr("m.gguf: expected no file, or "), HasSubstr("a GGUF file")));
        EXPECT_EQ(found(files.at(own.at(target.content).front())), "");
        EXPECT_EQ(found(folder / "new.h5"), "");
        EXPECT_FALSE(fs::exists(folder / "new.h5"));
        continue;
      }
      EXPECT_THAT(found(files.at("text")), HasSubstr("directory, found something else"));
      EXPECT_EQ(found(folder / "new/one"), "");
      for (const Members& members : target.members) {
        const fs::path inner = folder / "inner";
        fs::remove_all(inner);
        fs::create_directory(inner);
        const fs::path member =
            inner / (std::string(members.begin) + (members.digits == 6 ? "000001" : "") + std::string(members.end));
        fs::copy_file(files.at("m.gguf"), member);
        EXPECT_THAT(found(inner), HasSubstr(member.filename().string() + ": expected no file, or "));
        fs::copy_file(files.at(own.at(members.content).front()), member, fs::copy_options::overwrite_existing);
        EXPECT_EQ(found(inner), "");
      }
      fs::create_directory(folder / "full");
      write_bytes(folder / "full/x", "x");
      EXPECT_EQ(found(folder / "full").empty(), target.form == Form::directory);
    }
  }
}

TEST(Paths, ALogIsNoneOfAFoldersFiles) {
  const TemporaryDirectory folder;
  fs::create_directory(folder / "checkpoint");
  write_bytes(folder / "checkpoint/config.json", "{\n}");
  write_bytes(folder / "checkpoint/import.log", "2026-01-02 03:04:05 calibrating ...\n");
  fs::create_hard_link(folder / "checkpoint/config.json", folder / "hard");
  const auto found = [&](const std::string& log) {
    Program program;
    CLI::App& import = *program.app.get_subcommand("import");
    import.get_option("--checkpoint")->add_result((folder / "checkpoint").string());
    import.get_option("--log")->add_result((folder / log).string());
    return program.check();
  };
  EXPECT_THAT(found("checkpoint/config.json"), HasSubstr("expected no file, or a log, found"));
  EXPECT_THAT(found("hard"), HasSubstr("expected no file, or a log, found"));
  EXPECT_EQ(found("checkpoint/import.log"), "");
  EXPECT_EQ(found("checkpoint/new.log"), "");
}

TEST(Paths, OfDirectoriesOfProofsEveryFileIsAnInput) {
  const TemporaryDirectory folder;
  fs::create_directories(folder / "d/below");
  WriteFile(folder / "d/below/all.h5", gathered_format).commit();
  Program program;
  CLI::App& gather = *program.app.get_subcommand("gather");
  for (CLI::Option* const option : options_of(gather)) {
    if (option->get_name() == "files") {
      option->add_result((folder / "d").string());
    }
  }
  gather.get_option("--out")->add_result((folder / "d/below/all.h5").string());
  EXPECT_THAT(program.check(), HasSubstr("expected another path than that of files"));
}

TEST(Paths, ProofsOfManyPromptsReplaceProofsAlone) {
  const TemporaryDirectory folder;
  write_bytes(folder / "000001.h5", "no proof");
  write_bytes(folder / "1.h5", "no proof");
  const auto found = [&](const std::string& model) {
    Program program;
    program.options.prove.prompts = "prompts.txt";  // so that --out is a directory
    CLI::App& prove = *program.app.get_subcommand("prove");
    prove.get_option("--model")->add_result((folder / model).string());
    prove.get_option("--out")->add_result(folder.path().string());
    return program.check();
  };
  EXPECT_THAT(found("m.h5"), HasSubstr("000001.h5: expected no file, or a proof file, found another file"));
  EXPECT_THAT(found("000001.h5"), HasSubstr("expected a directory in which --model"));
  EXPECT_THAT(found("000002.h5"), HasSubstr("expected a directory in which --model"));
  fs::remove(folder / "000001.h5");
  EXPECT_EQ(found("1.h5"), "");
}

TEST(Paths, EmptyOnesAreRefusedWhereverTheyStand) {
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

TEST(Links, WhatTheyLeadToIsWritten) {
  const TemporaryDirectory folder;
  fs::create_directory(folder / "below");
  const std::vector<std::uint8_t> bytes{1, 2, 3};
  for (const bool exists : {false, true}) {
    fs::remove(folder / "second");
    fs::remove(folder / "first");
    fs::create_symlink("below/file", folder / "second");
    fs::create_symlink(folder / "second", folder / "first");
    EXPECT_EQ(fs::exists(folder / "below/file"), exists);
    write_file(folder / "first", bytes);
    EXPECT_TRUE(fs::is_symlink(folder / "first"));
    EXPECT_TRUE(fs::is_symlink(folder / "second"));
    EXPECT_EQ(read_bytes(folder / "below/file").size(), bytes.size());
    EXPECT_EQ(folder.entries(), 3U);
  }
  fs::create_symlink("nowhere/file", folder / "lost");
  fs::create_symlink("round", folder / "round");
  EXPECT_THROW(write_file(folder / "lost", bytes), InputError);
  EXPECT_THROW(write_file(folder / "round", bytes), InputError);
  EXPECT_THROW(static_cast<void>(through_links(folder / "round")), InputError);
  EXPECT_EQ(through_links(folder / "below/"), folder / "below");
}

}  // namespace
}  // namespace tessera::cli

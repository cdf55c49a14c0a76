#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "../files/temporary_directory.hpp"
#include "archive/hdf5.hpp"
#include "files/staged_file.hpp"
#include "cli/content.hpp"
#include "datasets/gathered_proofs.hpp"
#include "path_program.hpp"

namespace tessera::cli {
namespace {

namespace fs = std::filesystem;
using test::read_bytes;
using test::TemporaryDirectory;
using test::write_bytes;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Form = Target::Form;

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
  add("ids", "17,4,255\n");
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
    {Content::ids, {"ids"}},
    {Content::log, {"log", "json log", "text", "config.json", "other page"}}};

TEST(Paths, only_files_of_the_kind_that_is_written_are_replaced) {
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
  // another program's file keeps its place under any name, and so does what cannot be looked at
  EXPECT_NE(other_content(files.at("another program's"), Content::trace, Place::own_name), std::nullopt);
  EXPECT_EQ(other_content(folder / "absent", Content::trace, Place::own_name), "a file that cannot be read");
}

TEST(Paths, proofs_are_extracted_into_new_directories_alone) {
  const TemporaryDirectory folder;
  fs::create_directory(folder / "full");
  fs::create_directory(folder / "empty");
  write_bytes(folder / "full/x", "x");
  WriteFile(folder / "all.h5", gathered_format).commit();
  const auto found = [&](const char* out) {
    Program program;
    CLI::App& gather = *program.app.get_subcommand("gather");
    program.options.gather.extract = folder / "all.h5";  // so that --out is a directory
    gather.get_option("--out")->add_result((folder / out).string());
    return program.check();
  };
  for (const char* const out : {"full", "all.h5"}) {
    EXPECT_THAT(found(out), HasSubstr("expected a new or an empty directory, found something else")) << out;
  }
  EXPECT_EQ(found("empty"), "");
  EXPECT_EQ(found("new"), "");
}

TEST(Paths, every_output_is_looked_at) {
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
        const bool early = target.content != Content::log && target.content != Content::rates;
        EXPECT_EQ(found(folder / "missing/new.h5").find("new.h5: cannot be written") != std::string::npos, early);
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

TEST(Paths, a_log_is_none_of_a_folders_files) {
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

TEST(Paths, of_directories_of_proofs_every_file_is_an_input) {
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

TEST(Paths, proofs_of_many_prompts_replace_proofs_alone) {
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

}  // namespace
}  // namespace tessera::cli

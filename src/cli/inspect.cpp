#include <cstdio>
#include <memory>
#include "archive/isolated.hpp"

#include "cli/command.hpp"
#include "cli/file_description.hpp"

namespace tessera::cli {
namespace {

struct Options {
  std::string file;
  bool check = false;
};

void run(const Options& options, Context& context) {
  if (context.comm.rank() != 0) {
    return;
  }
  const std::vector<std::uint8_t> text = read_isolated(
      options.file,
      [&options] {
        const std::string description = describe_file(options.file, options.check);
        return std::vector<std::uint8_t>(description.begin(), description.end());
      },
      IsolationLimits::for_whole(options.file));
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace

Command add_inspect(CLI::App& program) {
  const auto options = std::make_shared<Options>();
  CLI::App* const app = program.add_subcommand("inspect", "Say what a file of ours is and what is in it");
  app->add_option("file", options->file, "model, key, commitment, trace or proof file")->required();
  app->add_flag("--check", options->check, "read everything and check all digests");
  return {app, [options](Context& context) { run(*options, context); }};
}

}  // namespace tessera::cli

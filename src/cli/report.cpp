#include <cstdio>

#include "archive/isolated.hpp"
#include "archive/staged_file.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/report_read.hpp"
#include "cli/version.hpp"
#include "report/page.hpp"
#include "transcript/verifier.hpp"

namespace tessera::cli {
namespace {

std::string summary_of(const report::Report& report, const std::string& out) {
  std::size_t proofs = 0, accepted = 0;
  for (const report::Part* const part : report::all_parts(report)) {
    ++proofs;
    accepted += part->verification && part->verification->accepted ? 1 : 0;
  }
  const std::string of = std::to_string(proofs) + (proofs == 1 ? " proof" : " proofs");
  return one_line(out) + ": report on " + of + ", " +
         (report.key ? std::to_string(accepted) + " accepted" : "not verified: no --key");
}

/// Says why the first proof that is not accepted is not.
void throw_if_rejected(const report::Report& report) {
  for (const report::Part* const part : report::all_parts(report)) {
    if (part->verification && !part->verification->accepted) {
      throw Rejected(part->verification->scope, one_line(part->file) + ": " + part->verification->reason);
    }
  }
}

}  // namespace

void run(const ReportCommand& options, Context& /*context*/) {
  report::Report report{version_of("tessera"), {}, {}};
  std::vector<report::Part> parts;
  for (const std::string& proof : options.proofs) {
    parts.push_back(read_part(proof));
  }
  report.conversations = report::conversations_of(std::move(parts));
  if (!options.key.empty()) {
    report.key = load_key_isolated(options.key).key;
    report::verify_all(report);
  }
  const std::string page = report::page(report);
  write_file(options.out, {reinterpret_cast<const std::uint8_t*>(page.data()), page.size()});
  std::printf("%s\n", summary_of(report, options.out).c_str());
  throw_if_rejected(report);
}

}  // namespace tessera::cli

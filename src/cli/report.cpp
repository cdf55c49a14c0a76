#include <cstdio>

#include "files/staged_file.hpp"
#include "base/errors.hpp"
#include "base/units.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/report_read.hpp"
#include "cli/verify_conversation.hpp"
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
  const std::size_t unusable = report.unusable.size();
  return one_line(out) + ": report on " + of + ", " +
         (report.key ? std::to_string(accepted) + " accepted" : "not verified: no --key") +
         (unusable == 0 ? "" : ", " + counted(unusable, "file") + " unusable");
}

/// Says why the first proof that is not accepted is not; of files that cannot be used only where none is rejected.
void throw_if_not_all_accepted(const report::Report& report) {
  for (const report::Part* const part : report::all_parts(report)) {
    if (part->verification && !part->verification->accepted) {
      throw Rejected(part->verification->scope, one_line(part->file) + ": " + part->verification->reason);
    }
  }
  if (!report.unusable.empty()) {
    throw InputError(report.unusable.front().problem);
  }
}

/// The proofs; files that are none become lines of the report, unless there is nothing else.
std::vector<report::Part> read_parts(const std::vector<std::string>& files, report::Report& report) {
  std::vector<report::Part> parts;
  for (const std::string& file : files) {
    try {
      parts.push_back(read_part(file));
    } catch (const InputError& error) {
      report.unusable.push_back({file, error.what(), parts.size()});
    }
  }
  if (parts.empty()) {
    throw InputError(report.unusable.front().problem);
  }
  return parts;
}

void take_key(const ReportCommand& options, report::Report& report) {
  Judge judge = open_key({options.key, options.renewals, {}, options.expect_key, {}});
  report.key = std::move(judge.key);
  report.origin = {!options.expect_key.empty(), judge.given, {}};
  for (const RenewedKey& renewal : judge.renewals) {
    report.origin.renewals.push_back({renewal.file, renewal.digest});
  }
}

}  // namespace

void run(const ReportCommand& options, Context& /*context*/) {
  report::Report report{version_of("tessera"), {}, {}};
  if (!options.key.empty()) {
    take_key(options, report);
  }
  report.conversations = report::conversations_of(read_parts(options.proofs, report));
  if (report.key) {
    report::verify_all(report);
  }
  const std::string page = report::page(report);
  write_file(options.out, {reinterpret_cast<const std::uint8_t*>(page.data()), page.size()});
  std::printf("%s\n", summary_of(report, options.out).c_str());
  throw_if_not_all_accepted(report);
}

}  // namespace tessera::cli

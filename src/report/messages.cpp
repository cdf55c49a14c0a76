#include <algorithm>

#include "report/figure.hpp"
#include "report/text.hpp"
#include "report/views.hpp"

namespace tessera::report {
namespace {

struct ScopeBytes {
  std::string scope;
  std::uint64_t bytes = 0;
};

View bytes_figure(const Account& account) {
  std::vector<ScopeBytes> scopes;
  for (const Account::Message& message : account.messages) {
    const std::string scope(outermost(message.path));
    const auto found = std::ranges::find(scopes, scope, &ScopeBytes::scope);
    (found == scopes.end() ? scopes.emplace_back(ScopeBytes{scope}) : *found).bytes += message.bytes();
  }
  std::ranges::stable_sort(scopes, std::ranges::greater{}, &ScopeBytes::bytes);
  Bars bars{"Bytes of the proof by scope", "A bar for each outermost scope of the protocol.", "KiB", {}};
  constexpr double kibibyte = 1024;
  for (const ScopeBytes& scope : scopes) {
    const auto size = static_cast<double>(scope.bytes);
    const std::string value = grouped(scope.bytes) + " bytes, " + share(size, static_cast<double>(account.bytes()));
    const std::string name = scope.scope == "/" ? "roots" : scope.scope;
    bars.bars.push_back({name, {{name, value, size / kibibyte, colour_of(scope.scope)}}, value});
  }
  return figure(bars);
}

}  // namespace

View messages_view(const Part& part) {
  if (!part.verification || !part.verification->account) {
    return false;
  }
  const Account& account = *part.verification->account;
  return {{"bytes_figure", bytes_figure(account)},
          {"message_count", grouped(account.messages.size())},
          {"all_bytes", grouped(account.bytes())},
          {"exact_bytes", part.verification->accepted}};
}

}  // namespace tessera::report

#include <algorithm>
#include <map>

#include "report/figure.hpp"
#include "report/text.hpp"
#include "report/views.hpp"

namespace tessera::report {
namespace {

constexpr std::size_t most_kinds = 24;

/// All messages of one name in one scope.
struct Kind {
  std::string path, label;
  std::uint64_t times = 0, bytes = 0;
};

std::vector<Kind> kinds_of(const Account& account) {
  std::vector<Kind> kinds;
  std::map<std::string, std::size_t> places;
  for (const Account::Message& message : account.messages) {
    const auto [place, is_new] = places.try_emplace(message.path + ':' + message.label, kinds.size());
    if (is_new) {
      kinds.push_back({message.path, message.label});
    }
    Kind& kind = kinds[place->second];
    ++kind.times;
    kind.bytes += message.bytes();
  }
  std::ranges::stable_sort(kinds, std::ranges::greater{}, &Kind::bytes);
  return kinds;
}

View bytes_figure(const std::vector<Kind>& kinds, std::uint64_t all, Palette& palette) {
  std::vector<Kind> scopes;
  for (const Kind& kind : kinds) {
    const std::string scope(outermost(kind.path));
    const auto found = std::ranges::find(scopes, scope, &Kind::path);
    (found == scopes.end() ? scopes.emplace_back(Kind{scope, {}}) : *found).bytes += kind.bytes;
  }
  std::ranges::stable_sort(scopes, std::ranges::greater{}, &Kind::bytes);
  Bars bars{"Bytes of the proof by scope", "A bar for each outermost scope of the protocol, in KiB.", {}};
  constexpr double kibibyte = 1024;
  for (const Kind& scope : scopes) {
    const std::string value =
        grouped(scope.bytes) + " (" + share(static_cast<double>(scope.bytes), static_cast<double>(all)) + ")";
    const std::string name = scope.path == "/" ? "roots" : scope.path;
    bars.bars.push_back(
        {name, {{name, value, static_cast<double>(scope.bytes) / kibibyte, palette.of(scope.path)}}, value});
  }
  return figure(bars);
}

View message_row(const Kind& kind, std::uint64_t all) {
  return {{"message_scope", kind.path.empty() ? "/" : kind.path},
          {"message", kind.label},
          {"times", grouped(kind.times)},
          {"message_bytes", grouped(kind.bytes)},
          {"message_share", share(static_cast<double>(kind.bytes), static_cast<double>(all))}};
}

}  // namespace

View messages_view(const Part& part, Palette& palette) {
  if (!part.verification || !part.verification->account) {
    return false;
  }
  const Account& account = *part.verification->account;
  const std::vector<Kind> kinds = kinds_of(account);
  const std::uint64_t all = account.bytes();
  View rows = View::array();
  Kind others{"", "", 0, 0};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (i < most_kinds) {
      rows.push_back(message_row(kinds[i], all));
    } else {
      others.times += kinds[i].times;
      others.bytes += kinds[i].bytes;
    }
  }
  if (others.times > 0) {
    others.label = count_of(kinds.size() - most_kinds, "other kind");
    others.path = "all others";
    rows.push_back(message_row(others, all));
  }
  return {{"bytes_figure", bytes_figure(kinds, all, palette)},
          {"message_rows", rows},
          {"message_count", grouped(account.messages.size())},
          {"all_bytes", grouped(all)},
          {"exact_bytes", part.verification->accepted}};
}

}  // namespace tessera::report

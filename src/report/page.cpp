#include "report/page.hpp"

#include <algorithm>

#include "report/template.hpp"
#include "report/text.hpp"
#include "report/views.hpp"

namespace tessera::report {
namespace {

/// Figures of a proof.
View figures_view(const Part& part, std::size_t number, bool several) {
  return {{"figures_of", name_of(part, number, several)},
          {"costs", costs_view(part.archive)},
          {"messages", messages_view(part)},
          {"soundness", soundness_view(part)}};
}

View record_view(const Part& part, std::size_t number, bool several) {
  View view = facts_view(part);
  view["record_of"] = name_of(part, number, several);
  return view;
}

/// What all verdicts come to.
View verdict_view(const Report& report) {
  const std::vector<const Part*> parts = all_parts(report);
  const auto accepted = static_cast<std::size_t>(std::ranges::count_if(
      parts, [](const Part* part) { return part->verification && part->verification->accepted; }));
  const std::size_t unusable = report.unusable.size();
  const std::string rest = unusable == 0 ? "" : ", " + count_of(unusable, "file") + " unusable";
  const std::string of_all = std::to_string(accepted) + " of " + count_of(parts.size(), "proof") + " accepted" + rest;
  if (!report.key) {
    return {{"verdict", "unverified"}, {"word", "NOT VERIFIED"}, {"verdict_text", "no verifying key was given" + rest}};
  }
  if (accepted < parts.size()) {
    return {{"verdict", "rejected"}, {"word", "REJECTED"}, {"verdict_text", of_all}};
  }
  if (unusable > 0) {
    return {{"verdict", "unusable"}, {"word", "UNUSABLE"}, {"verdict_text", of_all}};
  }
  return {{"verdict", "accepted"}, {"word", "ACCEPTED"}, {"verdict_text", parts.size() > 1 ? of_all : "one proof"}};
}

bool same_statements(const Conversation& a, const Conversation& b) {
  return std::ranges::equal(a, b, [](const Part& p, const Part& q) {
    return p.archive.key_digest == q.archive.key_digest && p.archive.statement == q.archive.statement;
  });
}

/// Names and verdicts of proofs whose texts are those of another.
View names_view(const Conversation& conversation) {
  View names = View::array();
  for (const Part& part : conversation) {
    names.push_back({{"same_file", shown(part.file)}, {"same_verdict", verdict_of(part)}});
  }
  return names;
}

/// One for each text: other proofs of it are named there.
View conversations_view(const Report& report) {
  View views = View::array();
  std::vector<const Conversation*> first;  // of each view
  for (const Conversation& conversation : report.conversations) {
    const auto found =
        std::ranges::find_if(first, [&](const auto* other) { return same_statements(*other, conversation); });
    if (found != first.end()) {
      View& same = views[static_cast<std::size_t>(found - first.begin())]["same"];
      for (View& name : names_view(conversation)) {
        same.push_back(std::move(name));
      }
      continue;
    }
    first.push_back(&conversation);
    const std::string name = conversation.size() > 1 ? "Conversation" : "Prompt and answer";
    views.push_back({{"conversation_name", name},
                     {"number", std::to_string(first.size())},
                     {"same", View::array()},
                     {"parts", conversation_view(conversation, report.key)}});
  }
  for (View& view : views) {
    view["numbered"] = views.size() > 1;
    view["has_same"] = !view["same"].empty();
  }
  return views;
}

}  // namespace

std::vector<Conversation> conversations_of(std::vector<Part> parts) {
  std::vector<Conversation> conversations;
  for (Part& part : parts) {
    if (!part.archive.statement.start || conversations.empty()) {
      conversations.emplace_back();
    }
    conversations.back().push_back(std::move(part));
  }
  return conversations;
}

std::vector<const Part*> all_parts(const Report& report) {
  std::vector<const Part*> parts;
  for (const Conversation& conversation : report.conversations) {
    for (const Part& part : conversation) {
      parts.push_back(&part);
    }
  }
  return parts;
}

void verify_all(Report& report) {
  const IdentifiedKey key{report.key.value(), report.key->digest()};
  for (Conversation& conversation : report.conversations) {
    std::optional<ConversationState> before;
    for (std::size_t i = 0; i < conversation.size(); ++i) {
      conversation[i].verification = verify(key, conversation[i].archive, i, before);
      before = conversation[i].verification->kept;
    }
  }
}

std::string page(const Report& report) {
  const std::vector<const Part*> parts = all_parts(report);
  const bool several = parts.size() > 1;
  View figures = View::array();
  View records = View::array();
  for (const Part* const part : parts) {
    const std::size_t number = figures.size() + 1;
    figures.push_back(figures_view(*part, number, several));
    records.push_back(record_view(*part, number, several));
  }
  return render_page({{"program", report.program},
                      {"overall", verdict_view(report)},
                      {"key", report.key ? key_view(*report.key, report.origin) : View(false)},
                      {"summary", summary_view(report)},
                      {"conversations", conversations_view(report)},
                      {"comparison", comparison_view(report)},
                      {"several", several},
                      {"listed", several || !report.unusable.empty()},
                      {"figures", figures},
                      {"tables", tables_view(parts)},
                      {"records", records}});
}

}  // namespace tessera::report

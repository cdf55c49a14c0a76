#include <bit>
#include <cstdio>
#include <iomanip>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "archive/isolated.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "opening/schedule.hpp"
#include "plan/ends.hpp"
#include "plan/limits.hpp"
#include "protocol/hiding.hpp"
#include "protocol/protocol.hpp"
#include "transcript/shown_bits.hpp"

#include "cli/command.hpp"

namespace tessera::cli {
namespace {

using Json = nlohmann::ordered_json;  // a table is a list of rows, a row an object

/// Lengths of the dimensions, "length/chunk" where they are cut.
std::string shape_text(const Shape& shape) {
  std::string text;
  for (const Dimension& dimension : shape.dimensions()) {
    text += text.empty() ? "" : " x ";
    text += std::to_string(dimension.length);
    if (dimension.chunk_count() > 1) {
      text += '/';
      text += std::to_string(dimension.chunk());
    }
  }
  return text + (shape.presence() == Presence::causal ? " causal" : "");
}

/// `names`: of the tensors, of which a hiding key's come last.
Json tensors(const OracleLayout& layout, std::vector<std::string> names, const std::vector<std::string>& hiding) {
  names.resize(std::min(names.size(), layout.tensors().size()));
  names.insert(names.end(), hiding.end() - (std::ssize(layout.tensors()) - std::ssize(names)), hiding.end());
  Json rows = Json::array();
  for (std::size_t i = 0; i < layout.tensors().size(); ++i) {
    const Shape& shape = layout.tensors()[i];
    rows.push_back({{"tensor", names[i]},
                    {"shape", shape_text(shape)},
                    {"first", layout.offset(i, 0)},
                    {"cells", shape.chunk_count() << shape.inner_bits()}});
  }
  return rows;
}

/// Messages in order, each with what is drawn between it and the next one; equal ones that follow each other are one
/// row.
Json messages(const Account& account) {
  std::vector<std::string> drawn(account.messages.size() + 1);  // by the number of messages before
  for (const Account::Chance& chance : account.chances) {
    if (!chance.label.empty()) {
      std::string& list = drawn[chance.messages];
      list += (list.empty() ? "" : ", ") + chance.label;
    }
  }
  Json rows = Json::array();
  for (std::size_t i = 0; i < account.messages.size(); ++i) {
    const Account::Message& message = account.messages[i];
    Json row{{"scope", message.path},     {"message", message.label},  {"times", 1},
             {"count", message.count},    {"of", message.unit_name()}, {"bytes", message.bytes()},
             {"then drawn", drawn[i + 1]}};
    Json last = rows.empty() ? Json() : rows.back();
    if (!last.is_null()) {
      row["times"] = last["times"];
    }
    if (row == last) {
      rows.back()["times"] = last["times"].get<std::size_t>() + 1;
    } else {
      row["times"] = 1;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

Json lookups(const LookupStructure& lookup) {
  Json rows = Json::array();
  for (const LookupColumn& column : lookup.columns) {
    rows.push_back(
        {{"column", column.name}, {"table", lookup.tables[column.table].name}, {"shape", shape_text(column.shape)}});
  }
  return rows;
}

/// What the layers declare, in order: dimensions by their symbols, widths as formulas.
Json declarations(const Plan& plan) {
  constexpr std::array kinds{"tensor", "value", "remainder", "pair"};
  Json rows = Json::array();
  for (const Declaration& declared : plan.declarations) {
    std::string shape;
    for (const Dimension& dimension : declared.shape.dimensions()) {
      if (dimension.symbol.empty() && dimension.length == 1) {
        continue;  // it has no coordinates
      }
      shape += shape.empty() ? '(' : ',';
      shape += dimension.symbol;
    }
    shape += declared.shape.presence() == Presence::causal ? ") causal" : ")";
    const Width& width = declared.width;
    const std::string bits = width.bits == 0      ? declared.table
                             : width.text.empty() ? std::to_string(width.bits)
                                                  : std::string(width.text);
    rows.push_back({{"#", rows.size() + 1},
                    {"declares", kinds[static_cast<std::size_t>(declared.kind)]},
                    {"name", declared.name},
                    {"bits or table", bits + (declared.is_signed ? " signed" : "")},
                    {"shape", shape}});
  }
  return rows;
}

std::vector<std::string> parameter_names(const ModelShape& shape) {
  std::vector<std::string> names;
  for (const ParameterRow& row : parameter_table(shape)) {
    names.emplace_back(row.name);
  }
  return names;
}

Json tables(const LookupStructure& lookup) {
  Json rows = Json::array();
  for (const LookupTable& table : lookup.tables) {
    rows.push_back({{"table", table.name}, {"rows", std::size_t{1} << table.log_size}});
  }
  return rows;
}

Json words(const Plan& plan, const VerifyingKey& key) {
  const OpeningSchedule schedule =
      opening_schedule(plan.hiding ? hiding_oracles(plan, key, {})
                                   : committed_oracles(plan, key, statement_of(plan.pass), ProofClaims{}));
  std::vector<std::string> names{"parameters", "witness"};
  if (plan.past > 0) {
    names.emplace_back("past state");
  }
  if (plan.pass.keeps) {
    names.emplace_back("kept state");
  }
  Json rows = Json::array();
  const auto add = [&](const std::string& name, const CommittedWord& word) {
    rows.push_back({{"word", name},
                    {"rows", word.rows()},
                    {"columns", word.columns},
                    {"domain", word.domain().points()},
                    {"positions", word.positions},
                    {"segment", word.offset}});
  };
  for (std::size_t i = 0; i < names.size(); ++i) {
    add(names[i], schedule.oracles[i]);
  }
  for (std::size_t i = 0; i < schedule.vectors.size(); ++i) {
    add("v_" + std::to_string(i), schedule.vectors[i]);
  }
  return rows;
}

Json soundness(const SoundnessReport& report) {
  Json rows = Json::array();
  for (const SoundnessEntry& entry : report.entries) {
    rows.push_back({{"scope", entry.scope}, {"reason", entry.reason}, {"bits", shown_bits(entry.bits)}});
  }
  rows.push_back({{"scope", ""}, {"reason", "least"}, {"bits", shown_bits(report.round_by_round_bits())}});
  rows.push_back({{"scope", ""}, {"reason", "sum of all errors"}, {"bits", shown_bits(report.union_bits())}});
  return rows;
}

/// Numbers from 2^10 on that are powers of two, or their negatives, as such.
std::string limit_text(std::int64_t value) {
  const bool power = value >= 1024 && (value & (value - 1)) == 0;
  return power ? "2^" + std::to_string(std::countr_zero(static_cast<std::uint64_t>(value))) : std::to_string(value);
}

Json limit_rows() {
  Json rows = Json::array();
  for (const Limit& limit : limits()) {
    rows.push_back({{"name", limit.name},
                    {"least", limit_text(limit.least)},
                    {"most", limit_text(limit.most)},
                    {"why", limit.why}});
  }
  return rows;
}

/// Tokens after which the key's model says no more.
Json end_rows(const TokenizerData& tokenizer) {
  Json rows = Json::array();
  for (const std::uint32_t id : ends_of(tokenizer)) {
    rows.push_back({{"end", id}, {"token", quoted_name(tokenizer.vocabulary[id])}});
  }
  return rows;
}

/// Everything about the statements of one key with these lengths, table by table. `least`: bits of the worst round.
Json description(const VerifyingKey& key, const DescribeCommand& options, double& least) {
  const ModelPlan plan = ModelPlan::of(key, {options.prompt_length, options.generate, options.past, options.keeps,
                                             options.pass_length, sampling_of(options.sampling)});
  const StatementAccount account = account_of(plan, key);
  const SoundnessReport report = soundness_report(plan, key);
  least = report.round_by_round_bits();
  return {{"tokens", plan.tokens},
          {"tokens with filler", plan.rows},
          {"claims on parameters", account.ledger[parameter_oracle].size()},
          {"claims on the witness", account.ledger[witness_oracle].size()},
          {"most bytes of a proof", account.account.bytes()},
          {"parameters", tensors(plan.parameter_layout, parameter_names(key.shape), {"random columns"})},
          {"witness", tensors(plan.witness_layout, plan.witness_names,
                              {"pads", "left", "right", "product", "row masks", "random columns"})},
          {"declarations", declarations(plan)},
          {"columns", lookups(plan.lookup)},
          {"tables", tables(plan.lookup)},
          {"words", words(plan, key)},
          {"messages", messages(account.account)},
          {"soundness", soundness(report)},
          {"ends", end_rows(key.tokenizer)},
          {"limits", limit_rows()}};
}

std::string cell(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

/// Bars within a cell of a page.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    result += c == '|' ? "\\|" : std::string(1, c);
  }
  return result;
}

/// A table for a terminal, or for a page.
std::string table_text(const Json& rows, bool page) {
  std::map<std::string, std::size_t> width;
  for (const Json& row : rows) {
    for (const auto& [name, value] : row.items()) {
      width[name] = std::max({width[name], name.size(), cell(value).size()});
    }
  }
  std::string text;
  const auto line = [&](const auto& content) {
    text += page ? "|" : " ";
    for (const auto& [name, value] : rows.front().items()) {
      std::string entry = content(name);
      if (!page) {
        const bool right = value.is_number();
        entry.insert(right ? entry.begin() : entry.end(), width[name] - entry.size(), ' ');
      }
      text += " " + entry + (page ? " |" : " ");
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  };
  line([](const std::string& name) { return name; });
  if (page) {
    line([](const std::string&) { return std::string("---"); });
  }
  for (const Json& row : rows) {
    line([&](const std::string& name) { return page ? escaped(cell(row[name])) : cell(row[name]); });
  }
  return text;
}

}  // namespace

void run(const DescribeCommand& options, Context& /*context*/) {
  double least = 0;
  const Json all = description(load_key_isolated(options.key).key, options, least);
  std::string text;
  if (options.json) {
    text = all.dump(1) + "\n";
  } else if (!options.page.empty()) {
    text = table_text(all[options.page], true);
  } else {
    for (const auto& [name, value] : all.items()) {
      text += value.is_array() ? "\n" + name + "\n" + table_text(value, false) : name + "  " + cell(value) + "\n";
    }
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
  if (least < required_soundness_bits) {  // what it is made of is of interest all the same
    std::ostringstream bits;
    bits << std::fixed << std::setprecision(1) << shown_bits(least);
    throw InputError("--prompt-length, --generate: expected a statement of at least " +
                     std::to_string(static_cast<int>(required_soundness_bits)) +
                     " bits in every round, which verifiers ask for, found " + bits.str());
  }
}

}  // namespace tessera::cli

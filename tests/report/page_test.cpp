#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <regex>

#include "archive/samples.hpp"
#include "report/page.hpp"
#include "report/template.hpp"
#include "report/text.hpp"

namespace tessera::report {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A report on files whose texts are all `text`.
Report report_of(const std::string& text, std::size_t proofs = 2) {
  Part part{text, 1000, std::string(64, 'a'), test::small_proof(), {}};
  ProofArchive& archive = part.archive;
  archive.text = archive.configuration = archive.memory_measure = text;
  archive.soundness.entries = {{text, text, 101}, {"/a" + text, text, 100.5}};
  archive.timings = {{"/", 2, 4096}, {"/a" + text, 1, 4096}, {"/b/" + text, 0.5, 4096}};
  archive.ranks = {{text, {2, 1, 0.5}, {4096, 4096, 4096}}, {text + "2", {2, 1, 0.25}, {4096, 4096, 1 << 20}}};
  Report report{"program", {}, {}};
  report.conversations = conversations_of(std::vector<Part>(proofs, part));
  return report;
}

/// The names of all tags, in order.
std::vector<std::string> tags(const std::string& html) {
  std::vector<std::string> names;
  static const std::regex tag("<(/?[A-Za-z!][A-Za-z0-9]*)");
  for (std::sregex_iterator match(html.begin(), html.end(), tag), end; match != end; ++match) {
    names.push_back((*match)[1]);
  }
  return names;
}

std::size_t count(const std::string& html, const std::string& text) {
  std::size_t number = 0;
  for (std::size_t at = html.find(text); at != std::string::npos; at = html.find(text, at + 1)) {
    ++number;
  }
  return number;
}

TEST(Template, escapes_whatever_it_is_given) {
  const std::string hostile = "<b>&\"'</b>{{program}}{{{x}}}{{>style}}";
  EXPECT_EQ(render("{{x}}", {{"x", hostile}}), "&lt;b&gt;&amp;&quot;&apos;&lt;/b&gt;{{program}}{{{x}}}{{&gt;style}}");
  EXPECT_THROW(render("{{#a}}", {{"a", "b"}}), std::logic_error);
}

TEST(Text, has_no_character_that_does_not_show) {
  EXPECT_EQ(shown("a\x1b[2J\n\xff"), "a\\u{1b}[2J\\n\\xff");
  EXPECT_EQ(readable("a \"b\"\n\x07<\n"), "a \"b\"\n\\u{7}<\n");
  EXPECT_EQ(readable(std::string(1000, '\n'), 10).size(), 13U);
  EXPECT_LE(shown(std::string(5000, 'x')).size(), 203U);
  EXPECT_EQ(readable("a\xe2\x80\xae"
                     "b"),
            "a\\u{202e}b");
}

/// As a template shows it.
std::string shown_pieces(std::string_view text, std::size_t most = most_text) {
  return std::regex_replace(render("{{>text_pieces}}", {{"pieces", pieces(text, most)}}),
                            std::regex(" title=\"[^\"]*\""), "");
}

TEST(Text, has_lines_and_marks_that_no_text_imitates) {
  const std::string line = "<span class=\"mark line\">↵</span>\n";
  EXPECT_EQ(shown_pieces("a\n\nb"), "a" + line + line + "b");
  EXPECT_EQ(shown_pieces("\x07\xff\xe2\x80\xae"
                         "c"),
            "<span class=\"mark\">U+0007</span><span class=\"mark\">0xFF</span><span class=\"mark\">U+202E</span>c");
  EXPECT_EQ(shown_pieces("\\u{202e} \\n \\xff ↵ \\"), "\\u{202e} \\n \\xff ↵ \\");
  EXPECT_EQ(shown_pieces("\"<b>\""), "&quot;&lt;b&gt;&quot;");
  EXPECT_EQ(shown_pieces(std::string(100, '\n'), 7), line + line + line + "...");
  EXPECT_EQ(shown_pieces(std::string(100, '\\'), 7), "\\\\\\...");
}

TEST(Text, writes_numbers) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(475936), "475,936");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(duration(0.0554), "55 ms");
  EXPECT_EQ(duration(0.43), "0.43 s");
  EXPECT_EQ(duration(21.24), "21.2 s");
  EXPECT_EQ(duration(std::nan("")), "–");
  EXPECT_EQ(fixed(std::numeric_limits<double>::infinity(), 1), "–");
  EXPECT_EQ(fixed(1e300, 1), "–");
  EXPECT_EQ(mebibytes(0), "–");
  EXPECT_EQ(share(1, 0), "–");
  EXPECT_EQ(count_of(1, "rank"), "1 rank");
}

TEST(Page, keeps_its_markup_whatever_the_files_hold) {
  const std::string long_name(100, 'x');  // fits into no figure
  for (const char* hostile :
       {"<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' onclick='x", "</style><b>", "</title><svg>",
        "<!--", "]]>", "{{#several}}", "{{>page}}", "{{{program}}}", "&lt;b&gt;", "a\nb\tc"}) {
    const std::regex marks("<span class=\"mark[^>]*>[^<]*</span>");  // in place of characters that do not show
    const std::string html = std::regex_replace(page(report_of(long_name + hostile)), marks, "x");
    std::string harmless = long_name + hostile;
    std::ranges::replace_if(
        harmless, [](char c) { return c != '/'; }, 'x');  // scopes as deep
    const std::string plain = page(report_of(harmless));
    EXPECT_EQ(tags(html), tags(plain)) << hostile;
    EXPECT_EQ(count(html, "\""), count(plain, "\"")) << hostile;
    EXPECT_THAT(html, Not(HasSubstr("<script"))) << hostile;
    EXPECT_THAT(html, Not(HasSubstr("<img"))) << hostile;
  }
}

TEST(Page, escapes_tokens_of_the_key) {
  Report report = report_of("harmless");
  report.key = test::small_key();
  for (std::string& token : report.key->tokenizer.vocabulary) {
    token = "<i>\xff";
  }
  const std::string html = page(report);
  EXPECT_THAT(html,
              HasSubstr("&lt;i&gt;<span class=\"mark\" title=\"a byte that belongs to no character\">0xFF</span>"));
  EXPECT_THAT(html, Not(HasSubstr("<i>\\xff")));
}

TEST(Page, says_that_nothing_is_verified_without_a_key) {
  const std::string html = page(report_of("harmless"));
  EXPECT_THAT(html, HasSubstr("NOT VERIFIED"));
  EXPECT_THAT(html, HasSubstr("Nothing on this page is proven."));
  EXPECT_THAT(html, Not(HasSubstr("ACCEPTED")));
}

TEST(Page, says_that_a_proof_is_of_another_key) {
  Report report = report_of("harmless");
  report.key = test::small_key();
  for (std::string& token : report.key->tokenizer.vocabulary) {
    token = "zebra";
  }
  verify_all(report);
  const std::string html = page(report);
  EXPECT_THAT(html, HasSubstr("REJECTED"));
  EXPECT_THAT(html, HasSubstr("at /statement: the proof was made for another verifying key"));
  EXPECT_THAT(html, HasSubstr("0 of 2 proofs accepted"));
  EXPECT_THAT(html, Not(HasSubstr("zebra")));  // the vocabulary of this key says nothing of that one's ids
  const Part& part = report.conversations[0][0];
  EXPECT_THAT(html, HasSubstr("Made for the key of digest <span class=\"code\">" + to_hex(part.archive.key_digest)));
  std::string ids;
  for (const std::uint32_t id : part.archive.statement.generated) {
    ids += (ids.empty() ? "" : " ") + std::to_string(id);
  }
  EXPECT_THAT(html, HasSubstr("Generated ids: claimed, not proven</h4>\n<blockquote class=\"generated claimed code\">" +
                              ids + "<"));
  EXPECT_THAT(html, Not(HasSubstr("as the file tells it</h4>")));
}

TEST(Page, says_whether_the_keys_digest_was_compared) {
  Report report = report_of("harmless", 1);
  report.key = test::small_key();
  const std::string digest = to_hex(report.key->digest());
  std::string html = page(report);
  EXPECT_LT(html.find("Nobody has compared this digest.") - html.find(digest), 150U);  // beside it
  EXPECT_THAT(html, Not(HasSubstr("Compared when")));
  report.origin.compared = true;
  html = page(report);
  EXPECT_THAT(html, HasSubstr("Compared when this page was made"));
  EXPECT_THAT(html, Not(HasSubstr("Nobody has compared")));
}

TEST(Page, accepts_nothing_that_was_not_verified) {
  Report report = report_of("harmless", 1);
  report.key = test::small_key();
  EXPECT_THAT(page(report), Not(HasSubstr("ACCEPTED")));
}

TEST(Page, says_that_a_text_is_complete_only_if_that_is_proven) {
  Report report = report_of("harmless", 1);
  report.key = test::small_key();
  Part& part = report.conversations[0][0];
  report.key->tokenizer.end_of_text = part.archive.statement.generated.back();
  const std::uint32_t last = part.archive.statement.generated.back();
  const auto says = [&](const std::string& what) { return page(report).find(what) != std::string::npos; };
  const std::string number = std::to_string(part.archive.statement.generated.size());
  EXPECT_FALSE(says("Complete: ") || says("Cut off at"));
  part.verification.emplace();
  EXPECT_FALSE(says("Complete: ") || says("Cut off at"));
  part.verification->accepted = true;
  EXPECT_TRUE(says(", token " + std::to_string(last) + ", after which the model says no more"));
  EXPECT_FALSE(says("Cut off at"));
  part.archive.statement.generated.back() += 1;
  EXPECT_FALSE(says("Complete: "));
  EXPECT_TRUE(says("Cut off at " + number + " token"));
  report.key->tokenizer.ends = {last, last + 1};
  EXPECT_TRUE(says("Complete: ") && says(", token " + std::to_string(last + 1) + ", after which"));
}

TEST(Page, names_the_given_key_and_what_renewed_it) {
  Report report = report_of("harmless", 1);
  report.key = test::small_key();
  report.origin.given.fill(0xab);
  report.origin.renewals = {{"renewal<.h5", report.key->digest()}};
  const std::string html = page(report);
  EXPECT_THAT(html, HasSubstr("<dt>Key digest</dt><dd><span class=\"code\">" + to_hex(report.origin.given)));
  EXPECT_THAT(html, HasSubstr("<dt>Renewed to</dt><dd><span class=\"code\">" + to_hex(report.key->digest()) +
                              "</span> by <span class=\"file\">renewal&lt;.h5</span>"));
}

TEST(Page, has_a_line_for_a_file_that_cannot_be_used) {
  Report report = report_of("proof.h5", 2);
  report.unusable = {{"cut<.h5", "cut<.h5: expected more", 1}, {"last.h5", "last.h5: found nothing", 2}};
  const std::string html = page(report);
  const auto place = [&](const std::string& text) { return html.find(">" + text); };
  EXPECT_THAT(html, HasSubstr("cut&lt;.h5: expected more"));
  EXPECT_LT(place("1. proof.h5<"), place("cut&lt;.h5<"));
  EXPECT_LT(place("cut&lt;.h5<"), place("2. proof.h5<"));
  EXPECT_LT(place("2. proof.h5<"), place("last.h5<"));
  EXPECT_THAT(html, HasSubstr("no verifying key was given, 2 files unusable"));
  report.key = test::small_key();
  report.conversations = conversations_of({});
  EXPECT_THAT(page(report), HasSubstr("<span class=\"verdict unusable\">UNUSABLE</span>"));
}

TEST(Page, has_verdict_and_texts_first_and_the_rest_folded) {
  const std::string html = page(report_of("harmless", 1));
  const std::size_t folded = html.find("<details");
  EXPECT_LT(html.find("<h1>"), html.find("Text, as the file tells it"));
  EXPECT_LT(html.find("Text, as the file tells it"), folded);
  EXPECT_GT(html.find("<figure"), folded);
  EXPECT_GT(html.find("<ol class=\"tokens\""), folded);
  EXPECT_THAT(html, Not(HasSubstr("<details open")));
}

TEST(Page, has_tables_once_for_several_proofs) {
  for (const std::size_t proofs : {1, 5}) {
    const std::string html = page(report_of("harmless", proofs));
    EXPECT_EQ(count(html, "aria-label=\"Soundness by round\""), 1U);
    EXPECT_EQ(count(html, proofs == 1 ? "aria-label=\"Time and memory by scope\"" : "aria-label=\"Seconds by scope\""),
              1U);
    EXPECT_EQ(count(html, "class=\"all-tables\""), 1U);
  }
}

TEST(Page, explains_the_sum_of_errors_and_draws_none_of_it) {
  const std::string html = page(report_of("harmless", 1));
  EXPECT_THAT(html, HasSubstr("<b>The sum of all errors</b> is 2 to the power of −99.7."));
  const std::size_t svg = html.find("<svg"), end = html.find("</svg>");
  EXPECT_THAT(html.substr(svg, end - svg), Not(HasSubstr("99.7")));
}

TEST(Page, is_bounded) {
  Report report = report_of(std::string(100000, '"'), 1);
  ProofArchive& archive = report.conversations[0][0].archive;
  archive.statement.prompt.assign(4096, UINT32_MAX);
  archive.statement.generated.assign(4096, UINT32_MAX);
  archive.soundness.entries.assign(1 << 14, {std::string(250, '"'), std::string(250, '<'), 101});
  archive.timings.assign(1 << 14, {"/" + std::string(250, '"'), 1e300, UINT64_MAX});
  archive.ranks.assign(32, {std::string(100, '<'), std::vector<double>(1 << 14, std::nan("")),
                            std::vector<std::uint64_t>(1 << 14, UINT64_MAX)});
  EXPECT_LT(page(report).size(), 16U << 20U);
}

TEST(Conversations, are_made_of_parts_that_continue) {
  const auto part = [](bool continues) {
    Part result{"f", 0, "", test::small_proof(), {}};
    if (continues) {
      result.archive.statement.start.emplace();
    }
    return result;
  };
  const auto sizes = [](std::vector<Part> parts) {
    std::vector<std::size_t> result;
    for (const Conversation& conversation : conversations_of(std::move(parts))) {
      result.push_back(conversation.size());
    }
    return result;
  };
  EXPECT_EQ(sizes({part(false), part(true), part(true), part(false)}), (std::vector<std::size_t>{3, 1}));
  EXPECT_EQ(sizes({part(true), part(true)}), (std::vector<std::size_t>{2}));
  EXPECT_EQ(sizes({part(false), part(false)}), (std::vector<std::size_t>{1, 1}));
}

}  // namespace
}  // namespace tessera::report

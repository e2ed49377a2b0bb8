// posenc compare.
#include "command.h"
#include "measurements.h"
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace posenc {
namespace {

using nlohmann::json;
using test::Arguments;
using test::CommandResult;
using test::document_of;
using test::expect_refused;
using test::measured;
using test::operator+;
using test::run_posenc;
using test::samples;
using test::ScratchFolder;
using test::write_file;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Two documents, the second with a change.
struct TwoDocuments {
  ScratchFolder folder;
  std::string a = folder / "a.json";
  std::string b = folder / "b.json";

  template <class Change>
  explicit TwoDocuments(const Change& change) {
    Measurements document = document_of({measured("naive", 4e-6), measured("rotation", 1e-6)});
    write_measurements(document, a);
    change(document);
    write_measurements(document, b);
  }
  CommandResult compared(const Arguments& options = {}) const {
    return run_posenc(Arguments{"compare", a, b} + options);
  }
  CommandResult reversed() const { return run_posenc({"compare", b, a}); }
};

/// The error of naive becomes that much larger.
auto growth(double factor) {
  return [=](Measurements& document) { document.all[0].error->max_abs *= factor; };
}

/// rotation takes that much longer.
auto slowdown(double factor) {
  return [=](Measurements& document) { document.all[1].seconds = samples(1e-6 * factor); };
}

TEST(Compare, TheSameDocumentTwiceIsNoRegression) {
  const TwoDocuments same([](Measurements&) {});
  EXPECT_EQ(same.compared().exit_code, 0);
  EXPECT_THAT(same.compared().err, IsEmpty());
  EXPECT_THAT(same.compared().out, HasSubstr("2 compared, noise 0.0 %: no regression"));
}

TEST(Compare, AccuracyReportsAreDocumentsToo) {
  const ScratchFolder folder;
  test::write_accuracy_report(folder / "a.json");
  EXPECT_EQ(run_posenc({"compare", folder / "a.json", folder / "a.json"}).exit_code, 0);
}

TEST(Compare, ALargerErrorIsARegressionAndASmallerOneIsNot) {
  const TwoDocuments documents(growth(1.5));
  EXPECT_EQ(documents.compared().exit_code, 1);
  EXPECT_THAT(documents.compared().out, AllOf(HasSubstr("error grew"), HasSubstr("1 regression")));
  EXPECT_EQ(documents.reversed().exit_code, 0);
  EXPECT_THAT(documents.reversed().out, HasSubstr("error shrank"));
}

TEST(Compare, ALongerTimeIsARegressionUnlessItIsATie) {
  const TwoDocuments slower(slowdown(1.1));
  EXPECT_EQ(slower.compared().exit_code, 1);
  EXPECT_THAT(slower.compared().out, AllOf(HasSubstr("slower"), HasSubstr("1.100 (")));
  EXPECT_EQ(slower.reversed().exit_code, 0);
  EXPECT_THAT(slower.reversed().out, HasSubstr("faster"));
  EXPECT_EQ(TwoDocuments(slowdown(1.015)).compared().exit_code, 0) << "within 2 %";
  const TwoDocuments noisy([](Measurements& document) {
    slowdown(1.1)(document);
    document.all[1].self_ratios = std::vector<double>(9, 1.2);
  });
  EXPECT_EQ(noisy.compared().exit_code, 0) << "within the noise of one of the documents";
}

TEST(Compare, TimesOfDifferentCpusAreShownAndNotJudged) {
  const TwoDocuments documents([](Measurements& document) {
    slowdown(3)(document);
    document.machine.model = "Another CPU 9000";
  });
  const CommandResult result = documents.compared();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, AllOf(HasSubstr("3.000 ("), HasSubstr("Another CPU 9000"),
                                HasSubstr("different CPUs, and are not judged")));
}

TEST(Compare, AMissingRowFailsUnlessItIsAllowed) {
  const TwoDocuments documents([](Measurements& document) { document.all.pop_back(); });
  EXPECT_EQ(documents.compared().exit_code, 1);
  EXPECT_THAT(documents.compared().out,
              AllOf(HasSubstr("only in A"), HasSubstr("1 of A is missing in B")));
  EXPECT_EQ(json::parse(documents.compared({"--format", "json"}).out).at("missing"), 1);
  EXPECT_EQ(documents.compared({"--allow-missing"}).exit_code, 0);
  EXPECT_EQ(documents.reversed().exit_code, 0) << "B may have more";
}

TEST(Compare, TheToleranceAcceptsGrowthOfAnErrorButNoWronglyRoundedEntry) {
  const TwoDocuments grown(growth(1.05));
  EXPECT_EQ(grown.compared({"--tolerance", "0.04"}).exit_code, 1);
  EXPECT_EQ(grown.compared({"--tolerance", "0.06"}).exit_code, 0);
  const TwoDocuments wrong(
      [](Measurements& document) { document.all[0].error->correctly_rounded = 0.2; });
  EXPECT_EQ(wrong.compared({"--tolerance", "0.5"}).exit_code, 1);
}

TEST(Compare, TheFilterSelectsBackends) {
  const TwoDocuments documents(growth(1.5));
  EXPECT_EQ(documents.compared({"--filter", "^naive:"}).exit_code, 1);
  const CommandResult others = documents.compared({"--filter", "^rotation:"});
  EXPECT_EQ(others.exit_code, 0) << others.err;
  EXPECT_THAT(others.out, AllOf(HasSubstr("rotation"), Not(HasSubstr("naive"))));
  expect_refused(documents.compared({"--filter", "rotten"}), "--filter is 'rotten'");
}

TEST(Compare, NamesOfFilesReachTheTerminalEscaped) {
  const ScratchFolder folder;
  const std::string report = folder / "a\x1b[2J\xff.json";
  write_measurements(document_of({measured("naive", 1)}), report);
  const CommandResult compared = run_posenc({"compare", report, report});
  EXPECT_THAT(compared.out, AllOf(HasSubstr("a\\x1b[2J\\xff.json"), Not(HasSubstr("\x1b"))));
  const CommandResult missing = run_posenc({"compare", report + "\n", report});
  expect_refused(missing, "a\\x1b[2J\\xff.json\\n, which cannot be read");
}

TEST(Compare, FilesThatCannotBeComparedAreBadInput) {
  const ScratchFolder folder;
  const std::string report = folder / "report.json", other = folder / "other.json";
  write_measurements(document_of({measured("naive", 1)}), report);
  expect_refused(run_posenc({"compare", report, folder / "missing.json"}), "missing.json");
  for (const std::string content :
       {"", "{", "[]", "{}", R"({"context": {}, "benchmarks": []})", "null"}) {
    write_file(other, content);
    expect_refused(run_posenc({"compare", report, other}), "other.json");
  }
  expect_refused(run_posenc({"compare", folder.path(), report}), folder.path());
  write_measurements(document_of({measured("other", 1)}), other);
  expect_refused(run_posenc({"compare", report, other}), "no backend and table in common");
}

}  // namespace
}  // namespace posenc

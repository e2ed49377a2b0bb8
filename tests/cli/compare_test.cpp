// posenc compare.
#include "command.h"
#include "measurements.h"

#include "posenc/suite/document.h"

#include <nlohmann/json.hpp>

namespace posenc::test {
namespace {

using nlohmann::json;

/// Two documents, the second with a change.
struct TwoDocuments {
  ScratchFolder folder;
  std::string a = folder / "a.json", b = folder / "b.json";

  explicit TwoDocuments(const std::function<void(Measurements& document)>& change,
                        std::vector<Measurement> rows = {measured("naive", 4e-6),
                                                         measured("rotation", 1e-6)}) {
    Measurements document = document_of(std::move(rows));
    write_measurements(document, a);
    change(document);
    write_measurements(document, b);
  }

  std::string line(const std::string& options = "") const {
    return "compare " + a + " " + b + " " + options;
  }
  CommandResult compared(const std::string& options = "") const { return run_line(line(options)); }
  CommandResult reversed() const { return run_line("compare " + b + " " + a); }
};

/// A change from one document to the other, and what posenc compare says of it in both directions.
struct Change {
  void (*change)(Measurements& document);
  std::string options;
  int exit_code;
  std::string text, reversed_text;
};

const Change changes[] = {
    {[](auto&) {}, "", 0, "2 compared, noise 0.0 %; regressions: 0", "regressions: 0"},
    {[](auto& document) { document.all[0].error->max_abs *= 1.5; }, "", 1, "error grew",
     "error shrank"},
    {[](auto& document) { document.all[1].seconds = samples(1.1e-6); }, "", 1, "1.100 (", "faster"},
    // Within 2 %, and within the noise of one of the documents.
    {[](auto& document) { document.all[1].seconds = samples(1.015e-6); }, "", 0, "2 same", ""},
    {[](auto& document) {
       document.all[1].seconds = samples(1.1e-6);
       document.all[1].self_ratios = std::vector<double>(9, 1.2);
     },
     "", 0, "2 same", "2 same"},
    {[](auto& document) { document.all.pop_back(); }, "", 1, "missing in B: 1\n", "only in B"},
    // The tolerance accepts growth of an error, but no wrongly rounded entry.
    {[](auto& document) { document.all[0].error->max_abs *= 1.05; }, "--tolerance 0.04", 1,
     "error grew", ""},
    {[](auto& document) { document.all[0].error->max_abs *= 1.05; }, "--tolerance 0.06", 0, "", ""},
    {[](auto& document) { document.all[0].error->correctly_rounded = 0.2; }, "--tolerance 0.5", 1,
     "", ""},
};

TEST(Compare, JudgesAChangeInBothDirections) {
  for (const Change& each : changes) {
    const TwoDocuments documents(each.change);
    const CommandResult result = documents.compared(each.options), reversed = documents.reversed();
    EXPECT_EQ(result.exit_code, each.exit_code) << result.out;
    EXPECT_THAT(result.out, HasSubstr(each.text));
    EXPECT_EQ(reversed.exit_code, 0) << reversed.out;
    EXPECT_THAT(reversed.out, HasSubstr(each.reversed_text));
  }
  const TwoDocuments missing([](Measurements& document) { document.all.pop_back(); });
  EXPECT_EQ(json_of(missing.line()).at("missing"), 1);
}

/// Compares documents of five backends and two limits. In the second, each takes that many times as
/// long.
CommandResult compared_after(double of_backends, double of_limits, double of_first) {
  std::vector<Measurement> rows;
  for (int i = 0; i < 5; ++i) rows.push_back(measured("backend" + std::to_string(i), 1e-6));
  for (const char* const name : {"store", "copy"}) {
    rows.push_back(measured(name, 1e-6));
    rows.back().role = Role::limit;
  }
  const auto change = [=](Measurements& document) {
    for (Measurement& each : document.all)
      each.seconds = samples(1e-6 * (each.role == Role::limit ? of_limits : of_backends));
    document.all.front().seconds = samples(1e-6 * of_first);
  };
  return TwoDocuments(change, rows).compared();
}

TEST(Compare, AMachineThatIsSlowerIsNoRegression) {
  const CommandResult machine = compared_after(1.05, 1.05, 1.05);
  EXPECT_EQ(machine.exit_code, 0) << machine.out;
  EXPECT_THAT(machine.out, HasSubstr("The machine took 1.050 times as long in B"));
  const CommandResult one = compared_after(1.05, 1.05, 1.2);
  EXPECT_EQ(one.exit_code, 1);
  EXPECT_THAT(one.out, AllOf(HasSubstr("regressions: 1;"), HasSubstr("1.143 (")));
}

TEST(Compare, CodeThatIsSlowerIsARegressionAlsoIfItIsAllOfIt) {
  for (const double of_limits : {1.0, 0.95}) {
    const CommandResult code = compared_after(1.05, of_limits, 1.05);
    EXPECT_EQ(code.exit_code, 1);
    EXPECT_THAT(code.out, HasSubstr("regressions: 5;"));
  }
  const CommandResult limits = compared_after(1, 1.2, 1);
  EXPECT_EQ(limits.exit_code, 0);
  EXPECT_THAT(limits.out, Not(HasSubstr("The machine took")));
}

TEST(Compare, ShowsTheWorstFirstAndCountsTheOthers) {
  std::vector<Measurement> rows;
  for (int i = 0; i < 40; ++i) rows.push_back(measured("backend" + std::to_string(i), 1e-6));
  const auto slow_down = [](Measurements& document) {
    for (std::size_t i = 0; i < 30; ++i)
      document.all[i].seconds = samples(1e-6 * (1.1 + 0.01 * static_cast<double>(i)));
  };
  const std::string page = TwoDocuments(slow_down, rows).compared().out;
  EXPECT_LT(page.find("backend29"), page.find("backend28"));
  EXPECT_THAT(page, AllOf(HasSubstr("Not shown: 10 same, 6 slower"), HasSubstr("regressions: 30;"),
                          HasSubstr("posenc compare --run OLD NEW")));
}

TEST(Compare, MachinesStandSideBySideWithoutAVerdict) {
  const TwoDocuments documents([](Measurements& document) {
    document.all[1].seconds = samples(3e-6);
    document.all.push_back(measured("naive", 1e-6));
    document.all.back().table = table_of({.d_model = 32}, {0, 10});
    document.machine.model = "AMD EPYC 9005 (family 26, model 2, stepping 1)";
    document.machine.l2_bytes = 1 << 20;
  });
  for (const CommandResult& result : {documents.compared(), documents.reversed()}) {
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out,
                AllOf(HasSubstr("40x64: 10 KiB\n"), HasSubstr("  Zen 5, "), HasSubstr("2.56"),
                      HasSubstr("0.85"), HasSubstr("not judged"),
                      HasSubstr("Not in all documents: 10x32"), Not(HasSubstr("same"))));
  }
  const json document = json_of(documents.line());
  EXPECT_EQ(document.at("times_are_judged"), false);
  EXPECT_EQ(document.at("machines").size(), 2U);
  ASSERT_EQ(document.at("tables").size(), 1U);
  EXPECT_NEAR(document.at("tables")[0].at("gfloats_per_second")[1].at("rotation"), 0.853, 0.001);
}

TEST(Compare, AnyNumberOfDocumentsIsShown) {
  const TwoDocuments documents([](Measurements&) {});
  EXPECT_EQ(documents.compared(documents.a).exit_code, 0);
  EXPECT_THAT(run_line("compare " + documents.a).out, HasSubstr("rotation"));
  write_measurements(document_of({measured("other", 1)}), documents.b);
  expect_refused(documents.compared(documents.a), "in common");
  expect_refused(documents.compared(), "no backend and table in common");
}

TEST(Compare, SaysWhichDocumentIsNotToBeTrusted) {
  const TwoDocuments documents([](Measurements& document) {
    document.disturbed = "other work ran";
    document.one_process = "no processes here";
  });
  for (const CommandResult& each : {documents.compared(), documents.compared(documents.a)}) {
    EXPECT_THAT(each.out, AllOf(testing::ContainsRegex("\n[B2]: Not to be trusted: other work ran"),
                                HasSubstr("Timed in one process")));
  }
}

TEST(CompareRun, TimesTwoCommandsInTurn) {
  const std::string run = "compare --run " POSENC_COMMAND " ";
  const CommandResult result = run_line(
      run + POSENC_COMMAND " --shape 8x64,4x32 --backend rotation --rounds 2 --format json");
  ASSERT_LE(result.exit_code, 1) << result.err;  // 1: other work ran
  const json document = json::parse(result.out);
  EXPECT_EQ(document.at("rounds"), 2);
  ASSERT_EQ(document.at("rows").size(), 2U);
  for (const json& row : document.at("rows"))
    EXPECT_EQ(row.at("before").at("seconds").size(), 2U) << "one of each round";
  expect_refused(run_line(run + "/bin/false"), "/bin/false");
  expect_refused(run_line(run + "/bin/true"), "is not a posenc command");
  expect_refused(run_line(run + "/nonexistent"), "is not a posenc command (cannot run");
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

TEST(Compare, AccuracyReportsOfTwoBackendsStandSideBySide) {
  const ScratchFolder folder;
  const std::string a = folder / "a.json", b = folder / "b.json", c = folder / "c.json";
  for (const auto& [line, file] : {std::pair{"--rows 40 --backend rotation --output ", a},
                                   {"--rows 40 --backend div_term --output ", b},
                                   {"--rows 41 --backend naive --output ", c}})
    ASSERT_EQ(run_line(std::string("accuracy --d-model 64 ") + line + file).exit_code, 0);
  const CommandResult both = run_line("compare " + a + " " + b);
  EXPECT_EQ(both.exit_code, 0) << both.err;
  EXPECT_THAT(both.out,
              AllOf(HasSubstr("A rotation:"), HasSubstr("B div_term:portable"),
                    HasSubstr("32 .. 39"), HasSubstr("worst channels"), HasSubstr("not judged")));
  expect_refused(run_line("compare " + a + " " + c), "accuracy reports of one table");
}

}  // namespace
}  // namespace posenc::test

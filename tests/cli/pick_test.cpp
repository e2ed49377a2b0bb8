// posenc measure and posenc pick: documents, accuracies, and the profile that pick saves.
#include "command.h"
#include "measurements.h"
#include "posenc/suite/document.h"
#include "posenc/suite/profile.h"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <set>

namespace posenc::test {
namespace {

using nlohmann::json;

TEST(MeasureCommand, WritesADocumentThatOtherCommandsRead) {
  const ScratchFolder folder;
  const std::string file = folder / "here.json";
  const auto measured = run_line(
      "measure --shape 77x68,5x4 --first 3 --layout halves --dtype bfloat16 --threads 1,2 "
      "--processes 2 --backend rotation --output " +
      file);
  ASSERT_LE(measured.exit_code, 1) << measured.err;  // 1: other work ran
  const CommandResult shown = run_line("measure " + file);
  EXPECT_THAT(shown.out, HasSubstr("Gfloat/s"));
  std::set<std::string> tables;
  for (const Measurement& each : read_measurements(file).all) {
    EXPECT_GE(each.seconds.size(), 2U);
    EXPECT_THAT(shown.out, HasSubstr("\n" + each.full_name() + " "));
    tables.insert(each.table.text());
  }
  EXPECT_THAT(tables, SizeIs(4));
  EXPECT_THAT(tables, testing::IsSupersetOf({"77x68, first 3, halves, bfloat16",
                                             "5x4, first 3, halves, bfloat16, 2 threads"}));
  EXPECT_EQ(json_of("pick --dtype bfloat16 --threads 1,2 " + file).at("tables").size(), 4U)
      << "a verdict for each";
  EXPECT_EQ(run_line("compare " + file + " " + file).exit_code, 0);
  const json of_preset =
      json_of("measure --preset mae --backend naive --dtype float32,float16 --processes 2");
  EXPECT_EQ(of_preset.at("measurements").at(0).at("table").at("name"), "mae");
  EXPECT_EQ(of_preset.at("measurements").back().at("table").at("dtype"), "float16");
}

TEST(MeasureCommand, RefusesInvalidTimingRequests) {
  expect_refused(run_line("--time-on-request"), "not a request");
}

TEST(MeasureCommand, TimesInOneProcessWhereItCannotStartOthers) {
  const ScratchFolder folder;
  const std::string file = folder / "here.json";
  // A process that times has three files for its input and output, of which there is room for one.
  const std::string line =
      "exec >'" + file +
      "' 2>/dev/null; exec 3>&- 4>&- 5>&- 6>&-; ulimit -n 4; exec '" POSENC_COMMAND
      "' measure --shape 8x4 --backend naive --processes 2 --format json";
  ASSERT_LE(std::system(line.c_str()) / 256, 1);  // NOLINT
  EXPECT_THAT(read_measurements(file).one_process, HasSubstr("cannot make a temporary file"));
  for (const char* const command : {"measure ", "pick "})
    EXPECT_THAT(run_line(command + file).out, HasSubstr("Timed in one process"));
}

TEST(MeasureCommand, WaitsForItsProcessesIfSigchldIsInheritedAsIgnored) {
  // On a busy machine it is 1: the times are disturbed.
  const std::string line =
      "sh -c 'trap \"\" CHLD; exec \"$0\" measure --shape 8x64 "
      "--backend rotation --processes 2' '" +
      std::string(POSENC_COMMAND) + "' >/dev/null; [ $? -le 1 ]";
  EXPECT_EQ(std::system(line.c_str()), 0);  // NOLINT
}

TEST(MeasureCommand, EndsItsTimingProcessesIfItIsKilled) {
  // The command is killed as soon as it has a timing process, which would else run for some twenty
  // seconds.
  const std::string line =
      "setsid sh -c '\"$0\" measure --shape 8x512,9x512,10x512,11x512 "
      "--dtype float32,float64,float16,bfloat16 >/dev/null 2>&1 & "
      "for i in $(seq 2000); do child=$(ps -o pid= --ppid $!); [ -n \"$child\" ] && break; done; "
      "kill -KILL $!; [ -n \"$child\" ] || exit 2; "
      "for i in $(seq 50); do "
      "case $(ps -o stat= -p $child) in \"\" | Z*) exit 0 ;; esac; sleep 0.1; done; exit 1' '" +
      std::string(POSENC_COMMAND) + "'";
  EXPECT_EQ(std::system(line.c_str()), 0);  // NOLINT
}

/// Tests `posenc pick` by a document of this machine in which rotation is twice as fast as naive,
/// and rotation32 four times.
struct Pick : testing::Test {
  ScratchFolder folder;
  std::string file = folder / "a.json", profile = folder / "profile.json";
  Measurements document = document_of(
      {measured("naive", 4e-6), measured("rotation32", 1e-6, 1e-7), measured("rotation", 2e-6)});

  Pick() {
    document.all.back().promise = Promise{3e-8, 0.5, true};
    write_measurements(document, file);
  }
  CommandResult pick(const std::string& options = "") const {
    return run_line("pick " + file + " " + options);
  }
  /// The backend that pick names for the only table, or the message of a refusal.
  std::string picked(const std::string& options) const {
    const auto result = pick("--format json " + options);
    if (result.out.empty()) return result.err;
    const json pick = json::parse(result.out).at("tables").at(0).at("pick");
    return pick.is_null() ? "none" : pick.at("backend").get<std::string>();
  }
};

TEST_F(Pick, IsCorrectlyRoundedUnlessAnErrorIsAllowed) {
  EXPECT_EQ(picked(""), "rotation");
  EXPECT_EQ(picked("--max-error 1e-6"), "rotation32");
  EXPECT_EQ(picked("--max-ulp 0.1"), "none");
  EXPECT_EQ(pick("--max-ulp 0.1").exit_code, 1);
  EXPECT_THAT(pick().out, HasSubstr("within 1e-06")) << "by default, picks of a larger error too";
  EXPECT_THAT(pick("--max-error 1e-7").out, Not(HasSubstr("1e-06")));
}

TEST_F(Pick, WhatNoBackendPromisesIsRefusedBeforeTheWork) {
  expect_refused(run_line("pick --max-error 1e-12"), "accuracy is within 1e-12");
  expect_refused(run_line("pick --max-ulp 0.4"), "at least 0.5");
}

TEST_F(Pick, AnswersForTheRowsThatTheOptionsAskFor) {
  EXPECT_EQ(picked("--max-error 1e-6 --backend naive"), "naive");
  EXPECT_EQ(picked("--max-error 1e-6 --backend rotation:portable,naive"), "rotation");
  EXPECT_EQ(picked("--isa portable --shape 40x64 --dtype float32 --threads 1"), "rotation");
  EXPECT_EQ(picked("--preset tutorial --shape 40x64"), "rotation");
  for (const auto& [options, named] :
       {std::pair{"--shape 40x64,40x32", "--shape is '40x32'; allowed with "},
        {"--dtype float32,float16", "--dtype is 'float16'; allowed with "},
        {"--threads 2", "--threads is '2'; allowed with "},
        {"--backend naive,foo", "--backend is 'foo'; allowed with "},
        {"--isa avx2", "--isa is 'avx2'; allowed with "},
        {"--rows 41", "no row"},
        {"--first 1", "no row"},
        {"--layout halves", "no row"},
        {"--spacing inclusive", "no row"},
        {"--base 500", "no row"},
        {"--frequencies linear:factor=4", "no row"},
        {"--preset whisper", "no row"}}) {
    EXPECT_THAT(picked(options),
                AllOf(HasSubstr(named), HasSubstr("a.json"), HasSubstr("tables 40x64; backends ")))
        << options;
  }
}

TEST_F(Pick, AFilterKeepsTheNoiseOfAllRows) {
  document = document_of({measured("rotation", 1e-6, 1e-7), measured("simple", 1.1e-6, 1e-7),
                          measured("fast", 1e-6, 1e-7)});
  document.all[0].self_ratios = samples(1, 0.2);  // the only row that was timed twice
  write_measurements(document, file);
  const auto noise = [&](const std::string& options) {
    const json verdict = json_of("pick --max-error 1e-6 " + file + options).at("tables").at(0);
    return verdict.at("noise_floor").get<double>();
  };
  EXPECT_GT(noise(""), 0.2);
  EXPECT_EQ(noise(" --backend simple,fast"), noise(""));
  const std::string part = folder / "part.json";
  run_line("measure " + file + " --backend simple,fast --output " + part);
  EXPECT_GT(noise_floor_of(read_measurements(part)), 0.2) << "the row stays in the document";
}

TEST_F(Pick, OfADocumentWithoutTimesIsRefused) {
  const std::string report = folder / "report.json";
  run_line("accuracy --rows 9 --d-model 8 --output " + report);
  for (const std::string command : {"pick ", "measure "})
    expect_refused(run_line(command + report), "report.json, which has no times; allowed: JSON");
  write_file(file, "{\"benchmarks\": []}");
  expect_refused(pick(), "version is missing");
}

TEST_F(Pick, SavesAProfile) {
  const CommandResult result = pick("--save " + profile);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("picked"), HasSubstr("Profile saved: " + profile)));
  EXPECT_NO_THROW(Profile::load(profile));
}

TEST_F(Pick, SavesNoProfileOfDisturbedTimesOrOfAnotherMachine) {
  document.disturbed = "other work runs";
  write_measurements(document, file);
  const CommandResult judged = pick(), refused = pick("--save " + profile);
  EXPECT_EQ(judged.exit_code, 0) << "a document is judged as it is";
  EXPECT_THAT(judged.out, HasSubstr("Not to be trusted: other work runs"));
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("nothing is saved"));

  document.disturbed = "";
  document.machine.model = "Another CPU 9000";
  write_measurements(document, file);
  expect_refused(pick("--save " + profile), "Another CPU 9000");
  EXPECT_FALSE(std::filesystem::exists(profile));
}

TEST_F(Pick, AFileThatCannotBeWrittenIsAnErrorBeforeTheWork) {
  expect_refused(run_line("pick --output /nonexistent/report --save " + profile),
                 "/nonexistent/report");
  EXPECT_FALSE(std::filesystem::exists(profile));
  expect_refused(pick("--save /dev/full"), "/dev/full");
}

}  // namespace
}  // namespace posenc::test

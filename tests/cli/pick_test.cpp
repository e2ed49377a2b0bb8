// posenc measure and posenc pick: documents, accuracies, and the profile that pick saves.
#include "command.h"
#include "measurements.h"
#include "posenc/registry.h"
#include "posenc/suite/document.h"
#include "posenc/suite/profile.h"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <set>

namespace posenc::test {
namespace {

using nlohmann::json;

const std::string short_measure = "measure --preset stable_diffusion --processes 2";

/// A document of this machine in which rotation is twice as fast as naive, and rotation32 four
/// times.
std::string made_up(const std::filesystem::path& file, const std::string& disturbed = "") {
  Measurements document = document_of(
      {measured("naive", 4e-6), measured("rotation32", 1e-6, 1e-7), measured("rotation", 2e-6)});
  document.all.back().promise = Promise{3e-8, 0.5, true};
  document.disturbed = disturbed;
  write_measurements(document, file);
  return file.string();
}

/// The backend that pick names for the only table, or the message of a refusal.
std::string picked(const std::string& file, const std::string& options) {
  const auto result = run_line("pick " + file + " --format json " + options);
  if (result.out.empty()) return result.err;
  const json pick = json::parse(result.out).at("tables").at(0).at("pick");
  return pick.is_null() ? "none" : pick.at("backend").get<std::string>();
}

TEST(MeasureCommand, WritesADocumentThatPickAndCompareRead) {
  const ScratchFolder folder;
  const std::string file = folder / "here.json";
  const auto measured = run_line(short_measure + " --backend rotation,naive --output " + file);
  ASSERT_LE(measured.exit_code, 1) << measured.err;  // 1: other work ran
  const Measurements document = read_measurements(file);
  ASSERT_EQ(document.all.size(), 5U) << "two backends, three limits";
  for (const Measurement& each : document.all) {
    EXPECT_GE(each.seconds.size(), 2U);
    EXPECT_EQ(each.table.name, "stable_diffusion");
  }
  EXPECT_EQ(run_line("pick " + file).exit_code, 0);
  EXPECT_EQ(run_line("compare " + file + " " + file).exit_code, 0);
}

TEST(MeasureCommand, ShowsATableOfEveryRow) {
  const auto shown = run_line(short_measure);
  ASSERT_LE(shown.exit_code, 1) << shown.err;
  for (const Backend* each : running_backends())
    EXPECT_THAT(shown.out, HasSubstr(each->full_name()));
  EXPECT_THAT(shown.out, AllOf(HasSubstr("store "), HasSubstr("copy "), HasSubstr("Gfloat/s")));
}

TEST(MeasureCommand, RefusesInvalidTimingRequests) {
  expect_refused(run_line("--time-on-request"), "not a request");
}

TEST(MeasureCommand, TakesAnyShapesTypesAndNumbersOfThreads) {
  const ScratchFolder folder;
  const std::string file = folder / "here.json";
  const auto measured = run_line(
      "measure --shape 77x68,5x4 --first 3 --layout halves --dtype float32,bfloat16 --threads 1,2 "
      "--processes 2 --backend rotation --output " +
      file);
  ASSERT_LE(measured.exit_code, 1) << measured.err;
  std::set<std::string> tables;
  for (const Measurement& each : read_measurements(file).all) tables.insert(each.table.text());
  EXPECT_THAT(tables, SizeIs(8));
  EXPECT_THAT(tables, testing::IsSupersetOf(
                          {"77x68, first 3, halves", "5x4, first 3, halves, bfloat16, 2 threads"}));
  EXPECT_EQ(json_of("pick " + file).at("tables").size(), 8U) << "a verdict for each";
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

TEST(PickAccuracy, IsCorrectlyRoundedUnlessAnErrorIsAllowed) {
  const ScratchFolder folder;
  const std::string file = made_up(folder / "a.json");
  EXPECT_EQ(picked(file, ""), "rotation");
  EXPECT_EQ(picked(file, "--max-error 1e-6"), "rotation32");
  EXPECT_EQ(picked(file, "--max-ulp 0.1"), "none");
  EXPECT_EQ(run_line("pick --max-ulp 0.1 " + file).exit_code, 1);
}

TEST(PickAccuracy, TheDefaultShowsThePicksOfALargerErrorToo) {
  const ScratchFolder folder;
  const std::string file = made_up(folder / "a.json");
  EXPECT_THAT(run_line("pick " + file).out,
              testing::ContainsRegex("correctly rounded: .*rotation:portable .*within 1e-06: .*"
                                     "rotation32:portable .*rotation:portable +2.000"));
  EXPECT_THAT(run_line("pick --max-error 1e-7 " + file).out, Not(HasSubstr("1e-06")));
}

TEST(PickAccuracy, WhatNoBackendPromisesIsRefusedBeforeTheWork) {
  expect_refused(run_line("pick --max-error 1e-12"), "accuracy is within 1e-12");
  expect_refused(run_line("pick --max-ulp 0.4"), "at least 0.5");
}

TEST(PickDocument, AnswersForTheRowsThatTheOptionsAskFor) {
  const ScratchFolder folder;
  const std::string file = made_up(folder / "a.json");
  EXPECT_EQ(picked(file, "--max-error 1e-6 --backend naive"), "naive");
  EXPECT_EQ(picked(file, "--max-error 1e-6 --backend rotation:portable,naive"), "rotation");
  EXPECT_EQ(picked(file, "--isa portable --shape 40x64 --dtype float32 --threads 1"), "rotation");
  EXPECT_EQ(picked(file, "--preset tutorial --shape 40x64"), "rotation");
  for (const auto& [options, named] :
       {std::pair{"--shape 40x64,40x32", "--shape is '40x32'; allowed with "},
        {"--dtype float32,float16", "--dtype is 'float16'; allowed with "},
        {"--threads 2", "--threads is '2'; allowed with "},
        {"--backend naive,foo", "--backend is 'foo'; allowed with "},
        {"--isa avx2", "the options ask for no row of "},
        {"--rows 41", "no row"},
        {"--first 1", "no row"},
        {"--layout halves", "no row"},
        {"--spacing inclusive", "no row"},
        {"--base 500", "no row"},
        {"--frequencies linear:factor=4", "no row"},
        {"--preset whisper", "no row"}}) {
    EXPECT_THAT(picked(file, options),
                AllOf(HasSubstr(named), HasSubstr("a.json"), HasSubstr("tables 40x64; backends ")))
        << options;
  }
}

TEST(PickDocument, AFilterKeepsTheNoiseOfAllRows) {
  const ScratchFolder folder;
  const std::string file = folder / "a.json", part = folder / "part.json";
  Measurements document =
      document_of({measured("rotation", 1e-6, 1e-7), measured("simple", 1.1e-6, 1e-7),
                   measured("fast", 1e-6, 1e-7)});
  document.all[0].self_ratios = samples(1, 0.2);  // the only row that was timed twice
  write_measurements(document, file);
  const auto noise = [&](const std::string& options) {
    const json verdict = json_of("pick --max-error 1e-6 " + file + options).at("tables").at(0);
    return verdict.at("noise_floor").get<double>();
  };
  EXPECT_GT(noise(""), 0.2);
  EXPECT_EQ(noise(" --backend simple,fast"), noise(""));
  run_line("measure " + file + " --backend simple,fast --output " + part);
  EXPECT_GT(noise_floor_of(read_measurements(part)), 0.2) << "the row stays in the document";
}

TEST(PickDocument, IsReadOrRefused) {
  const ScratchFolder folder;
  const std::string report = folder / "report.json", other = folder / "other.json";
  run_line("accuracy --rows 9 --d-model 8 --output " + report);
  for (const std::string command : {"pick ", "measure "})
    expect_refused(run_line(command + report), "report.json, which has no times; allowed: JSON");
  expect_refused(run_line("pick " + other), "other.json");
  write_file(other, "{\"benchmarks\": []}");
  expect_refused(run_line("pick " + other), "version is missing");
}

TEST(PickCpu, SaysWhatWasMeasuredAndWhyItStandsForTheCpu) {
  EXPECT_THAT(run_posenc({"pick", "--cpu", "Zen 5"}).out,
              AllOf(HasSubstr("Zen 5: measured: AMD EPYC (family 26, model 2"),
                    HasSubstr("rotation:avx512")));
  EXPECT_THAT(run_posenc({"pick", "--cpu", "Zen 3"}).out,
              AllOf(HasSubstr("Zen 3: not measured; it has no avx512"), HasSubstr("rotation:avx2"),
                    Not(HasSubstr(":avx512"))));
  EXPECT_EQ(json_of("pick --cpu zen4 --shape 8x512").at("tables").size(), 1U);
}

TEST(PickSave, WritesAProfileToTheFile) {
  const ScratchFolder folder;
  const std::string file = folder / "here.json";
  const auto result = run_line("pick " + made_up(folder / "a.json") + " --save " + file);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("picked"), HasSubstr("Profile saved: " + file)));
  EXPECT_NO_THROW(Profile::load(file));
}

TEST(PickSave, NoProfileIsMadeOfDisturbedTimesOrOfAnotherMachine) {
  const ScratchFolder folder;
  const std::string file = folder / "profile.json", saved = " --save " + file;
  const std::string document = made_up(folder / "a.json", "other work runs");
  const auto judged = run_line("pick " + document);
  EXPECT_EQ(judged.exit_code, 0) << "a document is judged as it is";
  EXPECT_THAT(judged.out, HasSubstr("Not to be trusted: other work runs"));
  const auto refused = run_line("pick " + document + saved);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("nothing is saved"));

  Measurements other = read_measurements(made_up(document));
  other.machine.model = "Another CPU 9000";
  write_measurements(other, document);
  expect_refused(run_line("pick " + document + saved), "Another CPU 9000");
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(PickSave, AFileThatCannotBeWrittenIsAnErrorBeforeTheWork) {
  const ScratchFolder folder;
  expect_refused(run_line("pick --output /nonexistent/report --save " + (folder / "p").string()),
                 "/nonexistent/report");
  EXPECT_THAT(folder.listing(), IsEmpty());
  expect_refused(run_line("pick --save /dev/full " + made_up(folder / "a.json")), "/dev/full");
}

}  // namespace
}  // namespace posenc::test

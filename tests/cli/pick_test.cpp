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

Arguments short_pick(const Arguments& more) {
  return Arguments{"pick", "--preset", "stable_diffusion", "--processes", "2"} + more;
}

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

TEST(MeasureCommand, WritesADocumentThatPickAndCompareRead) {
  const ScratchFolder folder;
  const std::string file = folder / "here.json";
  const auto measured =
      run_posenc({"measure", "--preset", "stable_diffusion", "--processes", "2", "--backend",
                  "rotation", "--backend", "naive", "--format", "json", "--output", file});
  ASSERT_LE(measured.exit_code, 1) << measured.err;  // 1: other work ran
  const Measurements document = read_measurements(file);
  ASSERT_EQ(document.all.size(), 5U) << "two backends, three limits";
  for (const Measurement& each : document.all) {
    EXPECT_GE(each.seconds.size(), 2U);
    EXPECT_EQ(each.table.name, "stable_diffusion");
  }
  EXPECT_EQ(run_posenc({"pick", file}).exit_code, 0);
  EXPECT_EQ(run_posenc({"compare", file, file}).exit_code, 0);
}

TEST(MeasureCommand, ShowsATableOfEveryRow) {
  const auto shown = run_posenc({"measure", "--preset", "stable_diffusion", "--processes", "2"});
  ASSERT_LE(shown.exit_code, 1) << shown.err;
  for (const Backend* each : running_backends())
    EXPECT_THAT(shown.out, HasSubstr(each->full_name()));
  EXPECT_THAT(shown.out, AllOf(HasSubstr("store "), HasSubstr("copy "), HasSubstr("Gfloat/s")));
}

TEST(MeasureCommand, RefusesInvalidTimingRequests) {
  const auto result = run_posenc({"--time-on-request"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("not a request"));
}

TEST(PickAccuracy, IsCorrectlyRoundedUnlessAnErrorIsAllowed) {
  const ScratchFolder folder;
  const std::string file = made_up(folder / "a.json");
  const auto picked = [&](const Arguments& options) {
    const auto result = run_posenc(Arguments{"pick", file, "--format", "json"} + options);
    const json document = json::parse(result.out);
    const json& pick = document.at("classes").at(0).at("pick");
    return pick.is_null() ? "none" : pick.at("backend").get<std::string>();
  };
  EXPECT_EQ(picked({}), "rotation");
  EXPECT_EQ(picked({"--max-error", "1e-6"}), "rotation32");
  EXPECT_EQ(picked({"--max-ulp", "0.1"}), "none");
  EXPECT_EQ(run_posenc({"pick", file, "--max-ulp", "0.1"}).exit_code, 1);
}

TEST(PickAccuracy, TheDefaultShowsThePicksOfALargerErrorToo) {
  const ScratchFolder folder;
  const std::string file = made_up(folder / "a.json");
  EXPECT_THAT(run_posenc({"pick", file}).out,
              testing::ContainsRegex("correctly rounded: .*rotation:portable .*within 1e-06: .*"
                                     "rotation32:portable .*rotation:portable +2.000"));
  EXPECT_THAT(run_posenc({"pick", file, "--max-error", "1e-7"}).out, Not(HasSubstr("1e-06")));
}

TEST(PickAccuracy, WhatNoBackendPromisesIsRefusedBeforeTheWork) {
  expect_refused(run_posenc(short_pick({"--max-error", "1e-12"})), "accuracy is within 1e-12");
  expect_refused(run_posenc(short_pick({"--max-ulp", "0.4"})), "at least 0.5");
}

TEST(MeasureCommand, TakesAnyShapesTypesAndNumbersOfThreads) {
  const ScratchFolder folder;
  const std::string file = folder / "here.json";
  const auto measured = run_posenc(
      Arguments{"measure", "--format", "json", "--output", file} +
      "--shape 77x68,5x4 --first 3 --layout halves --dtype float32,bfloat16 --threads 1,2 "
      "--processes 2 --backend rotation");
  ASSERT_LE(measured.exit_code, 1) << measured.err;
  std::set<std::string> tables;
  for (const Measurement& each : read_measurements(file).all) tables.insert(each.table.text());
  EXPECT_THAT(tables, SizeIs(8));
  EXPECT_THAT(tables, testing::IsSupersetOf(
                          {"77x68, first 3, halves", "5x4, first 3, halves, bfloat16, 2 threads"}));
  const auto picked = json::parse(run_posenc({"pick", file, "--format", "json"}).out);
  EXPECT_EQ(picked.at("tables").size(), 8U) << "a verdict for each";
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
  EXPECT_THAT(run_posenc({"measure", file}).out, HasSubstr("Timed in one process"));
  EXPECT_THAT(run_posenc({"pick", file}).out, HasSubstr("Timed in one process"));
}

TEST(PickDocument, AnswersForTheRowsThatTheOptionsAskFor) {
  const ScratchFolder folder;
  const std::string file = made_up(folder / "a.json");
  const auto picked = [&](const std::string& options) {
    const auto result = run_posenc(Arguments{"pick", file, "--format", "json"} + options);
    if (result.exit_code != 0) return result.err;
    return json::parse(result.out).at("tables").at(0).at("pick").at("backend").get<std::string>();
  };
  EXPECT_EQ(picked("--max-error 1e-6"), "rotation32");
  EXPECT_EQ(picked("--max-error 1e-6 --backend naive"), "naive");
  EXPECT_EQ(picked("--max-error 1e-6 --backend rotation:portable,naive"), "rotation");
  EXPECT_EQ(picked("--isa portable --shape 40x64 --dtype float32 --threads 1"), "rotation");
  for (const auto& [other, named] :
       {std::pair{"--isa avx2", "the options ask for no row of "},
        {"--shape 40x64,40x32", "--shape is '40x32'; allowed: what "},
        {"--dtype float32,float16", "--dtype is 'float16'; allowed: what "},
        {"--threads 2", "--threads is '2'; allowed: what "},
        {"--backend naive,foo", "--backend is 'foo'; allowed: what "},
        {"--rows 41", "no row"},
        {"--d-model 32", "no row"},
        {"--first 1", "no row"},
        {"--layout halves", "no row"},
        {"--spacing inclusive", "no row"},
        {"--base 500", "no row"},
        {"--preset whisper", "no row"}}) {
    EXPECT_THAT(picked(other),
                AllOf(HasSubstr(named), HasSubstr("a.json"),
                      HasSubstr("tables 40x64; backends naive, rotation32, rotation; "
                                "ISAs portable")))
        << other;
  }
  EXPECT_EQ(picked("--preset tutorial --shape 40x64"), "rotation") << "as it would be measured";
}

TEST(PickDocument, AFilterKeepsTheNoiseOfAllRows) {
  const ScratchFolder folder;
  const std::string file = folder / "a.json";
  Measurements document =
      document_of({measured("rotation", 1e-6, 1e-7), measured("simple", 1.1e-6, 1e-7),
                   measured("fast", 1e-6, 1e-7)});
  document.all[0].self_ratios = samples(1, 0.2);  // the only row that was timed twice
  write_measurements(document, file);
  const auto noise = [&](const Arguments& options) {
    const auto result = run_posenc(Arguments{"pick", file, "--format", "json"} + options);
    const json verdict = json::parse(result.out).at("tables").at(0);
    return verdict.at("noise_floor").get<double>();
  };
  EXPECT_GT(noise({"--max-error", "1e-6"}), 0.2);
  EXPECT_EQ(noise({"--max-error", "1e-6", "--backend", "simple,fast"}),
            noise({"--max-error", "1e-6"}));
  const std::string part = folder / "part.json";
  run_posenc({"measure", file, "--backend", "simple,fast", "--output", part});
  EXPECT_GT(noise_floor_of(read_measurements(part)), 0.2) << "what says so stays in the document";
}

TEST(PickDocument, WithoutTimesIsBadInput) {
  const ScratchFolder folder;
  const std::string report = folder / "report.json";
  write_accuracy_report(report);
  for (const char* const command : {"pick", "measure"})
    expect_refused(run_posenc({command, report}), "report.json, which has no times; allowed: JSON");
}

TEST(PickDocument, IsReadOrRefused) {
  const ScratchFolder folder;
  const std::string file = made_up(folder / "a.json");
  expect_refused(run_posenc({"pick", file, "--processes", "2"}), "--processes");
  expect_refused(run_posenc({"pick", folder / "nothing.json"}), "nothing.json");
  write_file(folder / "b.json", "{\"benchmarks\": []}");
  expect_refused(run_posenc({"pick", folder / "b.json"}), "version is missing");
}

TEST(PickCpu, SaysWhatWasMeasuredAndWhyItStandsForTheCpu) {
  const auto page = [](const char* name) { return run_posenc({"pick", "--cpu", name}).out; };
  EXPECT_THAT(page("Zen 5"), AllOf(HasSubstr("Zen 5: measured: AMD EPYC (family 26, model 2"),
                                   HasSubstr("rotation:avx512")));
  EXPECT_THAT(page("Zen 3"), AllOf(HasSubstr("Zen 3: not measured; it has no avx512"),
                                   HasSubstr("rotation:avx2"), Not(HasSubstr(":avx512"))));
  const auto one = run_posenc({"pick", "--cpu", "zen4", "--shape", "8x512", "--format", "json"});
  EXPECT_EQ(json::parse(one.out).at("tables").size(), 1U);
}

TEST(PickSave, WritesAProfileToTheFile) {
  const ScratchFolder folder;
  const std::string file = folder / "here.json";
  const auto result = run_posenc({"pick", made_up(folder / "a.json"), "--save", file});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("picked"), HasSubstr("Profile saved: " + file)));
  EXPECT_NO_THROW(Profile::load(file));
  expect_refused(run_posenc({"pick", "--save"}), "--save");
}

TEST(MeasureCommand, WaitsForItsProcessesIfSigchldIsInheritedAsIgnored) {
  // On a busy machine it is 1: the times are disturbed.
  const std::string line =
      "sh -c 'trap \"\" CHLD; exec \"$0\" measure --shape 8x64 "
      "--backend rotation --processes 2' '" +
      std::string(POSENC_COMMAND) + "' >/dev/null; [ $? -le 1 ]";
  EXPECT_EQ(std::system(line.c_str()), 0);  // NOLINT
}

TEST(MeasureCommand, EndsItsTimingProcessesHoweverItEnds) {
  // Each is ended as soon as it is seen, which may be before it has loaded its program. It would
  // else run for some twenty seconds.
  const std::string script =
      "setsid sh -c '\"$0\" measure --shape 8x512,9x512,10x512,11x512 "
      "--dtype float32,float64,float16,bfloat16 >/dev/null 2>&1 & "
      "for i in $(seq 2000); do child=$(ps -o pid= --ppid $!); [ -n \"$child\" ] && break; done; "
      "kill -$1 $!; [ -n \"$child\" ] || exit 2; "
      "for i in $(seq 50); do "
      "case $(ps -o stat= -p $child) in \"\" | Z*) exit 0 ;; esac; sleep 0.1; done; exit 1' ";
  for (const char* const signal : {"KILL", "TERM", "HUP"}) {
    const std::string line = script + "'" + POSENC_COMMAND + "' " + signal;
    EXPECT_EQ(std::system(line.c_str()), 0) << signal;  // NOLINT
  }
}

TEST(PickSave, DisturbedTimesAreNotSaved) {
  const ScratchFolder folder;
  const std::string file = folder / "profile.json";
  const std::string document = made_up(folder / "a.json", "other work runs");
  const auto judged = run_posenc({"pick", document});
  EXPECT_EQ(judged.exit_code, 0) << "a document is judged as it is";
  EXPECT_THAT(judged.out, HasSubstr("Not to be trusted: other work runs"));
  const auto refused = run_posenc({"pick", document, "--save", file});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("nothing is saved"));
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(PickSave, AnotherMachinesMeasurementsAreNoProfileOfThisOne) {
  const ScratchFolder folder;
  Measurements document = read_measurements(made_up(folder / "a.json"));
  document.machine.model = "Another CPU 9000";
  write_measurements(document, folder / "b.json");
  expect_refused(run_posenc({"pick", folder / "b.json", "--save", folder / "profile.json"}),
                 "Another CPU 9000");
  EXPECT_FALSE(std::filesystem::exists(folder / "profile.json"));
}

TEST(PickSave, AFileThatCannotBeWrittenIsAnErrorBeforeTheWork) {
  const ScratchFolder folder;
  const std::string file = folder / "profile.json";
  expect_refused(run_posenc(short_pick({"--save", file, "--output", "/nonexistent/report"})),
                 "/nonexistent/report");
  EXPECT_THAT(folder.listing(), IsEmpty());
  const std::string document = made_up(folder / "a.json");
  expect_refused(run_posenc({"pick", document, "--save", "/dev/full"}), "/dev/full");
}

}  // namespace
}  // namespace posenc::test

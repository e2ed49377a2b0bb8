// Which backend is used if the program names none. The library reads its environment once, at first
// use, so that each case runs in its own process.
#include "posenc/selection.h"

#include "command.h"
#include "measurements.h"
#include "posenc/cpu.h"
#include "posenc/model/positional_encoding.h"
#include "posenc/model/rotary.h"
#include "posenc/suite/profile.h"
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace posenc {
namespace {

using nlohmann::json;
using test::refusal;
using test::run_posenc;
using test::ScratchFolder;
using test::write_file;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using test::operator+;

std::string best_rotation() { return backend("rotation").full_name(); }
std::string best_rotation32() { return backend("rotation32").full_name(); }

struct Used {
  std::string backend;  // "rotation:avx2"
  std::string source;
  std::string reason;
};

/// What `posenc list` reports for a shape class. `users` is the key in its JSON: "used" for tables,
/// "used_by_layers", "used_by_rotary" or "used_within".
Used used_for(ShapeClass shape, const std::map<std::string, std::string>& environment,
              const std::string& users = "used") {
  const auto result =
      run_posenc({"list", "--format", "json"}, {.environment = environment, .out_file = {}});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const json document = json::parse(result.out);
  for (const json& each : document.at(users)) {
    if (each.at("shape_class") == to_string(shape)) {
      return {each.at("backend").get<std::string>() + ":" + each.at("isa").get<std::string>(),
              each.at("source"), each.at("reason")};
    }
  }
  ADD_FAILURE() << "no shape class " << to_string(shape);
  return {};
}

/// A backend with a made-up time per entry.
struct Claim {
  std::string name;
  Isa isa;
  double seconds;
};

constexpr ShapeClass all_classes[] = {ShapeClass::l1, ShapeClass::l2, ShapeClass::l3,
                                      ShapeClass::memory};

/// A table of that class.
MeasuredTable table_in(ShapeClass wanted) {
  std::int64_t rows = 1;
  while (shape_class(rows * 64 * 4) != wanted) rows *= 2;
  return table_of({.d_model = 64}, {0, rows});
}

/// Saves a valid profile of this machine with these times, of three processes that differ by 0.1 %,
/// for each of these shape classes.
void save_measurements(const std::filesystem::path& file, std::span<const ShapeClass> shapes,
                       const std::vector<Claim>& claims) {
  Measurements profile = measurements_of_this_machine();
  for (const ShapeClass shape : shapes) {
    for (const auto& [name, isa, seconds] : claims) {
      Measurement row = test::measured(name, 1);
      row.isa = to_string(isa);
      row.table = table_in(shape);
      row.seconds.clear();
      for (const double factor : {1.0, 1.001, 0.999})
        row.seconds.push_back(seconds * row.table.entries() * factor);
      profile.all.push_back(row);
    }
  }
  write_measurements(profile, file);
}

constexpr ShapeClass only_l1[] = {ShapeClass::l1}, only_l2[] = {ShapeClass::l2};

/// The ISAs at which rotation runs here, in ascending order.
std::vector<Isa> rotation_isas() {
  std::vector<Isa> isas;
  for (const Backend* each : test::running_backends()) {
    if (each->name() == "rotation") isas.push_back(each->isa());
  }
  return isas;
}

/// Times that rank rotation32 first by far, then rotation at its lowest ISA, then the rest.
std::vector<Claim> misleading_claims() {
  std::vector<Claim> claims;
  for (const Backend* each : test::running_backends()) {
    const bool is_lowest = each->name() == "rotation" && each->isa() == rotation_isas().front();
    const double seconds = each->name() == "rotation32" ? 1e-10 : is_lowest ? 2e-10 : 9e-10;
    claims.push_back({std::string(each->name()), each->isa(), seconds});
  }
  return claims;
}

TEST(Selection, IsRotationAtTheBestIsaByDefault) {
  const Used used = used_for(ShapeClass::l2, {});
  EXPECT_EQ(used.backend, best_rotation());
  EXPECT_EQ(used.source, "built_in");
  EXPECT_THAT(used.reason, AllOf(HasSubstr("built-in order"), HasSubstr("no profile")));

  const Selection here = select_backend({.d_model = 512}, {0, 5000});
  EXPECT_EQ(here.backend->full_name(), best_rotation());
  EXPECT_EQ(here.source, SelectionSource::built_in);
  EXPECT_THAT(here.reason, testing::Not(IsEmpty()));
}

TEST(Selection, TheEnvironmentNamesAMethodOrAFullName) {
  for (const auto& [value, expected] : std::map<std::string, std::string>{
           {"rotation:scalar", "rotation:scalar"}, {"rotation", best_rotation()}}) {
    const Used used = used_for(ShapeClass::memory, {{"POSENC_BACKEND", value}});
    EXPECT_EQ(used.backend, expected);
    EXPECT_EQ(used.source, "environment");
    EXPECT_THAT(used.reason, HasSubstr("POSENC_BACKEND"));
  }
}

TEST(Selection, TheEnvironmentChoosesOnlyAmongBackendsThatPromiseTheAccuracy) {
  const test::Arguments exact = {"generate", "--rows", "3", "--d-model", "4", "--format", "csv"};
  const auto generated = [&](const std::string& name, const test::Arguments& more = {}) {
    return run_posenc(exact + more, {.environment = {{"POSENC_BACKEND", name}}});
  };
  for (const char* name : {"naive", "div_term", "xsimd", "rotation32"}) {
    const auto result = generated(name);
    EXPECT_EQ(result.exit_code, 2) << name;
    EXPECT_THAT(result.out, IsEmpty());
    EXPECT_THAT(result.err, AllOf(HasSubstr(name), HasSubstr("correctly rounded"),
                                  HasSubstr("allowed: rotation\n")));
  }
  EXPECT_EQ(generated("rotation32", {"--max-error", "1e-6"}).exit_code, 0);
  EXPECT_THAT(generated("div_term", {"--max-error", "1e-9"}).err,
              HasSubstr("allowed: none of the backends"));
}

TEST(Selection, IgnoresAnEmptyEnvironmentVariable) {
  EXPECT_EQ(used_for(ShapeClass::l1, {{"POSENC_BACKEND", ""}}).source, "built_in");
}

TEST(Selection, AnUnknownNameInTheEnvironmentIsAnErrorAndNeverAFallback) {
  const std::vector<std::vector<std::string>> commands = {
      {"list"},
      {"generate", "--rows", "3", "--d-model", "4"},
      {"generate", "--rows", "3", "--isa", "scalar"}};
  for (const auto& command : commands) {
    for (const char* value : {"nonsense", "rotation:nonsense", "naive:avx2", " "}) {
      const auto result =
          run_posenc(command, {.environment = {{"POSENC_BACKEND", value}}, .out_file = {}});
      EXPECT_EQ(result.exit_code, 2) << command.front() << ", " << value;
      EXPECT_THAT(result.out, IsEmpty());
      EXPECT_THAT(result.err, AllOf(HasSubstr("POSENC_BACKEND"), HasSubstr("allowed")));
      EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    }
  }
}

TEST(Selection, ABackendThatCannotRunHereIsAnError) {
#if defined(__x86_64__)
  if (cpu_has(Isa::avx512)) GTEST_SKIP() << "every backend of this build runs here";
  const auto result =
      run_posenc({"generate", "--rows", "1"},
                 {.environment = {{"POSENC_BACKEND", "rotation:avx512"}}, .out_file = {}});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("avx512"));
#else
  GTEST_SKIP() << "every backend of this build runs here";
#endif
}

TEST(Selection, ExplicitChoicesBeatTheEnvironment) {
  const std::vector<std::string> shape = {"--rows",  "5",      "--d-model", "64",
                                          "--first", "100000", "--format",  "raw"};
  const auto table = [&](std::vector<std::string> choice,
                         const std::map<std::string, std::string>& environment) {
    std::vector<std::string> arguments = {"generate"};
    arguments.insert(arguments.end(), shape.begin(), shape.end());
    arguments.insert(arguments.end(), choice.begin(), choice.end());
    return run_posenc(arguments, {.environment = environment, .out_file = {}}).out;
  };
  const std::string rotation = table({"--backend", "rotation"}, {});
  const std::string div_term = table({"--backend", "div_term"}, {});
  ASSERT_NE(rotation, div_term);
  EXPECT_EQ(table({}, {}), rotation);
  EXPECT_EQ(table({"--backend", "div_term"}, {{"POSENC_BACKEND", "rotation"}}), div_term);
  EXPECT_EQ(table({"--backend", "rotation"}, {{"POSENC_BACKEND", "div_term"}}), rotation);
}

TEST(Accuracy, IsCorrectlyRoundedUnlessAnErrorIsAllowed) {
  EXPECT_EQ(Accuracy(), Accuracy::correctly_rounded());
  EXPECT_NE(Accuracy(), Accuracy::within(1e-6));
  EXPECT_NE(Accuracy::within(1), Accuracy::within_ulp(1));
  EXPECT_EQ(to_string(Accuracy()), "correctly rounded");
  EXPECT_EQ(to_string(Accuracy::within(1e-6)), "within 1e-06");
  EXPECT_EQ(to_string(Accuracy::within_ulp(1)), "within 1 ulp");
  for (const double bad : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(refusal([&] { Accuracy::within(bad); }),
                AllOf(HasSubstr("max_error is"), HasSubstr("allowed")));
    EXPECT_THAT(refusal([&] { Accuracy::within_ulp(bad); }),
                AllOf(HasSubstr("max_ulp is"), HasSubstr("allowed")));
  }
}

TEST(Accuracy, IsHeldAgainstTheEncodersErrorBound) {
  const RowRange rows = {0, 5000};
  const auto promises = [&](const char* name, const Accuracy& accuracy,
                            DataType type = DataType::float32) {
    return accuracy.is_kept_by(promise_of(*backend(name).plan({.d_model = 64}), rows, type));
  };
  for (const DataType type : all_data_types)
    EXPECT_TRUE(promises("rotation", {}, type)) << to_string(type);
  for (const char* name : {"naive", "div_term", "xsimd", "rotation32"}) {
    EXPECT_FALSE(promises(name, {})) << name;
    EXPECT_FALSE(promises(name, Accuracy::within_ulp(1e9))) << name << " promises nothing in ulp";
    EXPECT_TRUE(promises(name, Accuracy::within(0.1))) << name;
  }
  EXPECT_TRUE(promises("rotation", Accuracy::within_ulp(0.5)));
  EXPECT_FALSE(promises("rotation", Accuracy::within_ulp(0.49)));
  EXPECT_TRUE(promises("rotation32", Accuracy::within(1e-6)));
  EXPECT_FALSE(promises("rotation32", Accuracy::within(1e-7)));
  EXPECT_FALSE(promises("div_term", Accuracy::within(1e-6)));
}

TEST(Selection, WithoutAProfileUsesTheFastestAccurateMethodOfTheBuiltInOrder) {
  const auto selected = [](const Accuracy& accuracy, DataType type = DataType::float32,
                           bool adds = false) {
    return select_backend({.d_model = 512}, {0, 5000},
                          {.accuracy = accuracy, .type = type, .adds = adds})
        .backend->full_name();
  };
  for (const DataType type : all_data_types)
    EXPECT_EQ(selected({}, type), best_rotation()) << to_string(type);
  EXPECT_EQ(selected(Accuracy::within(1e-6)), best_rotation32());
  EXPECT_EQ(selected(Accuracy::within(1e-7)), best_rotation());
  EXPECT_EQ(selected(Accuracy::within_ulp(1)), best_rotation());
  EXPECT_EQ(selected(Accuracy::within(1e-6), DataType::float64), best_rotation())
      << "rotation32 writes no float64";
  EXPECT_EQ(selected(Accuracy::within(1e-2), DataType::bfloat16), best_rotation32());
  EXPECT_EQ(selected(Accuracy::within(1e-6), DataType::float32, true), best_rotation())
      << "rotation32 cannot add";
}

TEST(Selection, AnUnattainableAccuracyIsRefusedWithTheBestAttainable) {
  const auto refused = [](const Accuracy& accuracy, DataType type) {
    return refusal([&] {
      select_backend({.d_model = 64}, {0, 10}, {.accuracy = accuracy, .type = type});
    });
  };
  EXPECT_THAT(refused(Accuracy::within(1e-9), DataType::float32),
              AllOf(HasSubstr("accuracy is within 1e-09"),
                    HasSubstr("float32: at least 2.9802322387695312e-08")));
  EXPECT_THAT(refused(Accuracy::within_ulp(0.25), DataType::float32),
              AllOf(HasSubstr("within 0.25 ulp"), HasSubstr("at least 0.5 ulp")));
  EXPECT_THAT(refused(Accuracy::within(1e-6), DataType::bfloat16),
              HasSubstr("bfloat16: at least 0.001953125"));
}

TEST(Selection, ThreadsAreChecked) {
  EXPECT_THAT(refusal([] {
                select_backend({.d_model = 64}, {0, 10}, {.threads = 0});
              }),
              HasSubstr("threads is 0; allowed: at least 1"));
}

TEST(Selection, LayersReportTheirBackendAndTheReason) {
  const PositionalEncoding layer({.d_model = 64}, 100);
  EXPECT_EQ(layer.selection().backend->full_name(), best_rotation());
  EXPECT_THAT(layer.selection().reason, HasSubstr("can add"));
  const Rotary rotary(64);
  EXPECT_EQ(rotary.selection().backend->full_name(), best_rotation());
  const Rotary rough(64, 10000.0, RotaryLayout::halves, Accuracy::within(1e-6));
  EXPECT_EQ(rough.selection().backend->full_name(), best_rotation32());
  EXPECT_THAT(rough.selection().reason, HasSubstr("within 1e-06"));
  EXPECT_THAT(refusal([] {
                PositionalEncoding({.d_model = 64}, 100, 0, EncodingSource::fused,
                                   Accuracy::within(1e-9));
              }),
              HasSubstr("accuracy is within 1e-09"));
}

TEST(Selection, TheSimpleCallTakesAnAccuracy) {
  const RowRange rows = {100'000, 50};
  const EncodingSpec spec = {.d_model = 64};
  const auto bits_of = [&](const char* name) {
    Matrix table(rows.count, spec.d_model);
    backend(name).plan(spec)->encode(rows, table.view());
    return std::vector<float>(table.data(), table.data() + rows.count * spec.d_model);
  };
  const auto is = [&](const Matrix& table, const char* name) {
    return test::same_bits({table.data(), static_cast<std::size_t>(rows.count * spec.d_model)},
                           bits_of(name));
  };
  EXPECT_TRUE(is(encode(rows, spec), "rotation"));
  EXPECT_TRUE(is(encode(rows, spec, Accuracy::within(1e-6)), "rotation32"));
  EXPECT_FALSE(is(encode(rows, spec, Accuracy::within(1e-6)), "rotation"));
}

TEST(Selection, AProfileChangesTheIsaAndOnlyInItsShapeClass) {
  const ScratchFolder folder;
  save_measurements(folder / "profile.json", only_l2, misleading_claims());
  const std::map<std::string, std::string> environment = {
      {"POSENC_PROFILE", (folder / "profile.json").string()}};

  for (const char* users : {"used", "used_by_layers"}) {
    const Used measured = used_for(ShapeClass::l2, environment, users);
    EXPECT_EQ(measured.backend, backend("rotation", rotation_isas().front()).full_name()) << users;
    EXPECT_EQ(measured.source, "profile");
    EXPECT_THAT(measured.reason, HasSubstr("correctly rounded"));
  }
  const Used not_measured = used_for(ShapeClass::memory, environment);
  EXPECT_EQ(not_measured.backend, best_rotation());
  EXPECT_EQ(not_measured.source, "built_in");
  EXPECT_THAT(not_measured.reason, HasSubstr("nothing for memory, float32"));

  const Used rough = used_for(ShapeClass::l2, environment, "used_within");
  EXPECT_THAT(rough.backend, testing::StartsWith("rotation32:"));
  EXPECT_EQ(rough.source, "profile");
}

TEST(Selection, ATieGoesToTheSimplestMethodAtItsBestIsa) {
  const ScratchFolder folder;
  std::vector<Claim> claims;
  for (const Backend* each : test::running_backends()) {
    claims.push_back(
        {std::string(each->name()), each->isa(), each->name() == "rotation32" ? 1e-10 : 1.01e-10});
  }
  save_measurements(folder / "profile.json", only_l2, claims);
  const Used rough = used_for(
      ShapeClass::l2, {{"POSENC_PROFILE", (folder / "profile.json").string()}}, "used_within");
  EXPECT_EQ(rough.backend, backend(backends().front()->name()).full_name());
  EXPECT_THAT(rough.reason, HasSubstr("ties with the fastest"));
  const Used exact =
      used_for(ShapeClass::l2, {{"POSENC_PROFILE", (folder / "profile.json").string()}});
  EXPECT_EQ(exact.backend, best_rotation());
}

TEST(Selection, TheEnvironmentBeatsTheProfile) {
  const ScratchFolder folder;
  save_measurements(folder / "profile.json", only_l2, misleading_claims());
  for (const char* users : {"used", "used_by_layers", "used_by_rotary", "used_within"}) {
    const Used used = used_for(
        users == std::string("used_by_rotary") ? ShapeClass::l1 : ShapeClass::l2,
        {{"POSENC_PROFILE", (folder / "profile.json").string()}, {"POSENC_BACKEND", "rotation"}},
        users);
    EXPECT_EQ(used.backend, best_rotation()) << users;
    EXPECT_EQ(used.source, "environment") << users;
  }
}

TEST(Selection, AnUnusableProfileIsIgnoredWithAReason) {
  const ScratchFolder folder;
  const std::map<std::string, std::string> environment = {
      {"POSENC_PROFILE", (folder / "profile.json").string()}};
  const auto expect_ignored = [&](const std::string& why) {
    const Used used = used_for(ShapeClass::l2, environment);
    EXPECT_EQ(used.backend, best_rotation());
    EXPECT_EQ(used.source, "built_in");
    EXPECT_THAT(used.reason, HasSubstr(why));
    EXPECT_THAT(run_posenc({"list"}, {.environment = environment, .out_file = {}}).out,
                HasSubstr(why));
  };
  write_file(folder / "profile.json", "{ \"version\": 3, ");
  expect_ignored("not JSON");

  save_measurements(folder / "profile.json", only_l2, misleading_claims());
  json document = json::parse(test::read_file(folder / "profile.json"));
  document["machine"]["cpu"] = "Another CPU 9000";
  write_file(folder / "profile.json", document.dump());
  expect_ignored("Another CPU 9000");

  document["version"] = Measurements::format_version + 1;
  write_file(folder / "profile.json", document.dump());
  expect_ignored("posenc pick --save");
}

TEST(Selection, AProfileOfAnUnknownBackendIsIgnored) {
  const ScratchFolder folder;
  save_measurements(folder / "profile.json", only_l2, {{"discontinued", Isa::scalar, 1e-10}});
  const Used used =
      used_for(ShapeClass::l2, {{"POSENC_PROFILE", (folder / "profile.json").string()}});
  EXPECT_EQ(used.backend, best_rotation());
  EXPECT_THAT(used.reason, HasSubstr("no such backend for l2"));
}

TEST(Selection, SearchesXdgConfigHomeThenHomeForTheProfile) {
  const ScratchFolder folder;
  const auto in_xdg = folder / "xdg" / "posenc" / "profile.json";
  const auto in_home = folder / "home" / ".config" / "posenc" / "profile.json";
  // Of another shape class each, so that every profile has its own effect.
  save_measurements(in_xdg, only_l1, {{"rotation", rotation_isas().front(), 1e-10}});
  save_measurements(in_home, only_l2, {{"rotation", rotation_isas().front(), 1e-10}});
  const auto source = [&](ShapeClass shape, const std::string& xdg) {
    return used_for(shape, {{"POSENC_PROFILE", ""},
                            {"XDG_CONFIG_HOME", xdg},
                            {"HOME", (folder / "home").string()}})
        .source;
  };
  const std::string xdg = folder / "xdg";
  EXPECT_EQ(source(ShapeClass::l1, xdg), "profile");
  EXPECT_EQ(source(ShapeClass::l2, xdg), "built_in");
  EXPECT_EQ(source(ShapeClass::l1, ""), "built_in");
  EXPECT_EQ(source(ShapeClass::l2, ""), "profile");
}

/// True if a program gets the bits of rotation everywhere by default, although a profile of all
/// shape classes says that rotation32 is the fastest by far. Call this in a process that has not
/// selected a backend yet.
bool bits_are_those_of_rotation() {
  const ScratchFolder folder;
  save_measurements(folder / "profile.json", all_classes, misleading_claims());
  test::set_environment("POSENC_PROFILE", (folder / "profile.json").string());
  const RowRange rows = {0, 300};
  const EncodingSpec spec = {.d_model = 64};
  const auto floats = static_cast<std::size_t>(rows.count * spec.d_model);
  const auto bytes = floats * sizeof(float);
  const Backend& lowest = backend("rotation", rotation_isas().front());
  Matrix expected(rows.count, spec.d_model);
  lowest.plan(spec)->encode(rows, expected.view());

  // The profile is in use: it decides the ISA, and the method if the program allows an error.
  if (select_backend(spec, rows).backend != &lowest) return false;
  if (select_backend(spec, rows, {.accuracy = Accuracy::within(1e-6)}).backend->name() !=
      "rotation32")
    return false;

  const Matrix table = encode(rows, spec);
  if (std::memcmp(table.data(), expected.data(), bytes) != 0) return false;
  for (const EncodingSource source :
       {EncodingSource::fused, EncodingSource::cached, EncodingSource::automatic}) {
    const PositionalEncoding layer(spec, rows.count, 0.0, source);
    std::vector<float> x(floats, 0.0f);
    layer.forward(batch_first(x.data(), 1, rows.count, spec.d_model));
    for (std::size_t i = 0; i < floats; ++i) {
      if (x[i] != expected.data()[i]) return false;
    }
  }
  const Rotary rotary(64);
  lowest.plan({.d_model = 64, .layout = Layout::halves_cos_first})->encode(rows, expected.view());
  Matrix cache(rows.count, 64);
  rotary.cache(rows, RotaryLayout::halves, cache.view());
  return rotary.selection().backend == &lowest &&
         std::memcmp(cache.data(), expected.data(), bytes) == 0;
}

TEST(SelectionDeathTest, AProfileNeverChangesANumberThatAProgramGetsByDefault) {
  // The "threadsafe" style starts a new process, which has not read its environment yet.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::exit(bits_are_those_of_rotation() ? 0 : 1), testing::ExitedWithCode(0), "");
}

/// The backend of a layer that allows an error, if a profile ranks a backend without add() first.
std::string backend_of_rough_layer() {
  const ScratchFolder folder;
  save_measurements(folder / "profile.json", all_classes, misleading_claims());
  test::set_environment("POSENC_PROFILE", (folder / "profile.json").string());
  const PositionalEncoding layer({.d_model = 64}, 100, 0.0, EncodingSource::automatic,
                                 Accuracy::within(1e-6));
  return layer.selection().backend->full_name();
}

TEST(SelectionDeathTest, LayersPreferBackendsThatSupportAdd) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::string expected = backend("rotation", rotation_isas().front()).full_name();
  EXPECT_EXIT(std::exit(backend_of_rough_layer() == expected ? 0 : 1), testing::ExitedWithCode(0),
              "");
}

TEST(Generate, IsCorrectlyRoundedUnderAnyProfileUnlessAnErrorIsAllowed) {
  const ScratchFolder folder;
  save_measurements(folder / "profile.json", all_classes, misleading_claims());
  const auto table = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"generate", "--rows",   "40", "--d-model",
                                          "64",       "--format", "raw"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto result = run_posenc(
        arguments,
        {.environment = {{"POSENC_PROFILE", (folder / "profile.json").string()}}, .out_file = {}});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  };
  const std::string rotation = table({"--backend", "rotation"});
  EXPECT_EQ(table({}), rotation);
  EXPECT_EQ(table({"--max-ulp", "1"}), rotation);
  EXPECT_EQ(table({"--max-error", "1e-6"}), table({"--backend", "rotation32"}));
  EXPECT_NE(table({"--max-error", "1e-6"}), rotation);
  for (const std::vector<std::string>& bad : {std::vector<std::string>{"--max-error", "1e-12"},
                                              {"--max-ulp", "0"},
                                              {"--max-error", "1e-6", "--backend", "rotation"}}) {
    std::vector<std::string> arguments = {"generate"};
    arguments.insert(arguments.end(), bad.begin(), bad.end());
    EXPECT_EQ(run_posenc(arguments).exit_code, 2) << bad.front();
  }
}

}  // namespace
}  // namespace posenc

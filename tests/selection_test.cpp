// The selection of a backend if the program names none. The library reads its environment once, at
// first use, so that each case runs in its own process.
#include "posenc/selection.h"

#include "command.h"
#include "measurements.h"
#include "posenc/cpu.h"
#include "posenc/model/positional_encoding.h"
#include "posenc/model/rotary.h"
#include "posenc/suite/profile.h"

#include <nlohmann/json.hpp>

#include <limits>

namespace posenc::test {

using namespace model;
namespace {

using nlohmann::json;

std::string best_rotation() { return backend("rotation").full_name(); }
std::string best_rotation32() { return backend("rotation32").full_name(); }

struct Used {
  std::string backend;  // "rotation:avx2"
  std::string source;
  std::string reason;
};

/// The selections that `posenc list` reports: first for exact tables, then for an error of 1e-6.
Used used(const Environment& environment, std::size_t place = 0) {
  const auto result = run_posenc(words("list --format json"), {.environment = environment});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const json each = json::parse(result.out).at("used").at(place);
  return {each.at("backend").get<std::string>() + ":" + each.at("isa").get<std::string>(),
          each.at("source"), each.at("reason")};
}

/// A backend with a made-up time per entry.
struct Claim {
  std::string name;
  Isa isa;
  double seconds;
};

/// A table of that class.
MeasuredTable table_in(ShapeClass wanted) {
  std::int64_t rows = 1;
  while (shape_class(rows * 64 * 4) != wanted) rows *= 2;
  return table_of({.d_model = 64}, {0, rows});
}

/// A document of this machine with these times for tables of the L2 cache.
Measurements claimed_document(const std::vector<Claim>& claims) {
  std::vector<Measurement> rows;
  for (const auto& [name, isa, seconds] : claims) {
    Measurement row = measured(name, 1);
    row.isa = to_string(isa);
    row.table = table_in(ShapeClass::l2);
    row.seconds = samples(seconds * row.table.entries());
    rows.push_back(row);
  }
  return document_of(rows);
}

/// The backend that the profile selects for tables of this class.
Selection selected(const Profile& profile, ShapeClass shape, const Accuracy& accuracy = {}) {
  const MeasuredTable table = table_in(shape);
  return profile.select(table.spec, table.rows, {.accuracy = accuracy});
}

/// Times that rank rotation32 first by far, then rotation at its lowest ISA, then the rest.
std::vector<Claim> misleading_claims() {
  std::vector<Claim> claims;
  for (const Backend* each : running_backends()) {
    const bool is_lowest = each == running_backends("rotation").front();
    const double seconds = each->name() == "rotation32" ? 1e-10 : is_lowest ? 2e-10 : 9e-10;
    claims.push_back({std::string(each->name()), each->isa(), seconds});
  }
  return claims;
}

TEST(Selection, IsRotationAtTheBestIsaByDefault) {
  EXPECT_EQ(used({{"POSENC_BACKEND", ""}}).source, "built_in");
  const Used listed = used({});
  EXPECT_EQ(listed.backend, best_rotation());
  EXPECT_EQ(listed.source, "built_in");
  EXPECT_THAT(listed.reason, HasSubstr("built-in order"));
  EXPECT_EQ(used({}, 1).backend, best_rotation32());
}

TEST(Selection, TheEnvironmentNamesAMethodOrAFullName) {
  for (const auto& [value, expected] : std::map<std::string, std::string>{
           {"rotation:portable", "rotation:portable"}, {"rotation", best_rotation()}}) {
    const Used named = used({{"POSENC_BACKEND", value}});
    EXPECT_EQ(named.backend, expected);
    EXPECT_EQ(named.source, "environment");
    EXPECT_THAT(named.reason, HasSubstr("POSENC_BACKEND"));
  }
}

TEST(Selection, TheEnvironmentChoosesOnlyAmongBackendsThatPromiseTheAccuracy) {
  const auto generated = [](const std::string& name, const std::string& more = "") {
    return run_posenc(small_csv + more, {.environment = {{"POSENC_BACKEND", name}}});
  };
  for (const char* name : {"naive", "div_term", "xsimd", "rotation32"}) {
    const auto result = generated(name);
    EXPECT_EQ(result.exit_code, 2) << name;
    EXPECT_THAT(result.out, IsEmpty());
    EXPECT_THAT(result.err, AllOf(HasSubstr(name), HasSubstr("correctly rounded"),
                                  HasSubstr("allowed: rotation\n")));
  }
  EXPECT_EQ(generated("rotation32", "--max-error 1e-6").exit_code, 0);
  EXPECT_THAT(generated("div_term", "--max-error 1e-9").err,
              HasSubstr("accuracy is within 1e-09; allowed for float32"));
}

TEST(Selection, AnUnknownNameInTheEnvironmentIsAnErrorAndNeverAFallback) {
  for (const char* line : {"list", "generate --rows 3"}) {
    for (const char* value : {"nonsense", "rotation:nonsense", "naive:avx2", "naive", " "}) {
      SCOPED_TRACE(line);
      const auto result = run_posenc(words(line), {.environment = {{"POSENC_BACKEND", value}}});
      expect_refused(result, "POSENC_BACKEND");
      EXPECT_THAT(result.err, HasSubstr("allowed"));
    }
  }
}

TEST(Selection, ExplicitChoicesBeatTheEnvironment) {
  const auto table = [](const std::string& choice, const Environment& environment) {
    return run_posenc(words("generate --rows 5 --d-model 64 --first 100000 --format raw") + choice,
                      {.environment = environment})
        .out;
  };
  const std::string rotation = table("--backend rotation", {});
  const std::string div_term = table("--backend div_term", {});
  ASSERT_NE(rotation, div_term);
  EXPECT_EQ(table("--backend div_term", {{"POSENC_BACKEND", "rotation"}}), div_term);
  EXPECT_EQ(table("--backend rotation", {{"POSENC_BACKEND", "div_term"}}), rotation);
}

TEST(Accuracy, IsTextAndMustBeAbove0) {
  EXPECT_EQ(to_string(Accuracy()), "correctly rounded");
  EXPECT_EQ(to_string(Accuracy::within(1e-6)), "within 1e-06");
  EXPECT_EQ(to_string(Accuracy::within_ulp(1)), "within 1 ulp");
  for (const double bad : {0.0, -1.0, nan, std::numeric_limits<double>::infinity()}) {
    expect_refused({{"max_error is", [&] { Accuracy::within(bad); }},
                    {"max_ulp is", [&] { Accuracy::within_ulp(bad); }}});
  }
}

TEST(Accuracy, IsHeldAgainstTheEncodersErrorBound) {
  const auto keeps = [](const char* name, const Accuracy& accuracy) {
    return promises(backend(name), {.d_model = 64}, {0, 5000}, {.accuracy = accuracy});
  };
  for (const char* name : {"naive", "div_term", "xsimd", "rotation32"}) {
    EXPECT_FALSE(keeps(name, {})) << name;
    EXPECT_FALSE(keeps(name, Accuracy::within_ulp(1e9))) << name << " promises nothing in ulp";
    EXPECT_TRUE(keeps(name, Accuracy::within(0.1))) << name;
  }
  EXPECT_TRUE(keeps("rotation", Accuracy::within_ulp(0.5)));
  EXPECT_FALSE(keeps("rotation", Accuracy::within_ulp(0.49)));
  EXPECT_FALSE(keeps("div_term", Accuracy::within(1e-6)));
}

TEST(Selection, UsesTheFastestAccurateMethodOfTheBuiltInOrder) {
  const auto selected = [](const Accuracy& accuracy, DataType type = DataType::float32) {
    return select_backend({.d_model = 512}, {0, 5000}, {.accuracy = accuracy, .type = type})
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
}

TEST(Selection, AnUnattainableAccuracyIsRefusedWithTheBestAttainable) {
  const auto select = [](const Accuracy& accuracy, DataType type) {
    return [=] { select_backend({.d_model = 64}, {0, 10}, {.accuracy = accuracy, .type = type}); };
  };
  expect_refused({
      {"accuracy is within 1e-09; allowed for float32: at least 2.9802322387695312e-08",
       select(Accuracy::within(1e-9), DataType::float32)},
      {"at least 0.5 ulp", select(Accuracy::within_ulp(0.25), DataType::float32)},
      {"bfloat16: at least 0.001953125", select(Accuracy::within(1e-6), DataType::bfloat16)},
  });
}

TEST(Selection, LayersReportTheirBackendAndTheReason) {
  EXPECT_EQ(PositionalEncoding({.d_model = 64}, 100).selection().backend->full_name(),
            best_rotation());
  const Rotary rough(64, 10000.0, RotaryLayout::halves, {}, Accuracy::within(1e-6));
  EXPECT_EQ(rough.selection().backend->full_name(), best_rotation32());
  EXPECT_THAT(rough.selection().reason, HasSubstr("within 1e-06"));
}

TEST(Selection, TheSimpleCallTakesAnAccuracyOrThreads) {
  const RowRange rows = {100'000, 50};
  const EncodingSpec spec = {.d_model = 64};
  const auto is = [&](const Matrix& table, const char* name) {
    return same_bits(table, encoded(*backend(name).plan(spec), rows));
  };
  EXPECT_TRUE(is(encode(rows, spec), "rotation"));
  EXPECT_TRUE(is(encode(rows, spec, 2), "rotation"));
  EXPECT_EQ(encode(0, 512).rows(), 0);
  EXPECT_TRUE(is(encode(rows, spec, Accuracy::within(1e-6)), "rotation32"));
  EXPECT_FALSE(is(encode(rows, spec, Accuracy::within(1e-6)), "rotation"));
}

TEST(Profile, SelectsTheFastestThatPromisesTheAccuracyInItsShapeClass) {
  const Profile profile(claimed_document(misleading_claims()));
  const Selection exact = selected(profile, ShapeClass::l2);
  EXPECT_EQ(exact.backend, running_backends("rotation").front());
  EXPECT_EQ(exact.source, SelectionSource::profile);
  EXPECT_THAT(exact.reason, HasSubstr("the fastest of the backends that are correctly rounded"));
  EXPECT_EQ(selected(profile, ShapeClass::l2, Accuracy::within(1e-6)).backend->name(),
            "rotation32");
  const Profile unknown(claimed_document({{"discontinued", Isa::portable, 1e-10}}));
  EXPECT_EQ(selected(unknown, ShapeClass::l2).backend->full_name(), best_rotation());
  const Selection not_measured = selected(profile, ShapeClass::memory);
  EXPECT_EQ(not_measured.backend->full_name(), best_rotation());
  EXPECT_EQ(not_measured.source, SelectionSource::built_in);
  const EncodingSpec spec = {.d_model = 64};
  const RowRange rows = {0, 10};
  expect_refused({
      {"threads is 0; allowed: at least 1", [&] { profile.select(spec, rows, {}, 0); }},
      {"allowed for float32: at least",
       [&] { selected(profile, ShapeClass::l2, Accuracy::within(1e-12)); }},
  });
}

TEST(Profile, OfATieTakesTheSimplestMethodAtItsBestIsa) {
  std::vector<Claim> claims;
  for (const Backend* each : running_backends()) {
    claims.push_back(
        {std::string(each->name()), each->isa(), each->name() == "rotation32" ? 1e-10 : 1.01e-10});
  }
  const Profile profile(claimed_document(claims));
  const Selection rough = selected(profile, ShapeClass::l2, Accuracy::within(1e-6));
  EXPECT_EQ(rough.backend->full_name(), backend(backends().front()->name()).full_name());
  EXPECT_THAT(rough.reason, HasSubstr("ties with the fastest"));
  EXPECT_EQ(selected(profile, ShapeClass::l2).backend->full_name(), best_rotation());
}

TEST(Generate, IsCorrectlyRoundedUnlessAnErrorIsAllowed) {
  const auto table = [](const std::string& more) {
    return run_posenc(words("generate --rows 40 --d-model 64 --format raw") + words(more)).out;
  };
  const std::string rotation = table("--backend rotation"), rough = table("--max-error 1e-6");
  EXPECT_EQ(table(""), rotation);
  EXPECT_EQ(table("--max-ulp 1"), rotation);
  EXPECT_EQ(rough, table("--backend rotation32"));
  EXPECT_NE(rough, rotation);
  expect_refused(run_posenc(words("generate --max-error 1e-6 --backend rotation")), "");
}

}  // namespace
}  // namespace posenc::test

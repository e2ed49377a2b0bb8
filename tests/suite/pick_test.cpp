// The verdict on given measurements. No test here reads a clock, so that each gives the same result
// on every machine.
#include "posenc/suite/pick.h"

#include "measurements.h"

namespace posenc::test {
namespace {

Verdict verdict_on(std::vector<Measurement> rows,
                   const Accuracy& accuracy = Accuracy::within(1e-6)) {
  const auto verdicts = pick(document_of(std::move(rows)), accuracy);
  EXPECT_THAT(verdicts, SizeIs(1));
  return verdicts.front();
}

/// The pick, and the backends that tie with it: "simple = fast"; "none" if there is no pick.
std::string picked_from(const std::vector<Measurement>& rows,
                        const Accuracy& accuracy = Accuracy::within(1e-6)) {
  const Verdict verdict = verdict_on(rows, accuracy);
  std::string picked = verdict.pick ? verdict.pick->backend : "none";
  for (const Candidate& each : verdict.others)
    if (each.tied) picked += " = " + each.backend;
  return picked;
}

TEST(Verdict, TheFastestWinsByItsMargin) {
  const std::vector<Measurement> rows = {measured("simple", 2e-6), measured("fast", 1e-6),
                                         measured("slow", 9e-6)};
  EXPECT_EQ(picked_from(rows), "fast");
  const Verdict verdict = verdict_on(rows);
  EXPECT_NEAR(verdict.pick->gfloats_per_second, 2.56, 0.01);
  ASSERT_THAT(verdict.others, SizeIs(2));
  EXPECT_EQ(verdict.next(), &verdict.others[0]);
  EXPECT_EQ(verdict.others[0].backend, "simple");
  EXPECT_NEAR(verdict.others[0].time.ratio, 2, 0.01);
  EXPECT_LT(verdict.others[0].time.low, 2.001);
  EXPECT_GT(verdict.others[0].time.high, 1.999);
  EXPECT_EQ(verdict.others[1].backend, "slow");
  EXPECT_NEAR(verdict.others[1].time.ratio, 9, 0.1);
}

TEST(Verdict, EachTableOfALevelHasOneOfItsOwn) {
  std::vector<Measurement> rows = {measured("one", 1e-6), measured("other", 2e-6),
                                   measured("one", 2e-6), measured("other", 1e-6)};
  for (std::size_t i = 2; i < 4; ++i) rows[i].table = table_of({.d_model = 32}, {0, 40});
  const Measurements document = document_of(rows);
  const Accuracy accuracy = Accuracy::within(1e-6);
  ASSERT_THAT(pick(document, accuracy), SizeIs(1)) << "both are in one level";
  const auto by_table = pick(document, accuracy, Grouping::tables);
  ASSERT_THAT(by_table, SizeIs(2));
  EXPECT_EQ(by_table[0].pick.value().backend, "one");
  EXPECT_EQ(by_table[0].measured.text(), "40x64");
  EXPECT_EQ(by_table[1].pick.value().backend, "other");
  EXPECT_EQ(by_table[1].measured.text(), "40x32");
}

TEST(Verdict, ATieGoesToTheSimplestAndItsCostIsReported) {
  const std::vector<Measurement> rows = {measured("simple", 1.01e-6), measured("fast", 1e-6)};
  EXPECT_EQ(picked_from(rows), "simple = fast");
  EXPECT_NEAR(verdict_on(rows).next()->time.ratio, 1 / 1.01, 0.001);
}

TEST(Verdict, RatiosWithinTheNoiseFloorAreTies) {
  std::vector<Measurement> rows = {measured("simple", 1.2e-6), measured("fast", 1e-6)};
  EXPECT_EQ(picked_from(rows), "fast");
  rows.back().self_ratios = samples(1, 0.3);
  // Two of nine ratios are 0.7, and 1 / 0.7 is 1.43.
  EXPECT_NEAR(verdict_on(rows).measured.noise_floor, 0.43, 0.02);
  EXPECT_EQ(picked_from(rows), "fast = simple") << "being simpler is worth no 20 %";
  rows.front() = measured("simple", 1.05e-6);
  EXPECT_EQ(picked_from(rows), "simple = fast") << "it is worth 5 %, if they are certain";
}

TEST(Verdict, WithOneProcessAllCandidatesTie) {
  std::vector<Measurement> rows = {measured("simple", 5e-6), measured("fast", 1e-6)};
  for (Measurement& each : rows) each.seconds.resize(1);
  EXPECT_EQ(picked_from(rows), "fast = simple");
}

TEST(Verdict, ThePromiseDecidesWhoMayWinWhateverWasMeasured) {
  std::vector<Measurement> rows = {measured("exact", 2e-6, 1e-8), measured("rough", 1e-6, 3e-7)};
  EXPECT_EQ(picked_from(rows), "rough");
  EXPECT_EQ(picked_from(rows, Accuracy::within(5e-7)), "exact")
      << "3e-7 is measured, 6e-7 promised";
  EXPECT_EQ(picked_from(rows, Accuracy::within(1e-12)), "none");
  EXPECT_EQ(picked_from(rows, Accuracy::within_ulp(11)), "rough");
  EXPECT_EQ(picked_from(rows, Accuracy::within_ulp(9)), "exact") << "5 measured, 10 promised";
  EXPECT_EQ(picked_from(rows, {}), "none") << "none is correctly rounded";
  rows.front().promise->is_correctly_rounded = true;
  EXPECT_EQ(picked_from(rows, {}), "exact") << "the default";
  rows.front().promise.reset();
  EXPECT_EQ(picked_from(rows, Accuracy::within(5e-7)), "none") << "no promise, no pick";
}

TEST(Verdict, ABackendThatBreaksItsPromiseCannotWin) {
  std::vector<Measurement> rows = {measured("breaks", 1e-7), measured("keeps", 1e-6)};
  rows.front().promise->max_abs = 1e-9;
  const Verdict verdict = verdict_on(rows);
  EXPECT_EQ(verdict.pick->backend, "keeps");
  EXPECT_FALSE(verdict.others.front().compared);
}

TEST(Verdict, PeersAreComparedAndLimitsAreNot) {
  std::vector<Measurement> rows = {measured("ours", 2e-6), measured("peer", 1e-6),
                                   measured("store", 1e-7)};
  rows[1].role = Role::peer;
  rows[2].role = Role::limit;
  const Verdict verdict = verdict_on(rows);
  EXPECT_EQ(verdict.pick->backend, "ours");
  ASSERT_THAT(verdict.others, SizeIs(1));
  EXPECT_NEAR(verdict.others.front().time.ratio, 0.5, 0.01);
  EXPECT_EQ(verdict.next(), nullptr);
}

TEST(Verdict, ABackendNotTimedOnEveryTableCannotWin) {
  std::vector<Measurement> rows = {measured("whole", 2e-6), measured("whole", 2e-6),
                                   measured("partial", 1e-6)};
  rows[1].table = table_of({.d_model = 64}, {0, 41});
  EXPECT_EQ(picked_from(rows), "whole");
  rows.push_back(measured("partial", 1e-6));
  rows.back().table = rows[1].table;
  EXPECT_EQ(picked_from(rows), "partial");
  rows.back().seconds.clear();
  EXPECT_EQ(picked_from(rows), "whole");
}

TEST(Verdict, ClassesDifferInSizeTypeAndThreads) {
  std::vector<Measurement> rows;
  for (const std::int64_t count : {1 << 22, 40}) {
    for (const DataType type : {DataType::float32, DataType::float16}) {
      for (const int threads : {1, 4}) {
        rows.push_back(measured("one", 1e-6));
        rows.back().table = table_of({.d_model = 64}, {0, count}, type, threads);
      }
    }
  }
  rows.push_back(measured("padded", 1e-9));
  rows.back().table.stride = 65;
  rows.push_back(measured("forced", 1e-9));
  rows.back().table.stores = StorePolicy::cached;
  const std::vector<MeasuredClass> classes = classes_of(document_of(rows));
  std::vector<std::string> names;
  for (const MeasuredClass& each : classes) {
    names.push_back(each.text());
    EXPECT_THAT(each.candidates, SizeIs(1)) << "dense tables, stored as the library decides";
  }
  EXPECT_THAT(names, ElementsAre("l1, float32, 1 thread", "l1, float32, 4 threads",
                                 "l1, float16, 1 thread", "l1, float16, 4 threads",
                                 "memory, float32, 1 thread", "memory, float32, 4 threads",
                                 "memory, float16, 1 thread", "memory, float16, 4 threads"));
}

}  // namespace
}  // namespace posenc::test

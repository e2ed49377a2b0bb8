// Operations that are safe from many threads at once. The preset tsan runs these tests under
// ThreadSanitizer.
#include "fake_backend.h"
#include "posenc/cpu.h"
#include "posenc/encoder.h"
#include "posenc/registry.h"
#include "posenc/selection.h"
#include "posenc/suite/document.h"
#include "posenc/suite/profile.h"
#include "support.h"

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace posenc::test {
namespace {

constexpr int thread_count = 8;

/// Calls work(0) to work(thread_count - 1), each on its own thread, all released together. Not by
/// std::barrier, whose waits can last forever with libstdc++ 12 on Windows.
void at_once(const std::function<void(int)>& work) {
  std::atomic<int> missing = thread_count;
  std::vector<JoiningThread> threads;
  for (int i = 0; i < thread_count; ++i) {
    threads.emplace_back([&, i] {
      for (--missing; missing > 0;) std::this_thread::yield();
      work(i);
    });
  }
}

class OneEncoder : public testing::TestWithParam<const Backend*> {};

/// Large enough for several pieces: by one caller, and by many, each alone or with helpers, which
/// their loops share.
TEST_P(OneEncoder, ServesManyThreadsAtOnce) {
  const EncodingSpec spec{.d_model = 1024};
  const auto encoder = GetParam()->plan(spec);
  const RowRange rows{1'000'000, 200};
  const Matrix expected = encoded(*encoder, rows);
  const std::vector<std::int64_t> positions = positions_of(rows);
  std::atomic<int> wrong = 0;
  const auto encode_often = [&](int caller) {
    for (int repetition = 0; repetition < 4; ++repetition) {
      const int threads = (caller + repetition) % 2 == 0 ? 4 : 1;
      Matrix gathered(rows.count, spec.d_model);
      encoder->encode(positions, gathered.view(), threads);
      wrong +=
          !same_bits(encoded(*encoder, rows, threads), expected) || !same_bits(gathered, expected);
    }
  };
  encode_often(0);
  at_once(encode_often);
  EXPECT_EQ(wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(Threads, OneEncoder, testing::ValuesIn(running_backends()), of_backend);

TEST(Threads, MayAllBeTheFirstToPlanToSelectAndToAskForTheCpu) {
  std::atomic<int> wrong = 0;
  at_once([&](int i) {
    static const Cpu* const found = &cpu();
    wrong += found != &cpu() || found->isas.empty();
    const auto all = running_backends();
    const Backend& mine = *all[static_cast<std::size_t>(i) % all.size()];
    // Another test in this process may have registered a fake backend.
    if (mine.description() != fake_method({}).description)
      wrong += encoded(*mine.plan({.d_model = 64}), {0, 1})(0, 1) != 1.0F;
    const Selection selected = select_backend({.d_model = 32}, {0, 16});
    const Matrix table = encoded(*selected.backend->plan({.d_model = 32}), {0, 16});
    wrong += !same_bits(encode(16, 32), table);
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, MaySaveAndLoadOneProfileAtOnce) {
  const ScratchFolder folder;
  const auto file = folder / "profile.json";
  write_measurements(measurements_of_this_machine(), file);
  std::atomic<int> unusable = 0;
  at_once([&](int i) {
    for (int repetition = 0; repetition < 5; ++repetition) {
      if (i % 2 == 0) {
        write_measurements(measurements_of_this_machine(), file);
      } else {
        try {
          Profile::load(file);
        } catch (const InvalidArgument&) {
          ++unusable;
        }
      }
    }
  });
  EXPECT_EQ(unusable, 0) << "a reader saw a file half-written";
}

}  // namespace
}  // namespace posenc::test

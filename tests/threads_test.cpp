// Operations that are safe from many threads at once. The preset tsan runs these tests under
// ThreadSanitizer.
#include "fake_backend.h"
#include "posenc/cpu.h"
#include "posenc/encoder.h"
#include "posenc/model/axes_encoder.h"
#include "posenc/model/positional_encoding.h"
#include "posenc/model/rotary.h"
#include "posenc/registry.h"
#include "posenc/selection.h"
#include "posenc/suite/document.h"
#include "posenc/suite/profile.h"
#include "support.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>
#include <stdexcept>
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

/// Runs each piece in a thread of its own, the last one first.
class Engine : public EngineThreads {
 public:
  void run(int count, const std::function<void(int)>& piece) override {
    std::vector<JoiningThread> threads;
    for (int i = count - 1; i >= 0; --i) threads.emplace_back([&piece, i] { piece(i); });
    pieces += count;
  }
  int pieces = 0;
};

/// Every call that takes threads, on tables of several pieces.
Matrix made_by(int call, const Threads& threads) {
  constexpr std::int64_t rows = 301, d_model = 256;
  Matrix table(rows, d_model);
  std::fill_n(table.data(), rows * d_model, 0.75F);
  const auto encoder = backend("rotation").plan({.d_model = d_model});
  const std::vector<std::int64_t> scattered = positions_of({7, rows});
  const model::Rotary rotary(d_model);
  const auto axes = model::axes_in_blocks({d_model / 2, d_model / 2}, {});
  std::vector<std::int64_t> on_axes(2 * rows);
  std::iota(on_axes.begin(), on_axes.end(), -5);
  switch (call) {
    case 0: encoder->encode(RowRange{-3, rows}, table, threads); break;
    case 1: encoder->encode(scattered, table, threads); break;
    case 2: encoder->add(RowRange{-3, rows}, table.view(), 2, table.view(), threads); break;
    case 3:
      model::AxesEncoder(axes).encode(model::RowPositions(on_axes.data(), 2, rows, rows), table,
                                      threads);
      break;
    case 4: rotary.cache(RowRange{-3, rows}, model::RotaryLayout::halves, table, threads); break;
    case 5:
      rotary.apply(model::rows_first(table.data(), 1, rows, 1, d_model), 5, {.threads = threads});
      break;
    default:
      model::PositionalEncoding({.d_model = d_model}, rows)
          .forward(model::batch_first(table.data(), 1, rows, d_model), {.threads = threads});
  }
  return table;
}

class CallOnAnEngine : public testing::TestWithParam<int> {};

TEST_P(CallOnAnEngine, HasTheSameBits) {
  const Matrix expected = made_by(GetParam(), 1);
  for (const int count : {2, 3, 8, 16}) {
    Engine engine;
    EXPECT_TRUE(same_bits(made_by(GetParam(), {count, engine}), expected)) << count;
    EXPECT_GE(engine.pieces, 2) << count;
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, CallOnAnEngine, testing::Range(0, 7));

TEST(Threads, OfAnEngineThatFailsAreAnError) {
  struct Failing : EngineThreads {
    void run(int, const std::function<void(int)>& piece) override {
      piece(0);
      if (throws) throw std::runtime_error("no thread is free");
    }
    bool throws = false;
  } engine;
  Matrix table(300, 256);
  const auto encoder = backend("rotation").plan({.d_model = 256});
  const auto encode = [&] { encoder->encode(RowRange{0, 300}, table, Threads(2, engine)); };
  EXPECT_THROW(encode(), std::logic_error);  // a piece is missing
  engine.throws = true;
  EXPECT_THROW(encode(), std::runtime_error);
}

}  // namespace
}  // namespace posenc::test

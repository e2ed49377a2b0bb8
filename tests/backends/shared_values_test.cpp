// Frequencies are computed once a process, and no more than a bounded number of them is kept.
#include "posenc/backends/shared_values.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>

namespace posenc {
namespace {

using SharedFrequencyValues = SharedValues<EncodingSpec, Frequencies>;

TEST(SharedFrequencies, AreThoseOfEveryLayout) {
  const auto first = shared_frequencies(EncodingSpec{.d_model = 62});
  EXPECT_EQ(shared_frequencies(EncodingSpec{.d_model = 62}), first);
  EXPECT_EQ(shared_frequencies(EncodingSpec{.d_model = 62, .layout = Layout::halves}), first);
}

TEST(SharedFrequencies, DifferInAllThatFrequenciesDependOn) {
  const auto first = shared_frequencies(EncodingSpec{.d_model = 62});
  EXPECT_NE(shared_frequencies(EncodingSpec{.d_model = 60}), first);
  EXPECT_NE(shared_frequencies(EncodingSpec{.d_model = 62, .base = 10001}), first);
  EXPECT_NE(shared_frequencies(EncodingSpec{.d_model = 62, .spacing = Spacing::inclusive}), first);
  EXPECT_NE(shared_frequencies(EncodingSpec{.d_model = 62, .frequencies = LinearScaling{2}}),
            first);
}

TEST(SharedFrequencies, AreNotKeptForever) {
  const std::weak_ptr<const Frequencies> first = shared_frequencies(EncodingSpec{.d_model = 58});
  EXPECT_FALSE(first.expired());
  shared_frequencies(EncodingSpec{.d_model = 2 * SharedFrequencyValues::most_frequencies});
  EXPECT_TRUE(first.expired());
}

TEST(SharedFrequencies, AreThoseOfFewSpecs) {
  const std::weak_ptr<const Frequencies> first = shared_frequencies(EncodingSpec{.d_model = 56});
  for (std::size_t i = 1; i <= SharedFrequencyValues::most_values; ++i) {
    EXPECT_FALSE(first.expired());
    shared_frequencies(EncodingSpec{.d_model = 2, .base = 20000 + static_cast<double>(i)});
  }
  EXPECT_TRUE(first.expired());
}

TEST(SharedFrequencies, OfMoreThanTheBoundAreNotKept) {
  const std::weak_ptr<const Frequencies> first =
      shared_frequencies(EncodingSpec{.d_model = 2 * SharedFrequencyValues::most_frequencies + 2});
  EXPECT_TRUE(first.expired());
}

}  // namespace
}  // namespace posenc

// rotation: angle addition from exactly reduced anchors, correctly rounded.
//
// Method  simd/rotation/rotation-inl.h, which also derives the error; position 0 is written here
// Error   half an ulp, for every type
// Range   every position up to max_position
// Cost    AVX2: 56 operations for 32 floats (simd/rotation/rounding-inl.h)
#include "posenc/backends/backends.h"
#include "posenc/backends/rotation_constants.h"
#include "posenc/backends/shared_values.h"
#include "posenc/backends/vectorised.h"
#include "posenc/exact/entry.h"
#include "posenc/simd/row_task.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace posenc {
namespace {

class RotationEncoder final : public Encoder {
 public:
  static constexpr Method method = {
      .name = "rotation",
      .description = "angle addition from exact anchors, correctly rounded",
      .supports_add = true,
      .is_correctly_rounded = true};

  RotationEncoder(const EncodingSpec& spec, const Backend& backend,
                  const simd::IsaKernels& compiled)
      : Encoder(spec, backend),
        kernel_(compiled.kernels.rotation),
        exact_(shared_frequencies(spec)),
        constants_(shared_rotation_constants(spec, *exact_, compiled.kernels)) {}

  RotationEncoder(const EncodingSpec& spec, const Backend& backend,
                  const simd::IsaKernels& compiled, const RepeatedRows& repeated)
      : RotationEncoder(spec, backend, compiled) {
    if (repeated.type != DataType::float64) find_uncertain_entries(repeated);
  }

  /// Half an ulp of a value below 1, because every entry is correctly rounded.
  double error_bound(RowRange, DataType type) const noexcept override {
    return half_ulp_of_one(type);
  }

 private:
  /// An entry of the repeated rows that an encoding without checks may round wrongly.
  struct UncertainEntry {
    std::int64_t position;
    std::int64_t column;
    std::uint64_t bits;  ///< of the correctly rounded value
  };

  /// Collects the entries that the kernel asks for, if there are at most `most`.
  struct Search {
    const RotationEncoder& encoder;
    std::size_t most;
    std::vector<UncertainEntry> found = {};
    bool has_too_many = false;  ///< more than `most`, or than there is memory for

    static std::uint64_t keep(const void* self, std::int64_t position, std::int64_t k,
                              bool is_cosine, DataType type) noexcept {
      auto& search = *static_cast<Search*>(const_cast<void*>(self));
      const std::uint64_t bits = exact_entry(&search.encoder, position, k, is_cosine, type);
      search.has_too_many = search.has_too_many || search.found.size() == search.most;
      if (search.has_too_many) return bits;
      const ChannelPair channel = channels_of(search.encoder.spec(), k);
      try {
        search.found.push_back({position, is_cosine ? channel.cosine : channel.sine, bits});
      } catch (const std::bad_alloc&) {
        search.has_too_many = true;
      }
      return bits;
    }
  };

  /// Encodes the repeated rows, and keeps the entries that are within twice the error bound of a
  /// midpoint. Any other exact value is farther from it than the bound, so that a value within the
  /// bound of the exact one rounds correctly, whichever row its block begins at. Keeps nothing if
  /// these entries are not few, as in columns of tiny values: each call then checks.
  void find_uncertain_entries(const RepeatedRows& repeated) {
    const RowRange rows = repeated.rows;
    Search search = {*this, static_cast<std::size_t>(rows.count * spec().d_model / 64 + 16)};
    simd::RotationTables tables = constants_->tables(spec(), repeated.type);
    tables.context = &search;
    tables.exact_entry = Search::keep;
    tables.error_bounds = 2;
    constexpr std::int64_t at_once = simd::block_rows * simd::anchored_blocks;
    std::vector<char> scratch(static_cast<std::size_t>(std::min(at_once, rows.count) *
                                                       spec().d_model * size_of(repeated.type)));
    // The row of position 0 is written without a kernel.
    for (std::int64_t first = std::max<std::int64_t>(rows.first, 1), end = rows.first + rows.count;
         first < end && !search.has_too_many; first += at_once) {
      kernel_(tables,
              {first, std::min(at_once, end - first), scratch.data(), spec().d_model, repeated.type,
               false},
              nullptr);
    }
    if (search.has_too_many) return;
    std::ranges::sort(search.found, {}, &UncertainEntry::position);
    uncertain_ = std::move(search.found);
    repeated_ = repeated;
    may_add_unchecked_ = every_row_has_few_entries();
  }

  /// True if no row has more than most_sums uncertain entries.
  bool every_row_has_few_entries() const noexcept {
    for (std::size_t i = most_sums; i < uncertain_.size(); ++i) {
      if (uncertain_[i].position == uncertain_[i - most_sums].position) return false;
    }
    return true;
  }

  bool is_repeated(const RowTask& task) const noexcept {
    const RowRange rows = repeated_.rows;
    return task.type == repeated_.type && task.first >= rows.first &&
           task.count <= rows.first + rows.count - task.first;
  }

  /// The uncertain entries of a task's rows.
  std::span<const UncertainEntry> uncertain_entries(const RowTask& task) const noexcept {
    const auto from = [this](std::int64_t position) {
      return std::ranges::lower_bound(uncertain_, position, {}, &UncertainEntry::position);
    };
    return {from(task.first), from(task.first + task.count)};
  }

  void write_repeated_rows(const simd::RotationTables& unchecked,
                           const RowTask& task) const noexcept {
    kernel_(unchecked, task, nullptr);
    with_type(task.type, [&]<class T>(T) {
      for (const UncertainEntry& entry : uncertain_entries(task)) {
        using Bits =
            std::conditional_t<sizeof(T) == 2, std::uint16_t,
                               std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
        task.row<T>(entry.position - task.first)[entry.column] =
            std::bit_cast<T>(static_cast<Bits>(entry.bits));
      }
    });
  }

  /// The sums of some uncertain entries, which are computed before the kernel may overwrite x.
  static constexpr std::size_t most_sums = 64;
  struct UncertainSums {
    float* place[most_sums];
    float sum[most_sums];
    std::size_t count = 0;

    void add(float* out, const simd::Addition& addition, const UncertainEntry& entry) noexcept {
      place[count] = out;
      sum[count] = out[addition.distance] * addition.scale +
                   std::bit_cast<float>(static_cast<std::uint32_t>(entry.bits));
      ++count;
    }
    void write() const noexcept {
      for (std::size_t i = 0; i < count; ++i) *place[i] = sum[i];
    }
  };

  /// Adds as many rows at a time as have at most most_sums uncertain entries. No row may have more.
  void add_repeated_rows(const simd::RotationTables& unchecked, RowTask task,
                         const simd::Addition& addition) const noexcept {
    while (task.count > 0) {
      auto entries = uncertain_entries(task);
      std::int64_t rows = task.count;
      if (entries.size() > most_sums) {
        rows = entries[most_sums].position - task.first;
        entries = uncertain_entries(task.part(0, rows));
      }
      UncertainSums sums;
      for (const UncertainEntry& entry : entries)
        sums.add(task.row<float>(entry.position - task.first) + entry.column, addition, entry);
      kernel_(unchecked, task.part(0, rows), &addition);
      sums.write();
      task = task.after(rows);
    }
  }

  static std::uint64_t exact_entry(const void* self, std::int64_t position, std::int64_t k,
                                   bool is_cosine, DataType type) noexcept {
    const auto* const encoder = static_cast<const RotationEncoder*>(self);
    return rounded_entry(*encoder->exact_, k, position, is_cosine, type).bits;
  }

  void encode_rows(const RowTask& task) const noexcept override { write(task, nullptr); }

  void add_rows(const RowTask& task, const float* x, float scale) const noexcept override {
    // Not a difference of pointers, which is defined within one array only.
    const auto bytes = static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(x) -
                                                   reinterpret_cast<std::uintptr_t>(task.out));
    const simd::Addition addition = {bytes / std::ptrdiff_t{sizeof(float)}, scale};
    write(task, &addition);
  }

  void write(RowTask task, const simd::Addition* addition) const noexcept {
    task = with_allowed_stores(spec(), task);
    if (task.first == 0) {
      // No error bound, however small, makes the rounding of 0 certain: the kernel would recompute
      // every sine.
      addition == nullptr ? write_row_0(spec(), task) : add_row_0(task, *addition);
      if (task.count == 1) return;
      task = task.after(1);
    }
    simd::RotationTables tables = constants_->tables(spec(), task.type);
    tables.exact_entry = exact_entry;
    tables.context = this;
    if (!is_repeated(task)) return kernel_(tables, task, addition);
    simd::RotationTables unchecked = tables;
    unchecked.error_bounds = 0;
    if (addition != nullptr) {
      return may_add_unchecked_ ? add_repeated_rows(unchecked, task, *addition)
                                : kernel_(tables, task, addition);
    }
    // A single row is an anchor, which costs less to check than a block costs to compute.
    if (task.count == 1) return kernel_(tables, task, nullptr);
    write_repeated_rows(unchecked, task);
  }

  /// Adds position 0 to the input.
  void add_row_0(const RowTask& task, const simd::Addition& addition) const noexcept {
    float* const out = task.row<float>(0);
    const auto add = [&](std::int64_t column, float value) {
      out[column] = value + out[column + addition.distance] * addition.scale;
    };
    for (std::int64_t k = 0; k < exact_->count(); ++k) {
      const ChannelPair channel = channels_of(spec(), k);
      add(channel.sine, 0.0f);
      add(channel.cosine, 1.0f);
    }
  }

  simd::RotationKernel kernel_;
  std::shared_ptr<const Frequencies> exact_;
  std::shared_ptr<const RotationConstants> constants_;
  RepeatedRows repeated_;  ///< none by default
  std::vector<UncertainEntry> uncertain_;
  bool may_add_unchecked_ = false;  ///< see add_repeated_rows()
};

}  // namespace

void add_rotation(BackendList& all) { add_method<RotationEncoder>(all, &simd::Kernels::rotation); }

}  // namespace posenc

#include "driver_cases.h"

#include "posenc/encoder.h"
#include "posenc/registry.h"
#include "posenc/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <system_error>

namespace posenc::bench {
namespace {

EncodingSpec spec_of(const CaseOptions& options) { return {.d_model = options.d_model}; }

std::unique_ptr<const Encoder> plan(const CaseOptions& options) {
  const EncodingSpec spec = spec_of(options);
  if (!options.backend.empty()) return backend(options.backend).plan(spec);
  return select_backend(spec, {0, options.rows}, options.threads).backend->plan(spec);
}

std::span<const float> values_of(const Matrix& matrix) {
  return {matrix.data(), static_cast<std::size_t>(matrix.rows() * matrix.columns())};
}

/// The table into memory that is there: the encoder planned before.
class Table : public Case {
 public:
  explicit Table(const CaseOptions& options)
      : threads_(options.threads), encoder_(plan(options)), table_(options.rows, options.d_model) {}

  void run() override { encoder_->encode({0, table_.rows()}, table_.view(), threads_); }
  std::span<const float> output() const override { return values_of(table_); }

 private:
  int threads_;
  std::unique_ptr<const Encoder> encoder_;
  Matrix table_;
};

/// The table as a module's constructor makes it: planned, allocated and written.
class TableFromNothing : public Case {
 public:
  explicit TableFromNothing(const CaseOptions& options) : options_(options) { plan(options_); }

  void run() override {
    table_ = Matrix();  // its memory goes back first, as that of a module that is replaced
    table_ = Matrix(options_.rows, options_.d_model);
    plan(options_)->encode({0, options_.rows}, table_.view(), options_.threads);
  }
  std::span<const float> output() const override { return values_of(table_); }

 private:
  CaseOptions options_;
  Matrix table_;
};

Matrix read_input(const CaseOptions& options) {
  Matrix x(options.batch * options.rows, options.d_model);
  const std::streamsize bytes = x.rows() * x.columns() * static_cast<std::streamsize>(sizeof(float));
  std::error_code error;
  const auto size = std::filesystem::file_size(options.input, error);
  std::ifstream file(options.input, std::ios::binary);
  if (error || !file.read(reinterpret_cast<char*>(x.data()), bytes) || size != static_cast<std::uintmax_t>(bytes)) {
    throw InvalidArgument(fmt::format("input is '{}'; allowed: a raw float32 file of {} bytes", options.input, bytes));
  }
  return x;
}

/// y = x + encoding. The derived class adds rows, of all sequences, so that threads can share them.
class Add : public Case {
 public:
  explicit Add(const CaseOptions& options) : options_(options), x_(read_input(options)), y_(x_.rows(), x_.columns()) {
    std::fill_n(y_.data(), y_.rows() * y_.columns(), 0.0F);
  }

  void run() override {
    const std::int64_t blocks = (options_.rows + rows_per_block() - 1) / rows_per_block();
#ifdef _OPENMP
#pragma omp parallel for num_threads(options_.threads) if (options_.threads > 1) schedule(static)
#endif
    for (std::int64_t block = 0; block < blocks; ++block) {
      const std::int64_t first = block * rows_per_block();
      add_rows({first, std::min(rows_per_block(), options_.rows - first)});
    }
  }
  std::span<const float> output() const override { return values_of(y_); }

 protected:
  /// Rows of 128 KiB: they stay in the second-level caches of today, and are enough for a backend that derives rows from earlier ones.
  std::int64_t rows_per_block() const {
    return std::max<std::int64_t>(1, (128 << 10) / (options_.d_model * std::int64_t{sizeof(float)}));
  }

  virtual void add_rows(RowRange rows) noexcept = 0;

  /// Adds row `row` of the encoding to that of every sequence.
  void add_row(std::int64_t row, const float* encoding) noexcept {
    const bool is_batch_first = options_.order == Order::batch_first;
    const std::int64_t first = is_batch_first ? row : row * options_.batch;
    const std::int64_t step = is_batch_first ? options_.rows : 1;
    for (std::int64_t b = 0; b < options_.batch; ++b) {
      const std::int64_t offset = (first + b * step) * options_.d_model;
      const float* const x = x_.data() + offset;
      float* const y = y_.data() + offset;
      for (std::int64_t c = 0; c < options_.d_model; ++c) y[c] = x[c] + encoding[c];
    }
  }

  CaseOptions options_;

 private:
  Matrix x_;
  Matrix y_;
};

/// From a table that was computed before.
class AddTable : public Add {
 public:
  explicit AddTable(const CaseOptions& options) : Add(options), table_(options.rows, options.d_model) {
    plan(options)->encode({0, options.rows}, table_.view(), options.threads);
  }

 private:
  void add_rows(RowRange rows) noexcept override {
    for (std::int64_t r = rows.first; r < rows.first + rows.count; ++r) add_row(r, table_.row(r).data());
  }

  Matrix table_;
};

/// No table: a few rows at a time are encoded in cache and added.
class EncodeAndAdd : public Add {
 public:
  explicit EncodeAndAdd(const CaseOptions& options) : Add(options), encoder_(plan(options)) {}

 private:
  void add_rows(RowRange rows) noexcept override {
    thread_local std::vector<float> memory;
    memory.resize(static_cast<std::size_t>(rows_per_block() * options_.d_model));
    const MatrixView<float> block = {memory.data(), rows.count, options_.d_model, options_.d_model};
    encoder_->encode(rows, block, {1, Stores::cached});
    for (std::int64_t r = 0; r < rows.count; ++r) add_row(rows.first + r, block.data + r * block.stride);
  }

  std::unique_ptr<const Encoder> encoder_;
};

using Maker = std::function<std::unique_ptr<Case>(const CaseOptions&)>;

template <class T>
Maker maker() {
  return [](const CaseOptions& options) { return std::make_unique<T>(options); };
}

const std::map<std::string, Maker>& makers() {
  static const std::map<std::string, Maker> all = {
      {"table", maker<Table>()},
      {"table_from_nothing", maker<TableFromNothing>()},
      {"add_table", maker<AddTable>()},
      {"encode_and_add", maker<EncodeAndAdd>()},
  };
  return all;
}

}  // namespace

std::vector<std::string> case_kinds() {
  std::vector<std::string> names;
  for (const auto& [name, make] : makers()) names.push_back(name);
  return names;
}

std::unique_ptr<Case> make_case(const std::string& kind, const CaseOptions& options) {
  const auto found = makers().find(kind);
  if (found == makers().end()) {
    throw InvalidArgument(fmt::format("kind is '{}'; allowed: {}", kind, fmt::join(case_kinds(), ", ")));
  }
  return found->second(options);
}

}  // namespace posenc::bench

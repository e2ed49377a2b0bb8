#include "driver_cases.h"

#include "posenc/encoder.h"
#include "posenc/registry.h"
#include "posenc/selection.h"
#include "posenc/spec.h"
#include "posenc/support/read_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <map>

namespace posenc::bench {
namespace {

EncodingSpec spec_of(const CaseOptions& options) { return {.d_model = options.d_model}; }

std::unique_ptr<const Encoder> plan(const CaseOptions& options) {
  const EncodingSpec spec = spec_of(options);
  return plan_selected(spec, {0, options.rows}, {.threads = options.threads}).encoder;
}

std::span<const float> values_of(const Matrix& matrix) {
  return {matrix.data(), static_cast<std::size_t>(matrix.rows() * matrix.columns())};
}

/// The table into memory that is there: the encoder planned before.
class Table : public Case {
 public:
  explicit Table(const CaseOptions& options)
      : threads_(options.threads), encoder_(plan(options)), table_(options.rows, options.d_model) {}

  void run() override {
    encoder_->encode({.first = 0, .count = table_.rows()}, table_.view(), threads_);
  }
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
    plan(options_)->encode({.first = 0, .count = options_.rows}, table_.view(), options_.threads);
  }
  std::span<const float> output() const override { return values_of(table_); }

 private:
  CaseOptions options_;
  Matrix table_;
};

Matrix read_input(const CaseOptions& options) {
  Matrix x(options.batch * options.rows, options.d_model);
  const std::size_t bytes = values_of(x).size_bytes();
  const std::string content = read_file(options.input);
  if (content.size() != bytes) {
    throw InvalidArgument(
        fmt::format("input is '{}' of {} bytes; allowed: a raw float32 file of {} bytes",
                    options.input, content.size(), bytes));
  }
  std::memcpy(x.data(), content.data(), bytes);
  return x;
}

/// y = x + encoding, into memory that is there.
class Forward : public Case {
 public:
  explicit Forward(const CaseOptions& options)
      : options_(options),
        layer_(spec_of(options), options.rows, 0.0, options.source),
        x_(read_input(options)),
        y_(x_.rows(), x_.columns()) {
    std::fill_n(y_.data(), y_.rows() * y_.columns(), 0.0F);
  }

  void run() override {
    layer_.forward(view<const float>(x_.data()), view(y_.data()), {.threads = options_.threads});
  }
  std::span<const float> output() const override { return values_of(y_); }

 private:
  template <class T>
  SequenceView<T> view(T* data) const {
    if (options_.order == BatchOrder::batch_first) {
      return batch_first(data, options_.batch, options_.rows, options_.d_model);
    }
    return sequence_first(data, options_.rows, options_.batch, options_.d_model);
  }

  CaseOptions options_;
  PositionalEncoding layer_;
  Matrix x_;
  Matrix y_;
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
      {"forward", maker<Forward>()},
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
    throw InvalidArgument(
        fmt::format("kind is '{}'; allowed: {}", kind, fmt::join(case_kinds(), ", ")));
  }
  return found->second(options);
}

}  // namespace posenc::bench

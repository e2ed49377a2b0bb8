// A backend for tests to register. It writes the values and reports the properties that a test
// sets.
#pragma once

#include "posenc/frequency_rule_text.h"
#include "posenc/registry.h"
#include "posenc/support/with_type.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace posenc::test {

struct FakeBackendClaims {
  std::string name;
  Isa isa = Isa::portable;
  bool can_be_picked = false;
  double error_bound = 2;
  bool is_correctly_rounded = false;
  bool refuses_rules = false;                                            ///< of frequencies
  std::function<void(std::int64_t rows)> encodes = [](std::int64_t) {};  ///< called beside it
  /// The value of an entry.
  std::function<double(std::int64_t position, std::int64_t channel)> value =
      [](std::int64_t, std::int64_t) { return 0.0; };
};

class FakeWriter final : public RowWriter {
 public:
  FakeWriter(const EncodingSpec& spec, FakeBackendClaims claims)
      : d_model_(spec.d_model), claims_(std::move(claims)) {}

  double error_bound(RowRange, DataType) const noexcept override { return claims_.error_bound; }

  void write(const OutputRows& rows) const noexcept override {
    with_type(rows.type, [&]<class T>(T) {
      for (std::int64_t row = 0; row < rows.count; ++row) {
        for (std::int64_t channel = 0; channel < d_model_; ++channel)
          rows.row<T>(row)[channel] = nearest<T>(claims_.value(rows.first + row, channel));
      }
    });
    claims_.encodes(rows.count);
  }

 private:
  std::int64_t d_model_;
  FakeBackendClaims claims_;
};

inline Method fake_method(const FakeBackendClaims& claims) {
  return {.name = claims.name,
          .description = "a test's own",
          .isa = claims.isa,
          .is_correctly_rounded = claims.is_correctly_rounded,
          .can_be_picked = claims.can_be_picked,
          .make_writer = [claims](const EncodingSpec& spec) {
            if (claims.refuses_rules && !is_base(spec.frequencies))
              throw InvalidArgument("frequencies are '" + to_string(spec.frequencies) +
                                    "'; allowed for backend " + claims.name +
                                    ": those of the base");
            return std::make_unique<const FakeWriter>(spec, claims);
          }};
}

/// Registers a fake backend and removes it in its destructor, so that tests in one process do not
/// see each other's backends.
class RegisteredFake {
 public:
  explicit RegisteredFake(const FakeBackendClaims& claims)
      : backend_(&register_backend(fake_method(claims))) {}
  ~RegisteredFake() { unregister_backend(*backend_); }
  RegisteredFake(const RegisteredFake&) = delete;
  RegisteredFake& operator=(const RegisteredFake&) = delete;

  const Backend& operator*() const noexcept { return *backend_; }

 private:
  const Backend* backend_;
};

/// An ISA that this CPU cannot have.
inline Isa foreign_isa() noexcept {
#if defined(__aarch64__)
  return Isa::avx2;
#else
  return Isa::neon64;
#endif
}

}  // namespace posenc::test

// A backend for tests to register. It writes zeros and reports the properties that a test sets.
#pragma once

#include "posenc/registry.h"
#include "posenc/simd/row_task.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
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
};

class FakeBackend final : public Backend {
 public:
  explicit FakeBackend(FakeBackendClaims claims) : claims_(std::move(claims)) {}

  std::string_view name() const noexcept override { return claims_.name; }
  std::string_view description() const noexcept override { return "a test's own"; }
  Isa isa() const noexcept override { return claims_.isa; }
  bool can_be_picked() const noexcept override { return claims_.can_be_picked; }
  bool is_correctly_rounded(DataType) const noexcept override {
    return claims_.is_correctly_rounded;
  }

 private:
  class ZeroEncoder final : public Encoder {
   public:
    ZeroEncoder(const EncodingSpec& spec, const FakeBackend& backend)
        : Encoder(spec, backend), claims_(backend.claims_) {}
    double error_bound(RowRange, DataType) const noexcept override { return claims_.error_bound; }

   private:
    void encode_rows(const RowTask& task) const noexcept override {
      const auto bytes = static_cast<std::size_t>(spec().d_model * size_of(task.type));
      for (std::int64_t row = 0; row < task.count; ++row)
        std::memset(task.after(row).out, 0, bytes);
      claims_.encodes(task.count);
    }
    const FakeBackendClaims& claims_;
  };

  std::unique_ptr<const Encoder> make_encoder(const EncodingSpec& spec) const override {
    if (claims_.refuses_rules && !is_base(spec.frequencies))
      throw InvalidArgument("frequencies are '" + to_string(spec.frequencies) +
                            "'; allowed for backend " + claims_.name + ": those of the base");
    return std::make_unique<ZeroEncoder>(spec, *this);
  }

  FakeBackendClaims claims_;
};

/// Registers a fake backend and removes it in its destructor, so that tests in one process do not
/// see each other's backends.
class RegisteredFake {
 public:
  explicit RegisteredFake(FakeBackendClaims claims)
      : backend_(&register_backend(std::make_unique<FakeBackend>(std::move(claims)))) {}
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

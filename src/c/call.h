// What the functions of the C interface share: exceptions become a status, pointers and enumerators
// are checked.
#pragma once

#include "posenc/c_api.h"
#include "posenc/data_type.h"
#include "posenc/encode_options.h"
#include "posenc/encoder.h"
#include "posenc/error.h"
#include "posenc/support/format.h"

#include <memory>
#include <new>
#include <string>
#include <string_view>

struct posenc_encoder {
  std::unique_ptr<const posenc::Encoder> encoder;
  std::string backend;
  std::string reason;
};

namespace posenc {
namespace detail {

/// Keeps the message for posenc_last_error(), and returns the status.
posenc_status fail(posenc_status status, const char* message) noexcept;

/// The status of a call that may throw.
template <class Call>
posenc_status status_of(const Call& call) noexcept {
  try {
    call();
    return POSENC_OK;
  } catch (const InvalidArgument& error) {
    return fail(POSENC_INVALID_ARGUMENT, error.what());
  } catch (const std::bad_alloc&) {
    return fail(POSENC_OUT_OF_MEMORY, "there is not enough memory");
  } catch (const std::exception& error) {
    return fail(POSENC_INTERNAL_ERROR, error.what());
  } catch (...) {
    return fail(POSENC_INTERNAL_ERROR, "an exception of unknown type");
  }
}

template <class T>
T& checked(T* pointer, std::string_view name) {
  if (pointer == nullptr) throw InvalidArgument(format_text("{} is null; allowed: not null", name));
  return *pointer;
}

/// The enumerator of that number, where 0 to `last` are allowed.
template <class Enum>
Enum enumerator(std::string_view name, std::int32_t number, Enum last) {
  if (number < 0 || number > static_cast<std::int32_t>(last)) {
    throw InvalidArgument(
        format_text("{} is {}; allowed: 0 to {}", name, number, static_cast<std::int32_t>(last)));
  }
  return static_cast<Enum>(number);
}

inline DataType data_type(std::int32_t number) {
  return enumerator("type", number, DataType::bfloat16);
}

inline void check_reserved(std::int32_t reserved) {
  if (reserved == 0) return;
  throw InvalidArgument(format_text("reserved is {}; allowed: 0", reserved));
}

/// A table that is written.
inline OutputView output_of(std::string_view name, const posenc_table* table) {
  const posenc_table& from = checked(table, name);
  check_reserved(from.reserved);
  return with_type(data_type(from.type), [&]<class T>(T) {
    return OutputView(static_cast<T*>(from.data), from.rows, from.columns, from.stride);
  });
}

/// A table that is read.
inline InputView input_of(std::string_view name, const posenc_table* table) {
  const posenc_table& from = checked(table, name);
  check_reserved(from.reserved);
  return with_type(data_type(from.type), [&]<class T>(T) {
    return InputView(static_cast<const T*>(from.data), from.rows, from.columns, from.stride);
  });
}

inline EncodeOptions options_of(const posenc_options* options) {
  if (options == nullptr) return {};
  return {options->threads, enumerator("stores", options->stores, StorePolicy::non_temporal)};
}

}  // namespace detail
}  // namespace posenc

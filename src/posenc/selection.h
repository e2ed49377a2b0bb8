/// @file
/// Selects a backend if the program names none: the fastest known one that promises the accuracy
/// that the program asks for.
///
///     auto table = posenc::encode(5000, 512);                         // correctly rounded
///     auto fast = posenc::encode(rows, spec, posenc::Accuracy::within(1e-6));
///     std::puts(posenc::select_backend(spec, rows).reason.c_str());   // which backend, and why
///
/// Measurements of a machine decide only if the program says so: see suite/profile.h.
#pragma once

#include "posenc/accuracy.h"
#include "posenc/data_type.h"
#include "posenc/encode_options.h"
#include "posenc/encoder.h"
#include "posenc/matrix.h"
#include "posenc/registry.h"
#include "posenc/spec.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

namespace posenc {

/// The requirements that a backend must meet.
struct SelectionOptions {
  Accuracy accuracy = {};             ///< the accuracy that the backend must promise
  DataType type = DataType::float32;  ///< the element type of the table
};

/// The source that decided a selection: POSENC_BACKEND, the times of a suite::Profile, or the
/// built-in order. Profile::select() takes precedence over POSENC_BACKEND.
enum class SelectionSource { environment, profile, built_in };

/// A backend that was selected, and why.
struct Selection {
  const Backend* backend = nullptr;                    ///< never null in a result
  SelectionSource source = SelectionSource::built_in;  ///< the source that decided
  std::string reason;                                  ///< one line
};

/// The backend for a table of that shape if the program names none. Only backends that promise the
/// accuracy can be selected.
///
/// POSENC_BACKEND names a backend, as `name` or `name:isa`. It is read once, at first use.
///
/// The built-in order is rotation32, then rotation, then the other methods in order of
/// registration, each at its best ISA.
///
/// Throws InvalidArgument if no backend promises the accuracy, or if POSENC_BACKEND is unknown,
/// does not run here, does not write the type or does not promise the accuracy.
Selection select_backend(const EncodingSpec& spec, RowRange rows,
                         const SelectionOptions& options = {});

/// From now on, selections of this process ignore POSENC_BACKEND. Call it in programs whose users
/// must not change the backend.
void ignore_posenc_backend() noexcept;

/// A selection and its planned encoder.
struct SelectedEncoder {
  std::unique_ptr<const Encoder> encoder;  ///< the selected backend, planned for the spec
  Selection selection;                     ///< the backend, and why it was selected
};
/// Calls select_backend(), and plans the spec with the selected backend. Throws as select_backend()
/// does.
SelectedEncoder plan_selected(const EncodingSpec& spec, RowRange rows,
                              const SelectionOptions& options = {});

/// True if the backend writes the type and promises the accuracy for these rows. Plans the spec if
/// the promise depends on it. Throws InvalidArgument if the spec is not allowed.
bool promises(const Backend& backend, const EncodingSpec& spec, RowRange rows,
              const SelectionOptions& options);

/// The correctly rounded encodings of these rows, by the backend that is selected for this shape.
/// Throws as select_backend() does, and std::bad_alloc. Also throws InvalidArgument if the spec,
/// the rows or the options are not allowed.
Matrix encode(RowRange rows, const EncodingSpec& spec, EncodeOptions options = {});

/// The encodings of these rows with another accuracy. Throws as above.
Matrix encode(RowRange rows, const EncodingSpec& spec, const Accuracy& accuracy,
              EncodeOptions options = {});

/// The encodings of these rows in another element type: encode<BFloat16>(rows, spec). Throws as
/// above.
template <class T>
BasicMatrix<T> encode(RowRange rows, const EncodingSpec& spec, const Accuracy& accuracy = {},
                      EncodeOptions options = {}) {
  const SelectedEncoder selected =
      plan_selected(spec, rows, {.accuracy = accuracy, .type = data_type_of<T>});
  BasicMatrix<T> table(rows.count, spec.d_model);
  selected.encoder->encode(rows, table, options);
  return table;
}

/// The correctly rounded encodings of positions 0 .. rows - 1 in the paper's convention: shape
/// (rows, d_model). Throws as above.
Matrix encode(std::int64_t rows, std::int64_t d_model);
/// Sizes are integers, so that a fraction is not lost silently.
template <class Rows, class Channels>
requires std::is_floating_point_v<Rows> || std::is_floating_point_v<Channels> Matrix
encode(Rows rows, Channels d_model)
= delete;

}  // namespace posenc

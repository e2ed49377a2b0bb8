/// @file
/// A method of computing encodings at one instruction set, as a backend is registered:
///
///     posenc::register_backend({.name = "mine",
///                               .description = "frequencies by std::exp, in double",
///                               .make_writer = make_my_writer});
#pragma once

#include "posenc/data_type.h"
#include "posenc/isa.h"
#include "posenc/row_writer.h"
#include "posenc/spec.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace posenc {

/// The facts of a method that hold for every spec.
struct Method {
  std::string name = {};         ///< "rotation"
  std::string description = {};  ///< one line, for lists
  /// How position times frequency is rounded before its sine is computed, for lists: "exact",
  /// "double", "float32". This rounding decides the error at large positions. Empty if not stated.
  std::string phases = {};
  Isa isa = Isa::portable;  ///< the instruction set that it is compiled for
  /// The element types that it writes.
  std::vector<DataType> types = {std::begin(all_data_types), std::end(all_data_types)};
  /// True if every entry, for every row and spec, is the value of its type nearest to the exact
  /// value, with the same bits on every ISA and compiler. In float64, this requires frequencies of
  /// 0 or at least 2^-100 radians per position. docs/how-it-works.md says how far this is proven.
  bool is_correctly_rounded = false;
  /// False for a method that is registered for comparison only: it is never selected or picked.
  bool can_be_picked = true;
  /// Plans a valid spec. Throws InvalidArgument if the method refuses it.
  std::function<std::unique_ptr<const RowWriter>(const EncodingSpec& spec)> make_writer = {};
};

/// True if the method writes tables of that type.
bool supports(const Method& method, DataType type) noexcept;

/// Throws InvalidArgument, with the allowed types, unless the method writes that type.
void check_supports(const Method& method, DataType type);

}  // namespace posenc

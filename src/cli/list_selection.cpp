#include "cli/list.h"

#include "cli/table.h"
#include "cli/text.h"

#include "posenc/cpu.h"
#include "posenc/model/rotary.h"
#include "posenc/registry.h"
#include "posenc/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace posenc::cli {
namespace {

/// The accuracy that is shown besides the default.
constexpr double larger_error = 1e-6;

/// The selection for the tables of one shape class.
struct ClassSelection {
  ShapeClass shape;
  std::int64_t most_bytes;  ///< a power of two; the last class has no end
  Selection selection;
};

/// A kind of request, and what it gets.
struct Request {
  std::string_view name;   ///< in JSON
  std::string_view title;  ///< in text
  Accuracy accuracy;
  std::vector<ClassSelection> classes;
};

/// Tables of 1 KiB, 2 KiB, ... 1 TiB find the shape classes of this CPU. The largest table stands
/// for its class.
std::vector<ClassSelection> table_classes(const SelectionOptions& options) {
  const EncodingSpec spec = {.d_model = 64};
  constexpr std::int64_t row_bytes = 64 * sizeof(float);
  std::vector<ClassSelection> classes;
  for (std::int64_t bytes = std::int64_t{1} << 40; bytes >= 1024; bytes /= 2) {
    const ShapeClass shape = shape_class(bytes);
    if (!classes.empty() && classes.front().shape == shape) continue;
    classes.insert(classes.begin(),
                   {shape, bytes, select_backend(spec, {0, bytes / row_bytes}, options)});
  }
  return classes;
}

/// Rotary embeddings have no table, and one selection.
std::vector<ClassSelection> rotary_class(const Accuracy& accuracy) {
  const Rotary rotary(64, 10000.0, RotaryLayout::halves, accuracy);
  return {{ShapeClass::l1, 0, rotary.selection()}};
}

std::vector<Request> requests() {
  const Accuracy exact, rough = Accuracy::within(larger_error);
  return {{"used", "tables", exact, table_classes({})},
          {"used_by_layers", "encodings added by layers", exact, table_classes({.adds = true})},
          {"used_by_rotary", "rotary", exact, rotary_class(exact)},
          {"used_within", "tables", rough, table_classes({.accuracy = rough})},
          {"used_by_layers_within", "encodings added by layers", rough,
           table_classes({.accuracy = rough, .adds = true})},
          {"used_by_rotary_within", "rotary", rough, rotary_class(rough)}};
}

bool is_same_for_all(const std::vector<ClassSelection>& classes) {
  return std::ranges::all_of(classes, [&](const ClassSelection& each) {
    const Selection& first = classes.front().selection;
    return each.selection.backend == first.backend && each.selection.reason == first.reason;
  });
}

/// A table with the reasons, by size; one line if all sizes get the same.
std::string request_text(const Request& request) {
  const std::string heading = fmt::format("{}, {}", request.title, to_string(request.accuracy));
  if (is_same_for_all(request.classes)) {
    const Selection& selection = request.classes.front().selection;
    return fmt::format("{}: {}\n{}\n", heading, selection.backend->full_name(),
                       wrapped(selection.reason + "\n", "  "));
  }
  Table table({{"tables", Align::left},
               {"shape class", Align::left},
               {"used", Align::left},
               {"why", Align::wrapped}});
  for (const ClassSelection& each : request.classes) {
    const bool is_last = &each == &request.classes.back();
    table.add_row({is_last ? "larger" : "up to " + bytes_text(each.most_bytes),
                   std::string(to_string(each.shape)), each.selection.backend->full_name(),
                   each.selection.reason});
  }
  return fmt::format("{}:\n{}\n", heading, table.text());
}

std::string_view name_of(SelectionSource source) {
  switch (source) {
    case SelectionSource::environment: return "environment";
    case SelectionSource::profile: return "profile";
    case SelectionSource::built_in: break;
  }
  return "built_in";
}

}  // namespace

std::string selection_text() {
  std::string text;
  for (const Request& each : requests()) {
    text += request_text(each);
  }
  return text;
}

Json selection_json() {
  Json document;
  for (const Request& request : requests()) {
    Json& entries = document[std::string(request.name)] = Json::array();
    for (const ClassSelection& each : request.classes) {
      entries.push_back({{"shape_class", to_string(each.shape)},
                         {"accuracy", to_string(request.accuracy)},
                         {"backend", each.selection.backend->name()},
                         {"isa", to_string(each.selection.backend->isa())},
                         {"source", name_of(each.selection.source)},
                         {"reason", each.selection.reason}});
    }
  }
  return document;
}

}  // namespace posenc::cli

#include "cli/list.h"

#include "cli/json.h"
#include "cli/table.h"

#include "posenc/model/axes_presets.h"
#include "posenc/presets.h"

#include <fmt/format.h>

namespace posenc::cli {

std::string presets_table() {
  Table table({{"preset", Align::left},
               {"system", Align::wrapped},
               {"layout", Align::left},
               {"spacing", Align::left},
               {"base"},
               {"rows x d"},
               {"first"}});
  for (const Preset& each : presets()) {
    table.add_row({std::string(each.name), std::string(each.description),
                   std::string(to_string(each.spec.layout)),
                   std::string(to_string(each.spec.spacing)), fmt::format("{}", each.spec.base),
                   fmt::format("{} x {}", each.rows.count, each.spec.d_model),
                   fmt::format("{}", each.rows.first)});
  }
  Table axes({{"axes", Align::left}, {"system", Align::wrapped}, {"channels"}, {"usual grid"}});
  for (const AxesPreset& each : axes_presets()) {
    axes.add_row({std::string(each.name), std::string(each.description),
                  fmt::format("{}", axes_table(each.name, GridSizes{1, 1, 1}).spec.d_model()),
                  fmt::format("{} x {} x {}", each.usual[0], each.usual[1], each.usual[2])});
  }
  return fmt::format(
      "Presets: conventions of real systems, and the shapes of their usual tables\n\n{}\n{}\n"
      "Systems whose positions are on several axes (posenc generate --axes)\n\n{}",
      table.text(),
      wrapped(
          "d is d_model, and first the position of the first row.\n"
          "Layout: where the sine and cosine of frequency k stand in a row. interleaved: 2k and "
          "2k + 1; halves: k and d/2 + k; halves_cos_first: d/2 + k and k.\n"
          "Spacing: frequency k is base^-e. paper: e = 2k/d; inclusive: e = k/(d/2 - 1).\n"),
      axes.text());
}

std::string presets_json() {
  Json document = new_document();
  document["presets"] = Json::array();
  for (const Preset& each : presets()) {
    document["presets"].push_back({{"name", each.name},
                                   {"description", each.description},
                                   {"spec", suite::to_json(each.spec)},
                                   {"rows", suite::to_json(each.rows)}});
  }
  document["axes"] = Json::array();
  for (const AxesPreset& each : axes_presets()) {
    document["axes"].push_back(
        {{"name", each.name}, {"description", each.description}, {"grid", each.usual}});
  }
  return text_of(document);
}

}  // namespace posenc::cli

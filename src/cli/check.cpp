// posenc check: says what a table from elsewhere is, how wrong it is, and why.
#include "posenc/check/heads.h"
#include "posenc/check/table.h"

#include "cli/commands.h"
#include "cli/conformance.h"
#include "cli/little_endian.h"

#include "posenc/check/table_file.h"
#include "posenc/cpu.h"
#include "posenc/frequency_rule_text.h"
#include "posenc/real_positions.h"
#include "posenc/suite/files.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace posenc::cli {

using namespace model;
using namespace suite;

namespace {

/// The integers of a .npy file.
std::vector<std::int64_t> read_positions(const std::string& file) {
  const InputFile input(file);
  const std::string start = input.text(0, std::min(input.bytes(), check::table_header_bytes));
  check::NpyHeader header;
  if (check::is_npy(start)) header = check::parse_npy_header(start, input.bytes());
  const bool is_wide = header.descr == "<i8", is_known = is_wide || header.descr == "<i4";
  const std::int64_t size = is_wide ? 8 : 4, present = input.bytes() - header.bytes;
  if (!is_known || header.shape.size() != 1 || header.shape[0] != present / size ||
      present % size != 0) {
    throw_invalid("--positions is '{}'; allowed: a .npy file of int32 or int64, of one dimension",
                  file);
  }
  const auto read = [&]<class T>(std::vector<T> elements) {
    elements.resize(static_cast<std::size_t>(header.shape[0]));
    input.read(header.bytes, elements.data(), present);
    to_little_endian(std::span(elements));
    return std::vector<std::int64_t>(elements.begin(), elements.end());
  };
  return is_wide ? read(std::vector<std::int64_t>()) : read(std::vector<std::int32_t>());
}

/// The arrangements that the name of the table or tensor implies: cosines for cos_cached, sines for
/// sin_cached. A model with the two exchanged would rotate by other angles. Empty if the name does
/// not tell.
std::vector<check::Arrangement> arrangements_by_name(const Options& options) {
  std::string name = options.tensor.empty() ? std::filesystem::path(options.table).stem().string()
                                            : options.tensor;
  for (char& each : name)
    if (each < 'a' || each > 'z') each = ' ';
  const auto has_word = [words = " " + name + " "](std::string_view word) {
    return words.find(fmt::format(" {} ", word)) != std::string::npos;
  };
  const bool says_cosines = has_word("cos") || has_word("cosines"),
             says_sines = has_word("sin") || has_word("sines");
  if (says_cosines == says_sines) return {};
  if (says_sines)
    return {check::Arrangement::sines_twice, check::Arrangement::sines,
            check::Arrangement::sines_repeated};
  return {check::Arrangement::cosines_twice, check::Arrangement::cosines,
          check::Arrangement::cosines_repeated};
}

/// The positions in the file --positions, or from --first on in steps of --step. There are none if
/// neither option is given.
RealPositions given_positions(const Options& options, std::int64_t rows) {
  if (!options.positions.empty()) return {.multiples = read_positions(options.positions)};
  if (!options.step) return {};
  std::vector<double> positions;
  for (std::int64_t row = 0; row < rows; ++row)
    positions.push_back(static_cast<double>(options.first().value_or(0)) +
                        static_cast<double>(row) * *options.step);
  return real_positions(positions);
}

/// The table that the command line expects. check::table() finds out the parts that it leaves open.
check::TableOptions expected_of(const Options& options, std::int64_t rows) {
  check::TableOptions expected;
  expected.first = options.first();
  if (!options.config.empty()) {
    const RotaryReading reading = reading_of(options);
    const RotarySpec rotary = layers_of(reading, options.layers).rotary;
    expected = check::cache_of(rotary);
    // Cohere's models rotate neighbours, and do not cache two equal halves.
    if (reading.model_type.starts_with("cohere"))
      expected.excluded = {check::Arrangement::cosines_twice, check::Arrangement::sines_twice};
    expected.first = options.first().value_or(0);
    // A name is evidence only for the cache of a model: other tables have names of any kind.
    expected.arrangements = arrangements_by_name(options);
    if (options.grid) {
      auto positions = positions_on_grid(options, rotary.angles);
      expected.axes = {.spec = rotary.angles, .positions = std::move(positions)};
      expected.spec.reset();
      expected.first.reset();
    }
  } else if (!options.axes.empty()) {
    AxesTable table = axes_table(options.axes, options.grid);
    expected.axes = {.name = options.axes,
                     .grid = options.grid.value_or(GridSizes()),
                     .spec = std::move(table.spec),
                     .positions = std::move(table.positions)};
  }
  std::optional<Layout> layout = options.layout;
  if (!options.presets.empty()) {
    const Preset& preset = posenc::preset(options.presets.front());
    expected.spec = preset.spec;
    expected.first = options.first().value_or(preset.rows.first);
    layout = options.layout.value_or(preset.spec.layout);
  } else if (options.base || options.spacing || options.frequencies) {
    expected.spec.emplace();
    expected.claimed = {.base = options.base.has_value(),
                        .spacing = options.spacing.has_value(),
                        .frequencies = options.frequencies.has_value()};
  }
  if (expected.spec && options.config.empty()) {
    EncodingSpec& spec = *expected.spec;
    spec.d_model = options.d_model.value_or(0);
    spec.base = options.base.value_or(spec.base);
    spec.spacing = options.spacing.value_or(spec.spacing);
    spec.frequencies = options.frequencies.value_or(spec.frequencies);
  }
  if (layout) expected.arrangements = {check::arrangement_of(*layout)};
  if (layout || options.is_twice || options.is_repeated) expected.excluded.clear();
  if (options.is_twice)
    expected.arrangements = {check::Arrangement::cosines_twice, check::Arrangement::sines_twice};
  if (options.is_repeated)
    expected.arrangements = {check::Arrangement::cosines_repeated,
                             check::Arrangement::sines_repeated};
  RealPositions given = given_positions(options, rows);
  expected.positions = std::move(given.multiples);
  expected.denominator = given.denominator;
  if (options.step) expected.first.reset();
  expected.max_error = options.max_error;
  expected.threads = options.thread_count(cpu().logical_cores);
  return expected;
}

Json json_of(const check::TableIdentity& identity) {
  const EncodingSpec spec = shown_spec(identity);
  Json axes;
  if (identity.axes) axes = {{"name", identity.axes->name}, {"grid", identity.axes->grid}};
  return {{"arrangement", to_string(identity.arrangement)},
          {"axes", axes},
          {"d_model", spec.d_model},
          {"base", spec.base},
          {"spacing", to_string(spec.spacing)},
          {"frequencies", to_string(spec.frequencies)},
          {"first", identity.first},
          {"step", identity.step},
          {"factor", identity.factor},
          {"has_negated_sines", identity.has_negated_sines},
          {"padding_row", identity.padding_row ? Json(*identity.padding_row) : Json()},
          {"presets", identity.presets}};
}

Json json_of(const std::vector<check::Cause>& causes) {
  Json all = Json::array();
  for (const check::Cause& each : causes)
    all.push_back({{"kind", to_string(each.kind)}, {"text", each.text}, {"rival", each.is_rival}});
  return all;
}

Json document_of(const check::TableReport& report) {
  Json json = new_document();
  json["table"] = {
      {"rows", report.rows}, {"columns", report.columns}, {"dtype", to_string(report.type)}};
  json["verdict"] = to_string(report.verdict());
  json["good"] = report.is_good;
  json["identified"] = report.is_identified;
  json["causes"] = json_of(report.causes);
  json["findings"] = report.findings;
  json["entries_not_finite"] = report.entries_not_finite;
  if (!report.is_identified) return json;
  json["identity"] = json_of(report.identity);
  json["allowed_error"] = report.allowed_error;
  json["entries_off"] = report.entries_off;
  json["error"] = to_json(report.errors.error);
  json["correctly_rounded"] = report.errors.error.correctly_rounded;
  json["report"] = to_json(report.errors);
  json["report"].erase("max_abs_from_div_term");
  json["report"].erase("map");
  return json;
}

std::string page_of(const Json& document, const check::TableReport& report) {
  std::string page = wrapped(to_string(report) + "\n");
  if (!report.is_identified) return page;
  const MeasuredError& error = report.errors.error;
  Json figures = Json::array();
  const auto add = [&](const char* what, const std::string& here, const std::string& best) {
    figures.push_back({{"what", what}, {"this", here}, {"best", best}});
  };
  add("max |error|", error_text(error.max_abs), bound_text(half_ulp_of_one(report.type)));
  add("max ulp", ulp_text(error.max_ulp), ulp_text(0.5));
  add("RMS", error_text(error.rms), "");
  add("correctly rounded", percent_text(error.correctly_rounded), percent_text(1));
  add("entries off", count_text(static_cast<double>(report.entries_off)), "0");
  add("NaN or infinite", count_text(static_cast<double>(report.entries_not_finite)), "0");
  const Json& details = document.at("report");
  return fmt::format("{}\n{}{}{}", page,
                     table(figures, {text("", "/what"), text("this table", "/this", Align::right),
                                     text("correctly rounded", "/best", Align::right)}),
                     worst_page(details, report.type),
                     details_page(details, report.identity.arrangement));
}

/// The rotation that a kernel should have applied: its angles, and its positions, which come from a
/// file, from axes, or start at --first.
struct Rotation {
  RotarySpec rotary;
  check::HeadsOptions options;
  std::vector<std::int64_t> positions;
};

Rotation rotation_of(const Options& options, std::int64_t channels, std::int64_t rows) {
  Rotation rotation;
  std::optional<std::int64_t> axes;  // of the positions; 0 if they are the same on all axes
  if (!options.config.empty()) {
    const RotaryReading reading = reading_of(options);
    rotation.rotary = layers_of(reading, options.layers).rotary;
    const auto add_other = [&](const std::string& name, const RotarySpec& rotary) {
      // With --step, the claim counts other positions than these.
      if (rotary != rotation.rotary && !options.step)
        rotation.options.others.push_back({name, rotary});
    };
    for (const RotaryReading::Layers& each : reading.layers)
      add_other("the layers " + each.kind, each.rotary);
    // LongRoPE and dynamic NTK have other frequencies for short sequences.
    for (const RotaryReading::Layers& each : reading_of(options, 1).layers)
      add_other("short sequences", each.rotary);
    if (options.grid) {
      rotation.positions = positions_on_grid(options, rotation.rotary.angles);
      axes = rotation.rotary.angles.axes();
    }
  } else if (!options.axes.empty()) {
    AxesTable grid = axes_table(options.axes, options.grid);
    rotation.rotary.angles = std::move(grid.spec);
    rotation.positions = std::move(grid.positions);
    axes = rotation.rotary.angles.axes();
  } else {
    Options of_head = options;
    if (!options.d_model && options.presets.empty())
      of_head.d_model = channels - options.offset.value_or(0);
    rotation.rotary = rotary_spec(tables_of(of_head).front().spec);
  }
  if (options.rotary == "interleaved") rotation.rotary.channels = RotaryLayout::interleaved;
  if (!options.positions.empty() || options.step) {
    RealPositions given = given_positions(options, rows);
    rotation.positions = std::move(given.multiples);
    rotation.options.denominator = given.denominator;
    axes = 0;
  }
  if (axes) {
    const std::int64_t count = std::ssize(rotation.positions) / std::max<std::int64_t>(*axes, 1);
    rotation.options.positions = RowPositions(rotation.positions.data(), *axes, count, count);
  }
  rotation.options.offset = options.offset.value_or(0);
  rotation.options.first = options.first().value_or(0);
  rotation.options.max_error = options.max_error;
  rotation.options.threads = options.thread_count(cpu().logical_cores);
  return rotation;
}

Json json_of(const check::AngleErrors& errors) {
  return {{"max", errors.max}, {"rms", errors.rms}, {"noise", errors.noise}};
}

Json document_of(const check::HeadsReport& report) {
  Json json = new_document();
  json["heads"] = {{"rows", report.rows},
                   {"heads", report.heads},
                   {"dtype", to_string(report.type)},
                   {"rotary", to_string(report.rotary)}};
  json["good"] = report.is_good;
  json["causes"] = json_of(report.causes);
  json["findings"] = report.findings;
  json["allowed_error"] = report.allowed_error;
  json["angles_off"] = report.angles_off;
  json["error"] = json_of(report.errors);
  json["max_length_error"] = report.max_length_error;
  json["worst"] = {{"row", report.worst_row}, {"pair", report.worst_pair}};
  json["by_position"] = json["by_pair"] = Json::array();
  for (const auto& [least, most, errors] : report.by_position) {
    json["by_position"].push_back(json_of(errors));
    json["by_position"].back().update(suite::to_json(RowRange{least, most - least + 1}));
  }
  for (const check::AngleErrors& errors : report.by_pair) {
    json["by_pair"].push_back(json_of(errors));
    json["by_pair"].back()["pair"] = json["by_pair"].size() - 1;
  }
  return json;
}

int check_rotation(const Options& options) {
  const check::TableFileOptions how = {
      .tensor = options.tensor, .type = options.data_type(), .holds = check::Holds::heads};
  const check::TableInMemory before = check::read_table(options.rotated, how),
                             after = check::read_table(options.table, how);
  const auto judged = [&](std::int64_t rows) {
    const Rotation rotation = rotation_of(options, after.stored.columns, rows);
    return check::heads(before.heads(), after.heads(), rotation.rotary, rotation.options);
  };
  check::HeadsReport report = judged(after.stored.rows);
  if (options.step && !report.is_good) {  // heads may come before rows
    check::HeadsReport other = judged(after.stored.heads);
    if (other.is_good) report = std::move(other);
  }
  const Json document = document_of(report);
  const auto errors_of = [&](const Column& part, const Json& rows) {
    return table(rows, {part, number("max |error|", "/max", error_text),
                        number("RMS", "/rms", error_text), number("noise", "/noise", error_text)});
  };
  write_document(options, document,
                 fmt::format("{}\nAngles in radians, by position\n\n{}\nWorst pairs\n\n{}",
                             wrapped(to_string(report) + "\n"),
                             errors_of(positions_column("positions"), document.at("by_position")),
                             errors_of(text("pair", "/pair", Align::right),
                                       largest(document.at("by_pair"), "/max", 8))));
  return report.is_good ? good : check_failed;
}

int check_table(const Options& options) {
  if (options.grid && options.config.empty() && options.axes.empty())
    throw InvalidArgument("--grid requires --axes or --config");
  if (!options.conformance.empty()) return check_conformance_set(options);
  if (options.table.empty())
    throw_invalid("TABLE is not given; allowed: a file, or --conformance DIR");
  constexpr const char* safetensors = ".safetensors";
  if (!options.tensor.empty() && !options.table.ends_with(safetensors) &&
      !options.rotated.ends_with(safetensors))
    throw_invalid("--tensor is '{}'; allowed: only with a .safetensors file", options.tensor);
  if (!options.rotated.empty()) return check_rotation(options);
  if (options.tensor.empty() && !options.config.empty() && options.table.ends_with(safetensors)) {
    const Names tensors = model_tables(options.table);
    if (!tensors.empty()) return check_model(options, tensors);
  }
  const check::TableReport report = judged_table(options);
  const Json document = document_of(report);
  write_document(options, document, page_of(document, report));
  return report.is_good ? good : check_failed;
}

}  // namespace

check::TableReport judged_table(const Options& options) {
  const check::TableInMemory table = check::read_table(
      options.table,
      {.tensor = options.tensor, .type = options.data_type(), .columns = options.d_model});
  const std::int64_t rows = table.stored.rows;
  check::TableReport report = check::table(table.view(), expected_of(options, rows));
  if (report.is_good || options.config.empty() || options.length) return report;
  // Unless --length is given, posenc generate takes the rows for the longest sequence.
  Options of_rows = options;
  of_rows.length = std::max<std::int64_t>(options.first().value_or(0), 0) + rows;
  if (layers_of(reading_of(of_rows), options.layers) ==
      layers_of(reading_of(options), options.layers))
    return report;
  check::TableReport other = check::table(table.view(), expected_of(of_rows, rows));
  return other.is_good || (other.is_inexact() && !report.is_inexact()) ? other : report;
}

void add_check_command(CLI::App& program, Options& options) {
  CLI::App& app =
      add_command(program, options, check_table, "check",
                  "Say what the table in a file is, how wrong it is, and why; exit 1 if it is "
                  "wrong or not recognised",
                  {{"posenc check table.npy", "recognise the table, and judge it"},
                   {"posenc check cache.safetensors --preset llama_3_1 --twice --tensor cos_cached",
                    "judge it as the table of a model, and as nothing else"},
                   {"posenc check cos_cached.npy --config config.json",
                    "judge it as the cache of a model's rotary embedding"},
                   {"posenc check model.safetensors --config config.json",
                    "judge the frequencies and caches that a model's file holds"},
                   {"posenc check table.raw --d-model 512 --dtype bfloat16",
                    "judge raw elements, which have no header"},
                   {"posenc check --rotated queries.npy turned.npy --config config.json",
                    "judge a kernel by heads before and after it: (rows, heads, channels)"},
                   {"posenc check --rotated q.npy turned.npy --config config.json --grid 1,24,24",
                    "the same, if the rows are the cells of an image"},
                   {"posenc check --conformance answers",
                    "judge the conformance set of another implementation"},
                   {"posenc check table.npy --max-error 1e-3 --format json --output check.json",
                    "judge by another limit, and write a report for programs"}});
  add_text(app, "TABLE", "FILE", options.table,
           ".npy, .safetensors, or raw little-endian elements with --d-model");
  add_preset(app, options, Values::one);
  const std::string by_default = "the preset's, or found in the table";
  add_first(app, options, Values::one, by_default);
  add_d_model(app, options, "found in the table");
  add_convention(app, options, by_default);
  add_model(app, options);
  exclude(app, "--config", convention_options);
  exclude(app, "--axes", convention_options);
  exclude(app, "--axes", {"--config", "--first", "--d-model"});
  add_flag(app, "--twice", options.is_twice,
           "the table holds all cosines, or all sines, and then the same columns again, like "
           "cos_cached of Transformers");
  add_flag(app, "--repeated", options.is_repeated,
           "the table holds only cosines, or only sines, and each column is followed by a copy of "
           "itself");
  exclude(app, "--layout", {"--twice", "--repeated"});
  exclude(app, "--twice", {"--repeated"});
  add_text(app, "--positions", "FILE", options.positions,
           "positions of the rows: a one-dimensional .npy file of int32 or int64");
  exclude(app, "--positions", {"--first", "--axes", "--grid"});
  add_real(app, "--step", options.step,
           "the position of row r is --first + r X, for time steps and frames at a rate", 0);
  exclude(app, "--step", {"--positions", "--axes", "--grid"});
  add_text(app, "--tensor", "NAME", options.tensor,
           "tensor of a .safetensors file (default: the only table in it)");
  add_type(app, options, Values::one, "the type in the file; float32 for raw elements");
  add_text(app, "--rotated", "FILE", options.rotated,
           "judge a kernel that rotates heads: this file holds the heads before the "
           "kernel, and TABLE holds the heads after it");
  exclude(app, "--rotated", {"--layout", "--twice", "--repeated"});
  add_integer(app, "--offset", options.offset,
              "channels of a head before the pairs that the kernel rotates (default: 0)",
              std::int64_t{0}, max_d_model)
      ->needs("--rotated");
  add_choice(app, "--rotary", "pairs of channels that the kernel rotates",
             Names{"halves", "interleaved"}, "halves", options.rotary)
      ->needs("--rotated")
      ->excludes("--config");
  add_conformance(app, options, "judge the files of a conformance set in this folder");
  add_real(app, "--max-error", options.max_error,
           "largest |error| of a good entry (default: an ulp of the type at 1, plus the "
           "error of phases in double)",
           0);
  add_threads(app, options, Values::one, "all cores");
  add_output(app, options);
}

}  // namespace posenc::cli

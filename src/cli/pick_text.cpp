#include "cli/pick_text.h"

#include "cli/table.h"
#include "cli/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace posenc::cli {
namespace {

std::string percent(double share) {
  return fmt::format("{:.{}f} %", 100 * share, std::abs(share) < 0.0995 ? 1 : 0);
}

Cell verdict(const PickMeasurement& measured) {
  if (!measured.keeps_its_bound()) return {"wrong: over its bound", Colour::red};
  if (!measured.within_budget) return {"over budget", Colour::faint};
  if (!measured.is_timed()) return {"not timed", Colour::faint};
  if (measured.picked) return {measured.tied ? "picked (tie)" : "picked", Colour::green};
  return measured.tied ? "tie" : "";
}

/// The name, with the shape unless that is the name.
std::string shape_name(const PickMeasurement& measured) {
  const std::string shape = fmt::format("{}x{}", measured.rows.count, measured.spec.d_model);
  return measured.name == shape ? shape : fmt::format("{}, {}", measured.name, shape);
}

std::string measurements_text(const PickRun& run) {
  Table table({{"backend", Align::left},
               {"max |error|"},
               {"max ulp"},
               {"time a table"},
               {"IQR/2"},
               {"Gfloat/s"},
               {"", Align::left}});
  const PickMeasurement* last = nullptr;
  for (const PickMeasurement* each : in_order(run)) {
    if (last == nullptr || last->name != each->name) {
      if (last != nullptr) table.add_gap();
      table.add_heading(fmt::format("{}: {}, {}", to_string(each->shape), shape_name(*each),
                                    to_string(each->spec.layout)));
    }
    last = each;
    const bool is_timed = each->is_timed();
    table.add_row({each->full_name() + (each->is_peer ? "*" : ""), error_text(each->max_abs),
                   ulp_text(each->max_ulp), is_timed ? seconds_text(median_seconds(*each)) : "-",
                   is_timed ? "± " + percent(relative_iqr(*each)) : "",
                   is_timed ? fmt::format("{:.2f}", gfloats_per_second(*each)) : "-",
                   verdict(*each)});
  }
  return with_mark_explained(table.text());
}

std::string interval_text(const ComparedCandidate& rival) {
  return std::isfinite(rival.high) ? fmt::format("{:.3f} .. {:.3f}", rival.low, rival.high)
                                   : "unknown";
}

std::string picks_text(const PickRun& run) {
  Table table({{"class", Align::left},
               {"picked", Align::left},
               {"Gfloat/s"},
               {"next", Align::left},
               {"next/pick"},
               {"95 %"},
               {"noise"},
               {"tied with", Align::wrapped}});
  for (const ShapeDecision& each : run.decisions) {
    if (!each.pick) {
      table.add_row(
          {std::string(to_string(each.shape)), {"none", Colour::red}, "-", "", "", "", "", ""});
      continue;
    }
    const ClassPick& pick = *each.pick;
    table.add_row({std::string(to_string(each.shape)),
                   {pick.full_name(), Colour::green},
                   fmt::format("{:.2f}", pick.gfloats_per_second),
                   pick.next ? pick.next->backend : "",
                   pick.next ? fmt::format("{:.3f}", pick.next->ratio) : "",
                   pick.next ? interval_text(*pick.next) : "",
                   percent(each.noise_floor),
                   fmt::format("{}", fmt::join(pick.ties, ", "))});
  }
  return table.text();
}

std::string slower_text(const ComparedCandidate& rival) {
  const std::string interval =
      std::isfinite(rival.high)
          ? fmt::format(", 95 %: {} to {}", percent(rival.low - 1), percent(rival.high - 1))
          : "";
  return fmt::format("{} ({} {}{})", rival.backend, percent(std::abs(rival.ratio - 1)),
                     rival.ratio < 1 ? "faster" : "slower", interval);
}

template <class Wanted>
std::vector<std::string> names_of(const ShapeDecision& decision, Wanted wanted) {
  std::vector<std::string> names;
  for (const ComparedCandidate& each : decision.rivals) {
    if (wanted(each)) names.push_back(slower_text(each));
  }
  return names;
}

std::string method_of(const std::string& full_name) {
  return full_name.substr(0, full_name.find(':'));
}

std::string over_budget_text(const ShapeDecision& decision) {
  std::vector<std::string> over, wrong, not_timed;
  for (const ComparedCandidate& each : decision.rivals) {
    if (each.compared) continue;
    if (!each.keeps_its_bound) {
      wrong.push_back(fmt::format("{} ({} measured, {} promised)", each.backend,
                                  error_text(each.max_abs), error_text(each.error_bound)));
    } else if (each.over_budget) {
      over.push_back(fmt::format("{} (bound {}, measured {}, {} ulp)", each.backend,
                                 error_text(each.error_bound), error_text(each.max_abs),
                                 ulp_text(each.max_ulp)));
    } else {
      not_timed.push_back(each.backend);
    }
  }
  std::string text;
  if (!wrong.empty())
    text += fmt::format(" Wrong, breaking its own bound: {}.", fmt::join(wrong, ", "));
  if (!over.empty()) text += fmt::format(" Over the error budget: {}.", fmt::join(over, ", "));
  if (!not_timed.empty())
    text += fmt::format(" Not timed on all shapes: {}.", fmt::join(not_timed, ", "));
  return text;
}

}  // namespace

std::vector<const PickMeasurement*> in_order(const PickRun& run) {
  std::vector<const PickMeasurement*> order;
  for (const PickMeasurement& each : run.measurements) order.push_back(&each);
  std::ranges::stable_sort(order, {}, [](const PickMeasurement* each) {
    const std::int64_t entries = each->rows.count * each->spec.d_model;
    const double seconds =
        each->is_timed() ? median_seconds(*each) : std::numeric_limits<double>::infinity();
    return std::tuple(each->shape, entries, each->name, !each->picked, !each->within_budget,
                      seconds);
  });
  return order;
}

std::string budget_text(const ErrorBudget& budget) {
  return fmt::format("{:.4g}{}", budget.most,
                     budget.measure == ErrorBudget::Measure::ulp ? " ulp" : "");
}

std::string run_text(const PickRun& run) {
  const bool is_default = run.budget == default_budget(run.type);
  const std::string what = wrapped(fmt::format(
      "{}, {} {}, error budget {}{}; medians of {} processes\n"
      "IQR/2: half the interquartile range of the processes\n"
      "next/pick: the time of the next over that of the pick, paired by process, and its 95 % "
      "interval\n"
      "noise: how far a backend is from itself, timed as two in a process and in one process after "
      "another; closer is a "
      "tie\n",
      to_string(run.type), run.threads, run.threads == 1 ? "thread" : "threads",
      budget_text(run.budget), is_default ? " (half an ulp of 1 and 1 %)" : "", run.processes));
  const std::string warning =
      run.disturbed.empty() ? ""
                            : "\n" + wrapped(fmt::format("Not to be trusted: {}\n", run.disturbed));
  return fmt::format("{}\n{}\n{}\n{}{}", run.cpu, what, measurements_text(run), picks_text(run),
                     warning);
}

std::string reason_text(const ShapeDecision& decision) {
  if (!decision.pick)
    return "No backend is within the error budget on all shapes." + over_budget_text(decision);
  const ClassPick& pick = *decision.pick;
  std::string text =
      fmt::format("{} makes {:.2f} Gfloat/s on {} with an error of at most {} ({} ulp).",
                  pick.full_name(), pick.gfloats_per_second, fmt::join(pick.shapes, ", "),
                  error_text(pick.max_abs), ulp_text(pick.max_ulp));
  const auto ties = names_of(decision, [](const ComparedCandidate& each) { return each.tied; });
  const bool is_fastest = !pick.next || pick.next->ratio >= 1;
  if (!ties.empty()) {
    text += fmt::format(
        " Tied with {}: too close to call{}.", fmt::join(ties, ", "),
        is_fastest ? "" : ", and of tied methods the simplest is picked that costs little");
  }
  const auto behind = [&](const ComparedCandidate& each) { return each.compared && !each.tied; };
  const auto beaten = std::ranges::find_if(decision.rivals, behind);
  if (beaten != decision.rivals.end()) text += fmt::format(" It beats {}", slower_text(*beaten));
  const auto other = std::ranges::find_if(decision.rivals, [&](const ComparedCandidate& each) {
    return behind(each) && method_of(each.backend) != pick.backend;
  });
  if (other != decision.rivals.end() && other != beaten) {
    text += fmt::format(", and of other methods {}", slower_text(*other));
  }
  if (beaten != decision.rivals.end()) text += ".";
  text += over_budget_text(decision);
  return text +
         fmt::format(
             " Noise: a backend timed twice differs from itself by up to {}; half the IQR of the "
             "pick ± {}.",
             percent(decision.noise_floor), percent(pick.relative_iqr));
}

std::string explanation_text(const PickRun& run) {
  std::string text = "\nWhy\n";
  for (const ShapeDecision& each : run.decisions) {
    text += fmt::format("\n{}\n{}", to_string(each.shape), wrapped(reason_text(each), "  "));
  }
  return text;
}

}  // namespace posenc::cli

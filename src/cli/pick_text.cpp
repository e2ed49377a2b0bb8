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

std::string_view verdict(const PickMeasurement& measured) {
  if (!measured.keeps_its_bound()) return "wrong: over its bound";
  if (!measured.within_budget) return "over budget";
  if (!measured.is_timed()) return "not timed";
  if (measured.picked) return measured.tied ? "picked (tie)" : "picked";
  return measured.tied ? "tie" : "";
}

/// The name, and the shape unless that is the name.
std::string shape_name(const PickMeasurement& measured) {
  const std::string shape = fmt::format("{}x{}", measured.rows.count, measured.spec.d_model);
  return measured.name == shape ? shape : fmt::format("{}, {}", measured.name, shape);
}

/// By shape class, then by size of the table; within a table the pick first, then by time, and last
/// those over the budget.
std::vector<const PickMeasurement*> in_order(const PickRun& run) {
  std::vector<const PickMeasurement*> order;
  for (const PickMeasurement& each : run.measurements) order.push_back(&each);
  std::ranges::stable_sort(order, {}, [](const PickMeasurement* each) {
    const double seconds =
        each->is_timed() ? median_seconds(*each) : std::numeric_limits<double>::infinity();
    return std::tuple(each->shape, each->rows.count * each->spec.d_model, each->name, !each->picked,
                      !each->within_budget, seconds);
  });
  return order;
}

std::string measurements_text(const PickRun& run) {
  Table table({{"backend", Align::left},
               {"max |error|"},
               {"max ulp"},
               {"time per table"},
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

std::string interval_text(const ComparedCandidate& candidate) {
  return std::isfinite(candidate.high)
             ? fmt::format("{:.3f} .. {:.3f}", candidate.low, candidate.high)
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
  for (const ClassDecision& each : run.decisions) {
    const std::string shape(to_string(each.shape));
    if (!each.pick) {
      table.add_row({shape, "none", "-", "", "", "", "", ""});
      continue;
    }
    const ComparedCandidate* const next = each.next();
    table.add_row({shape, each.pick->full_name(),
                   fmt::format("{:.2f}", each.pick->gfloats_per_second),
                   next != nullptr ? next->full_name() : "",
                   next != nullptr ? fmt::format("{:.3f}", next->ratio) : "",
                   next != nullptr ? interval_text(*next) : "", percent(each.noise_floor),
                   fmt::format("{}", fmt::join(tied_with_pick(each), ", "))});
  }
  return table.text();
}

std::string slower_text(const ComparedCandidate& candidate) {
  const std::string interval =
      std::isfinite(candidate.high)
          ? fmt::format(", 95 %: {} to {}", percent(candidate.low - 1), percent(candidate.high - 1))
          : "";
  return fmt::format("{} ({} {}{})", candidate.full_name(), percent(std::abs(candidate.ratio - 1)),
                     candidate.ratio < 1 ? "faster" : "slower", interval);
}

std::string winner_text(const ClassDecision& decision) {
  const ComparedCandidate& pick = *decision.pick;
  return fmt::format("{} makes {:.2f} Gfloat/s on {} with an error of at most {} ({} ulp).",
                     pick.full_name(), pick.gfloats_per_second, fmt::join(decision.shapes, ", "),
                     error_text(pick.max_abs), ulp_text(pick.max_ulp));
}

std::string ties_text(const ClassDecision& decision) {
  std::vector<std::string> ties;
  for (const ComparedCandidate& each : decision.others) {
    if (each.tied) ties.push_back(slower_text(each));
  }
  if (ties.empty()) return "";
  const ComparedCandidate* const next = decision.next();
  return fmt::format(" Tied with {}{}.", fmt::join(ties, ", "),
                     next == nullptr || next->ratio >= 1
                         ? ""
                         : "; of those that take little longer than the fastest, the simplest "
                           "method is picked");
}

/// The first candidate that is slower than the pick, and the first of another method.
std::string slower_candidates_text(const ClassDecision& decision) {
  const auto is_slower = [](const ComparedCandidate& each) { return each.compared && !each.tied; };
  const auto first = std::ranges::find_if(decision.others, is_slower);
  if (first == decision.others.end()) return "";
  const auto other = std::ranges::find_if(decision.others, [&](const ComparedCandidate& each) {
    return is_slower(each) && each.backend != decision.pick->backend;
  });
  std::string text = " Next: " + slower_text(*first);
  if (other != decision.others.end() && other != first) {
    text += fmt::format("; of other methods: {}", slower_text(*other));
  }
  return text + ".";
}

std::string not_compared_text(const ClassDecision& decision) {
  std::vector<std::string> over, wrong, not_timed;
  for (const ComparedCandidate& each : decision.others) {
    if (each.compared) continue;
    if (!each.keeps_its_bound) {
      wrong.push_back(fmt::format("{} ({} measured, {} promised)", each.full_name(),
                                  error_text(each.max_abs), error_text(each.error_bound)));
    } else if (!each.within_budget) {
      over.push_back(fmt::format("{} (bound {}, measured {}, {} ulp)", each.full_name(),
                                 error_text(each.error_bound), error_text(each.max_abs),
                                 ulp_text(each.max_ulp)));
    } else {
      not_timed.push_back(each.full_name());
    }
  }
  const auto sentence = [](std::string_view what, const std::vector<std::string>& names) {
    return names.empty() ? "" : fmt::format(" {}: {}.", what, fmt::join(names, ", "));
  };
  return sentence("Wrong, over their own error bounds", wrong) +
         sentence("Over the error budget", over) + sentence("Not timed on all shapes", not_timed);
}

}  // namespace

std::vector<std::string> tied_with_pick(const ClassDecision& decision) {
  std::vector<std::string> names;
  for (const ComparedCandidate& each : decision.others) {
    if (each.tied) names.push_back(each.full_name());
  }
  return names;
}

std::string budget_text(const ErrorBudget& budget) {
  return fmt::format("{:.4g}{}", budget.most,
                     budget.measure == ErrorBudget::Measure::ulp ? " ulp" : "");
}

std::string run_text(const PickRun& run) {
  const bool is_default = run.budget == default_budget(run.type);
  const std::string what = wrapped(fmt::format(
      "{}, {}, error budget {}{}; medians of {} processes\n"
      "IQR/2: half the interquartile range over the processes\n"
      "next/pick: time of the next backend over that of the pick, paired by process, with its 95 % "
      "interval\n"
      "noise: largest difference of a backend from itself, within a process and between successive "
      "ones; smaller differences are ties\n",
      to_string(run.type), threads_text(run.threads), budget_text(run.budget),
      is_default ? " (half an ulp of 1 and 1 %)" : "", run.processes));
  const std::string warning =
      run.disturbed.empty() ? ""
                            : "\n" + wrapped(fmt::format("Not to be trusted: {}\n", run.disturbed));
  const std::string stores =
      run.most_cached_bytes
          ? fmt::format("\nStores of float32 tables: {}\n", stores_text(*run.most_cached_bytes))
          : "";
  return fmt::format("{}\n{}\n{}\n{}{}{}", run.cpu, what, measurements_text(run), picks_text(run),
                     stores, warning);
}

std::string reason_text(const ClassDecision& decision) {
  if (!decision.pick) {
    return "No backend is within the error budget on all shapes." + not_compared_text(decision);
  }
  return winner_text(decision) + ties_text(decision) + slower_candidates_text(decision) +
         not_compared_text(decision) +
         fmt::format(
             " Noise: a backend timed twice differs from itself by up to {}; half the IQR "
             "of the pick: ± {}.",
             percent(decision.noise_floor), percent(decision.pick->relative_iqr));
}

std::string explanation_text(const PickRun& run) {
  std::string text = "\nWhy\n";
  for (const ClassDecision& each : run.decisions) {
    text += fmt::format("\n{}\n{}", to_string(each.shape), wrapped(reason_text(each), "  "));
  }
  return text;
}

}  // namespace posenc::cli

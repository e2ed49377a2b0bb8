#include "outputs.h"

#include "posenc/error.h"
#include "posenc/support/atomic_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>

namespace posenc::bench {
namespace {

std::unique_ptr<benchmark::BenchmarkReporter> reporter_of(const std::string& format) {
  if (format == "json") return std::make_unique<benchmark::JSONReporter>();
  return std::make_unique<benchmark::ConsoleReporter>(benchmark::ConsoleReporter::OO_None);
}

}  // namespace

FormatOutput::FormatOutput(const std::string& format, Shown shown)
    : reporter_(reporter_of(format)), shown_(shown), name_width_(longest_name()) {}

void FormatOutput::begin(const benchmark::BenchmarkReporter::Context& context) {
  has_begun_ = true;
  benchmark::BenchmarkReporter::Context of_all = context;
  of_all.name_field_width = std::max(context.name_field_width, name_width_);
  reporter_->ReportContext(of_all);
}

void FormatOutput::add_group(const Results& results) {
  for (const auto& [place, runs] : results) {
    Runs aggregates;
    std::ranges::remove_copy_if(runs, std::back_inserter(aggregates), is_repetition);
    const bool has_none = aggregates.empty();
    reporter_->ReportRuns(shown_ == Shown::all_runs || has_none ? runs : aggregates);
  }
}

void FormatOutput::end() {
  if (has_begun_) reporter_->Finalize();
}

void FormatOutput::write_to(std::ostream& stream) {
  reporter_->SetOutputStream(&stream);
  reporter_->SetErrorStream(&stream);
}

FileOutput::FileOutput(std::string file, const std::string& format, Shown shown)
    : FormatOutput(format, shown), file_(std::move(file)) {
  write_to(text_);
  try {
    check_writable(file_, Folders::must_exist);
  } catch (const std::system_error& error) {
    refuse(error.code().message());
  }
}

void FileOutput::end() {
  if (!has_begun()) return;
  FormatOutput::end();
  try {
    OutputFile output{std::filesystem::path(file_)};
    output.write(text_.str());
    output.commit();
  } catch (const std::system_error& error) {
    refuse(error.code().message());
  }
}

void FileOutput::refuse(const std::string& reason) const {
  throw InvalidArgument(fmt::format(
      "--benchmark_out is '{}'; allowed: a file that can be written ({})", file_, reason));
}

}  // namespace posenc::bench

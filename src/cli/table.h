// Aligned tables for people.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace posenc::cli {

enum class Align { left, right };

struct Column {
  std::string header;
  Align align = Align::right;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  void add_gap() { rows_.emplace_back(); }  ///< an empty line between groups
  bool empty() const { return rows_.empty(); }
  std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace posenc::cli

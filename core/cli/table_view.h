// Prints rows in aligned columns: the server's Tables, and our own lists.
//
// A view keeps its columns and widths from one call to the next, so that the rows of a watch stand
// below those of the list. One thread.

#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "core/base/json.h"

namespace detent {

using Rows = std::vector<std::vector<std::string>>;

// Prints `rows` with three blanks between columns; `widths` grows to what they need. The last
// column is not padded.
void PrintRows(std::ostream& out, const Rows& rows, std::vector<size_t>& widths);

struct TableStyle {
  bool wide = false;        // Columns of a priority above 0 too.
  bool namespaces = false;  // A first column with each row's namespace.
  bool headers = true;
  std::string prefix;  // In front of each name: "job.execution.detent.dev/".
};

class TableView {
 public:
  TableView(TableStyle style, std::ostream& out) : style_(std::move(style)), out_(out) {}

  // `table` is a meta.k8s.io Table; without columnDefinitions it continues the one before. Returns
  // the number of rows.
  size_t Print(const Json& table);

 private:
  void TakeColumns(const Json& definitions);

  TableStyle style_;
  std::ostream& out_;
  std::vector<size_t> shown_;  // Places of the cells that are shown.
  size_t name_at_ = 0;
  std::vector<std::string> header_;
  bool header_printed_ = false;
  std::vector<size_t> widths_;
};

}  // namespace detent

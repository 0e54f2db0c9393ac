#include "core/cli/table_view.h"

#include <algorithm>
#include <ostream>

#include "core/base/text_position.h"
#include "core/cli/api_client.h"

namespace detent {
namespace {

constexpr size_t kGap = 3;

std::string CellText(const Json& cell) {
  if (cell.is_null()) return "<none>";
  std::string text = cell.is_string() ? cell.as_string() : DumpJson(cell);
  // A row is one line, whatever an executor wrote into its message.
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return text;
}

std::string UpperCase(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

}  // namespace

void PrintRows(std::ostream& out, const Rows& rows, std::vector<size_t>& widths) {
  const auto length = [](const std::string& cell) {
    return static_cast<size_t>(CountCharacters(cell));
  };
  for (const auto& row : rows) {
    if (widths.size() < row.size()) widths.resize(row.size(), 0);
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], length(row[i]));
  }
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      out << row[i];
      if (i + 1 < row.size()) out << std::string(widths[i] - length(row[i]) + kGap, ' ');
    }
    out << '\n';
  }
}

void TableView::TakeColumns(const Json& definitions) {
  shown_.clear();
  header_.clear();
  if (style_.namespaces) header_.emplace_back("NAMESPACE");
  for (size_t i = 0; i < definitions.as_array().size(); ++i) {
    const Json& column = definitions.as_array()[i];
    if (TextAt(column, "/format") == "name") name_at_ = i;
    if (!style_.wide && NumberAt(column, "/priority") > 0) continue;
    shown_.push_back(i);
    header_.push_back(UpperCase(TextAt(column, "/name")));
  }
}

size_t TableView::Print(const Json& table) {
  Rows rows;
  const Json* definitions = table.Find("columnDefinitions");
  if (header_.empty() && definitions != nullptr && definitions->is_array()) {
    TakeColumns(*definitions);
  }
  const Json* list = table.Find("rows");
  if (list == nullptr || !list->is_array() || list->as_array().empty()) return 0;
  // The header stands above the first row, whenever that comes.
  if (!header_printed_ && style_.headers) rows.push_back(header_);
  header_printed_ = true;
  for (const Json& row : list->as_array()) {
    const Json* cells = row.Find("cells");
    if (cells == nullptr || !cells->is_array()) continue;
    std::vector<std::string> texts;
    if (style_.namespaces) texts.push_back(TextAt(row, "/object/metadata/namespace"));
    for (const size_t i : shown_) {
      if (i >= cells->as_array().size()) continue;
      texts.push_back((i == name_at_ ? style_.prefix : "") + CellText(cells->as_array()[i]));
    }
    rows.push_back(std::move(texts));
  }
  PrintRows(out_, rows, widths_);
  return list->as_array().size();
}

}  // namespace detent

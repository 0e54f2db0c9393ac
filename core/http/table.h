// The columns that `kubectl get` shows: meta.k8s.io Table, row by row. Pure; any thread.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/api/object.h"
#include "core/base/clock.h"
#include "core/base/json.h"

namespace detent {

struct Column {
  std::string_view name;
  std::string_view type;  // "string" or "integer".
  std::string_view description;
  int priority = 0;  // 1: with `-o wide` only.
};

const std::vector<Column>& ColumnsOf(Kind kind);

// One cell for each column, in their order. What cannot be read is shown as "<unknown>".
Json::Array CellsOf(const Object& object, WallTime now);

// What stands beside the cells of a row.
enum class RowObject { kNone, kMetadata, kObject };

struct TableOptions {
  RowObject object = RowObject::kMetadata;
  std::string version = "v1";  // Of meta.k8s.io.
  bool header = true;          // Leave the columns out in all events of a watch but the first.
  WallTime now{};
};

// The parts of a Table's JSON: opening up to and with the first '[' of rows, one row, closing.
void OpenTable(std::string& out, Kind kind, std::string_view list_metadata,
               const TableOptions& options);
void AppendRow(std::string& out, const Object& object, const TableOptions& options);
void CloseTable(std::string& out);

// metadata as the form PartialObjectMetadata has it.
void AppendPartialMetadata(std::string& out, const Object& object, std::string_view version);

}  // namespace detent

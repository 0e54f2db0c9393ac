#include "core/kube/lease_record.h"

#include <limits>

#include "core/base/json.h"
#include "core/base/json_writer.h"

namespace detent {
namespace {

Error BadLease(const char* pointer, const char* why) {
  std::string field = pointer + 1;
  for (char& c : field) c = c == '/' ? '.' : c;
  return Error(Code::kInvalid, field + ": " + why);
}

// Null: not given.
const Json* LeaseField(const Json& lease, const char* pointer) {
  const Json* found = lease.At(pointer);
  return found == nullptr || found->is_null() ? nullptr : found;
}

Result<std::string> LeaseText(const Json& lease, const char* pointer) {
  const Json* field = LeaseField(lease, pointer);
  if (field == nullptr) return std::string();
  if (!field->is_string()) return BadLease(pointer, "must be a string");
  return field->as_string();
}

Result<int64_t> LeaseNumber(const Json& lease, const char* pointer) {
  const Json* field = LeaseField(lease, pointer);
  if (field == nullptr) return int64_t{0};
  if (!field->is_int() || field->as_int() < 0 ||
      field->as_int() > std::numeric_limits<int32_t>::max()) {
    return BadLease(pointer, "must be a number of 0 to 2147483647");
  }
  return field->as_int();
}

Result<std::optional<WallTime>> LeaseTime(const Json& lease, const char* pointer) {
  const std::string text = TRY(LeaseText(lease, pointer));
  if (text.empty()) return std::optional<WallTime>();
  const auto time = ParseTime(text);
  if (!time) return BadLease(pointer, "must be a time (RFC 3339)");
  return time;
}

Result<LeaseRecord> ReadFields(const Json& json) {
  LeaseRecord lease;
  lease.exists = true;
  lease.version = TRY(LeaseText(json, "/metadata/resourceVersion"));
  if (lease.version.empty()) return BadLease("/metadata/resourceVersion", "is missing");
  const auto created = TRY(LeaseTime(json, "/metadata/creationTimestamp"));
  if (!created) return BadLease("/metadata/creationTimestamp", "is missing");
  lease.created = *created;
  lease.holder = TRY(LeaseText(json, "/spec/holderIdentity"));
  lease.duration_s = TRY(LeaseNumber(json, "/spec/leaseDurationSeconds"));
  lease.transitions = TRY(LeaseNumber(json, "/spec/leaseTransitions"));
  lease.acquired = TRY(LeaseTime(json, "/spec/acquireTime"));
  lease.renewed = TRY(LeaseTime(json, "/spec/renewTime"));
  return lease;
}

// What there is not is null: a merge patch takes it away, and a new object leaves it out.
void WriteLeaseTime(JsonWriter& writer, const char* name, const std::optional<WallTime>& time) {
  writer.Key(name);
  if (time) {
    writer.Value(FormatMicroTime(*time));
  } else {
    writer.Raw("null");
  }
}

void WriteLeaseSpec(JsonWriter& writer, const LeaseRecord& lease) {
  writer.Key("spec").BeginObject().Key("holderIdentity");
  if (lease.holder.empty()) {
    writer.Raw("null");
  } else {
    writer.Value(lease.holder);
  }
  writer.Member("leaseDurationSeconds", lease.duration_s);
  writer.Member("leaseTransitions", lease.transitions);
  WriteLeaseTime(writer, "acquireTime", lease.acquired);
  WriteLeaseTime(writer, "renewTime", lease.renewed);
  writer.EndObject();
}

}  // namespace

Result<LeaseRecord> ReadLease(std::string_view json) {
  auto parsed = ParseJson(json);
  if (!parsed) return std::move(parsed).error().While("read the Lease");
  auto lease = ReadFields(*parsed);
  if (!lease) return std::move(lease).error().While("read the Lease");
  return lease;
}

int64_t EpochOf(const LeaseRecord& lease) {
  return UnixSeconds(lease.created) * 1'000'000 + lease.transitions;
}

std::string NewLease(std::string_view ns, std::string_view name, const LeaseRecord& lease) {
  std::string body;
  JsonWriter writer(body);
  writer.BeginObject().Member("apiVersion", "coordination.k8s.io/v1").Member("kind", "Lease");
  writer.Key("metadata").BeginObject().Member("name", name).Member("namespace", ns).EndObject();
  WriteLeaseSpec(writer, lease);
  writer.EndObject();
  return body;
}

std::string LeasePatch(const LeaseRecord& lease) {
  std::string body;
  JsonWriter writer(body);
  writer.BeginObject().Key("metadata").BeginObject();
  writer.Member("resourceVersion", lease.version).EndObject();
  WriteLeaseSpec(writer, lease);
  writer.EndObject();
  return body;
}

}  // namespace detent

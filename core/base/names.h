// What a name may look like, and the names that are derived: the same on every host, after any
// restart. Pure.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace detent {

// RFC 1123 as Kubernetes applies it: a subdomain is at most 253 characters, a label at most 63.
// The error is a phrase that follows a field's path: "must be lower case letters, digits ...".
Result<void> CheckDns1123Subdomain(std::string_view name);
Result<void> CheckDns1123Label(std::string_view name);

// A label's key ("prefix/name") and value, and a finalizer's name.
Result<void> CheckQualifiedName(std::string_view name);
Result<void> CheckLabelValue(std::string_view value);

// The name of the Job for a slot: "<job config>-<unix seconds>".
std::string SlotJobName(std::string_view job_config, int64_t slot_unix_seconds);

// What a label says of a Job: its name, or of a name of more than 63 characters its beginning and
// eight hexadecimal digits made of all of it. The same for every Job of that name.
std::string JobLabelValue(std::string_view job_name);

// The name of a Task: "<job>-<index>-<attempt>". At most 63 characters: a Job name that is too long
// is cut, and eight hexadecimal digits of the Job's UID keep it unique.
std::string TaskName(std::string_view job_name, std::string_view job_uid, int64_t index,
                     int64_t attempt);

// The identity of a Task, "<job uid>/<index>/<attempt>": what makes creating it twice harmless.
std::string TaskKey(std::string_view job_uid, int64_t index, int64_t attempt);

// A UUID (RFC 9562, version 8) made from a text: the same text gives the same UUID. Two 64-bit
// FNV-1a hashes; not a secret, and not for texts an enemy chooses.
std::string DerivedUid(std::string_view text);

}  // namespace detent

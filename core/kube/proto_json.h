// What an API server says in protobuf, as the JSON that it stands for: protobuf costs the server a
// third of what JSON does, and whoever reads it steps over what it does not want.
//
// Pure; any thread. Source: Kubernetes API concepts, "Alternate representations of resources" and
// "Kubernetes Protobuf encoding"; protobuf.dev, "Encoding".

#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/kube/resource.h"

namespace detent {

// For Accept: protobuf, or JSON from a server that has no other form.
inline constexpr std::string_view kProtoOrJson =
    "application/vnd.kubernetes.protobuf,application/json";

// Whether of these objects all of those members (as for WatchShape) can be read as protobuf. False
// for the empty text, which means all that there are.
bool IsReadAsProto(const KubeResource& resource, std::string_view members);

// Whether a body is an object in protobuf, by its first bytes.
bool IsProto(std::string_view body);

// Appends an object, with as many of its members as we read: a Pod, or a Status. kInvalid: it is
// another, or malformed.
Result<void> AppendProtoObject(std::string_view body, std::string& json);

// Appends an event of a watch as the line that a watch in JSON would have. kInvalid likewise.
Result<void> AppendProtoEvent(std::string_view frame, std::string& json);

}  // namespace detent

// What an API server sends in protobuf, made by the test: see core/kube/proto_json.h.

#pragma once

#include <string>

namespace detent::testing {

// An object that is no part of another; `raw` is its message.
std::string ProtoObject(const std::string& api_version, const std::string& kind,
                        const std::string& raw);

// A WatchEvent about it, without the length that goes in front.
std::string ProtoEvent(const std::string& type, const std::string& object);

// With the length in front.
std::string ProtoFrame(const std::string& event);

// v1.Pod's message with a name, a version and a phase.
std::string ProtoPod(const std::string& name, const std::string& version, const std::string& phase);

// metav1.Status's message.
std::string ProtoStatus(int code, const std::string& reason, const std::string& message);

}  // namespace detent::testing

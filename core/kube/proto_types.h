// The messages of Kubernetes' API that we read as protobuf, member by member: of Pods what tells
// how they are, and of a Status all. Pure.
//
// Numbers and names of a served version never change; what a newer server adds is stepped over.
// Source: generated.proto of k8s.io/api/core/v1 and of k8s.io/apimachinery/pkg/apis/meta/v1; for
// what JSON leaves out, the tags in types.go beside them.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace detent {

struct ProtoMember;

struct ProtoMessage {
  std::span<const ProtoMember> members;
  bool whole;  // All that its JSON has, in the newest version that we know.
};

struct ProtoMember {
  enum class Form : uint8_t { kText, kNumber, kTruth, kTime, kTextMap, kMessage };
  // JSON leaves out what is empty or zero of most members (omitempty). The others it says as soon
  // as the message has them.
  enum class Zero : uint8_t { kLeftOut, kSaid };

  uint32_t number;
  std::string_view name;
  Form form = Form::kText;
  Zero zero = Zero::kLeftOut;
  bool repeated = false;
  const ProtoMessage* message = nullptr;  // Of kMessage.
};

extern const ProtoMessage kProtoPod;
extern const ProtoMessage kProtoStatus;

// Whether that member of such an object, and all that is in it, is among what we read:
// "spec.nodeName", "status.containerStatuses.state". Lists are looked through.
bool HasMember(const ProtoMessage& message, std::string_view path);

}  // namespace detent

#include "core/kube/proto_types.h"

#include <algorithm>

namespace detent {
namespace {

using Form = ProtoMember::Form;
using Zero = ProtoMember::Zero;

constexpr ProtoMember Text(uint32_t number, std::string_view name, Zero zero = Zero::kLeftOut) {
  return {number, name, Form::kText, zero};
}

constexpr ProtoMember Number(uint32_t number, std::string_view name, Zero zero = Zero::kLeftOut) {
  return {number, name, Form::kNumber, zero};
}

constexpr ProtoMember Truth(uint32_t number, std::string_view name) {
  return {number, name, Form::kTruth, Zero::kSaid};
}

// One that is not set is null.
constexpr ProtoMember Time(uint32_t number, std::string_view name) {
  return {number, name, Form::kTime, Zero::kSaid};
}

constexpr ProtoMember Map(uint32_t number, std::string_view name) {
  return {number, name, Form::kTextMap};
}

constexpr ProtoMember Object(uint32_t number, std::string_view name, const ProtoMessage& message) {
  return {number, name, Form::kMessage, Zero::kSaid, false, &message};
}

constexpr ProtoMember ListOf(ProtoMember member) {
  member.repeated = true;
  member.zero = Zero::kSaid;  // Of its items.
  return member;
}

constexpr ProtoMember kOwnerReferenceMembers[] = {
    Text(1, "kind", Zero::kSaid), Text(3, "name", Zero::kSaid),
    Text(4, "uid", Zero::kSaid),  Text(5, "apiVersion", Zero::kSaid),
    Truth(6, "controller"),       Truth(7, "blockOwnerDeletion"),
};
constexpr ProtoMessage kOwnerReference{kOwnerReferenceMembers, true};

// But for the managedFields, which nobody is shown.
constexpr ProtoMember kObjectMetaMembers[] = {
    Text(1, "name"),
    Text(2, "generateName"),
    Text(3, "namespace"),
    Text(4, "selfLink"),
    Text(5, "uid"),
    Text(6, "resourceVersion"),
    Number(7, "generation"),
    Time(8, "creationTimestamp"),
    Time(9, "deletionTimestamp"),
    Number(10, "deletionGracePeriodSeconds", Zero::kSaid),
    Map(11, "labels"),
    Map(12, "annotations"),
    ListOf(Object(13, "ownerReferences", kOwnerReference)),
    ListOf(Text(14, "finalizers")),
};
constexpr ProtoMessage kObjectMeta{kObjectMetaMembers, true};

constexpr ProtoMember kContainerMembers[] = {Text(1, "name", Zero::kSaid),
                                             Text(24, "restartPolicy")};
constexpr ProtoMessage kContainer{kContainerMembers, false};

constexpr ProtoMember kPodSpecMembers[] = {
    ListOf(Object(2, "containers", kContainer)),
    Number(5, "activeDeadlineSeconds", Zero::kSaid),
    Text(10, "nodeName"),
    ListOf(Object(20, "initContainers", kContainer)),
};
constexpr ProtoMessage kPodSpec{kPodSpecMembers, false};

constexpr ProtoMember kPodConditionMembers[] = {
    Text(1, "type", Zero::kSaid),
    Text(2, "status", Zero::kSaid),
    Time(3, "lastProbeTime"),
    Time(4, "lastTransitionTime"),
    Text(5, "reason"),
    Text(6, "message"),
    Number(7, "observedGeneration"),
};
constexpr ProtoMessage kPodCondition{kPodConditionMembers, true};

constexpr ProtoMember kWaitingMembers[] = {Text(1, "reason"), Text(2, "message")};
constexpr ProtoMessage kWaiting{kWaitingMembers, true};

constexpr ProtoMember kRunningMembers[] = {Time(1, "startedAt")};
constexpr ProtoMessage kRunning{kRunningMembers, true};

constexpr ProtoMember kTerminatedMembers[] = {
    Number(1, "exitCode", Zero::kSaid),
    Number(2, "signal"),
    Text(3, "reason"),
    Text(4, "message"),
    Time(5, "startedAt"),
    Time(6, "finishedAt"),
    Text(7, "containerID"),
};
constexpr ProtoMessage kTerminated{kTerminatedMembers, true};

constexpr ProtoMember kContainerStateMembers[] = {Object(1, "waiting", kWaiting),
                                                  Object(2, "running", kRunning),
                                                  Object(3, "terminated", kTerminated)};
constexpr ProtoMessage kContainerState{kContainerStateMembers, true};

constexpr ProtoMember kContainerStatusMembers[] = {
    Text(1, "name", Zero::kSaid),
    Object(2, "state", kContainerState),
    Object(3, "lastState", kContainerState),
    Truth(4, "ready"),
    Number(5, "restartCount", Zero::kSaid),
};
constexpr ProtoMessage kContainerStatus{kContainerStatusMembers, false};

constexpr ProtoMember kPodStatusMembers[] = {
    Text(1, "phase"),
    ListOf(Object(2, "conditions", kPodCondition)),
    Text(3, "message"),
    Text(4, "reason"),
    Text(5, "hostIP"),
    Text(6, "podIP"),
    Time(7, "startTime"),
    ListOf(Object(8, "containerStatuses", kContainerStatus)),
    ListOf(Object(10, "initContainerStatuses", kContainerStatus)),
};
constexpr ProtoMessage kPodStatus{kPodStatusMembers, false};

constexpr ProtoMember kPodMembers[] = {Object(1, "metadata", kObjectMeta),
                                       Object(2, "spec", kPodSpec),
                                       Object(3, "status", kPodStatus)};

constexpr ProtoMember kListMetaMembers[] = {Text(2, "resourceVersion"), Text(3, "continue")};
constexpr ProtoMessage kListMeta{kListMetaMembers, false};

constexpr ProtoMember kStatusCauseMembers[] = {Text(1, "reason"), Text(2, "message"),
                                               Text(3, "field")};
constexpr ProtoMessage kStatusCause{kStatusCauseMembers, true};

constexpr ProtoMember kStatusDetailsMembers[] = {
    Text(1, "name"),
    Text(2, "group"),
    Text(3, "kind"),
    ListOf(Object(4, "causes", kStatusCause)),
    Number(5, "retryAfterSeconds"),
    Text(6, "uid"),
};
constexpr ProtoMessage kStatusDetails{kStatusDetailsMembers, true};

constexpr ProtoMember kStatusMembers[] = {
    Object(1, "metadata", kListMeta),     Text(2, "status"), Text(3, "message"), Text(4, "reason"),
    Object(5, "details", kStatusDetails), Number(6, "code"),
};

}  // namespace

const ProtoMessage kProtoPod{kPodMembers, false};
const ProtoMessage kProtoStatus{kStatusMembers, false};

bool HasMember(const ProtoMessage& message, std::string_view path) {
  const size_t dot = path.find('.');
  const std::string_view name = path.substr(0, dot);
  const auto member = std::find_if(message.members.begin(), message.members.end(),
                                   [&](const ProtoMember& known) { return known.name == name; });
  if (member == message.members.end()) return false;
  if (dot != path.npos) {
    return member->message != nullptr && HasMember(*member->message, path.substr(dot + 1));
  }
  return member->message == nullptr || member->message->whole;
}

}  // namespace detent

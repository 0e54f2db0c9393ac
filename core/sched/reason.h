// Every "no", in words: the CamelCase reasons that status fields carry and the sentences beside
// them. One list, so that code, YAML, logs and `detent why` say the same. Constant data and pure
// functions.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/clock.h"

namespace detent::reason {

// Of slots.
inline constexpr const char* kForbid = "Forbid";        // Another Job is active.
inline constexpr const char* kMissed = "MissedSlot";    // The host was away too long.
inline constexpr const char* kNameTaken = "NameTaken";  // The name belongs to another.

// Of Jobs.
inline constexpr const char* kNotYetDue = "NotYetDue";  // startAfter lies ahead.
inline constexpr const char* kOwnerGone = "OwnerGone";  // It is about to be deleted, too.
inline constexpr const char* kNoJobConfig = "JobConfigNotFound";
inline constexpr const char* kConcurrency = "ConcurrencyPolicyForbid";
inline constexpr const char* kInvalidSpec = "InvalidSpec";  // Not what admission let through.
inline constexpr const char* kExecutorUnavailable = "ExecutorUnavailable";
inline constexpr const char* kTaskLimit = "TaskLimit";  // The executor is full.
inline constexpr const char* kRetryBackoff = "RetryBackoff";
inline constexpr const char* kAttemptsUsedUp = "AttemptsUsedUp";
inline constexpr const char* kKillRequested = "KillRequested";
inline constexpr const char* kDeleted = "Deleted";

// Of Tasks that were ended because their Job came to its end: none of them is a failure of its own.
inline constexpr const char* kOtherIndexFailed = "OtherIndexFailed";
inline constexpr const char* kJobKilled = "JobKilled";
inline constexpr const char* kJobDeleted = "JobDeleted";
bool IsEndOfJob(std::string_view reason);

// Of Tasks.
inline constexpr const char* kPendingTimeout = "PendingTimeout";
inline constexpr const char* kForceDeleted = "ForceDeleted";
inline constexpr const char* kLost = "Lost";
inline constexpr const char* kVanished = "Vanished";
inline constexpr const char* kFinishedBeforeKill = "FinishedBeforeKill";
inline constexpr const char* kStateUnreadable = "StateVersionUnreadable";

std::string ForbidMessage(std::string_view job_config, int64_t active, int64_t max);
std::string MissedMessage(int64_t skipped, int64_t kept);
std::string NoJobConfigMessage(std::string_view job_config);
std::string NotYetDueMessage(WallTime start_after);
std::string ExecutorUnavailableMessage(std::string_view kind, std::string_view why);
std::string TaskLimitMessage(std::string_view kind, int64_t limit);
std::string IndexFailedMessage(int64_t index, int64_t attempts, std::string_view why);

}  // namespace detent::reason

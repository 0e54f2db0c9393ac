// The names of all labels, annotations and finalizers that Detent writes; they stand nowhere else.

#pragma once

namespace detent::labels {

// Labels of Jobs and Tasks: whose they are.
inline constexpr const char* kJobConfigUid = "execution.detent.dev/job-config-uid";
inline constexpr const char* kJobConfigName = "execution.detent.dev/job-config";
inline constexpr const char* kJobUid = "execution.detent.dev/job-uid";
// The Job's name. A label's value has at most 63 characters: of a longer name it is JobLabelValue
// (core/base/names.h), the name cut and a hash of it, as Kubernetes shortens names that it derives.
// kJobUid says for certain which Job it is.
inline constexpr const char* kJobName = "execution.detent.dev/job";
inline constexpr const char* kIndex = "execution.detent.dev/index";
inline constexpr const char* kAttempt = "execution.detent.dev/attempt";

// Annotation of a scheduled Job: the slot it is for, RFC 3339.
inline constexpr const char* kSlot = "execution.detent.dev/slot";
// What `kubectl apply` keeps; we only read it.
inline constexpr const char* kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

// On a JobConfig or a Job that is made for one of Furiko's: the UID of that.
inline constexpr const char* kFurikoUid = "detent.dev/furiko-uid";
// On a Job of Furiko's that only shows one of ours: label (the UID of ours) and finalizer.
inline constexpr const char* kFurikoView = "detent.dev/furiko-view";
// Furiko's own, of a Job: which JobConfig of Furiko's it is of, and its slot in Unix seconds.
inline constexpr const char* kFurikoJobConfigUid = "execution.furiko.io/job-config-uid";
inline constexpr const char* kFurikoScheduleTime = "execution.furiko.io/schedule-time";

// On a Task from its creation until its executor has let go of it.
inline constexpr const char* kTaskTracking = "detent.dev/task-tracking";
// Labels of an executor's own objects (Pods and the like): the task it carries out, in the form the
// plugin border has it, and the host that tracks it. The second goes with the finalizer, so that
// what is still to be done is a selector away, however many finished objects lie about.
inline constexpr const char* kTaskKey = "detent.dev/task";
inline constexpr const char* kTrackedBy = "detent.dev/tracked-by";

// Annotation of a CustomResourceDefinition: the version of Detent that it is of.
inline constexpr const char* kVersion = "detent.dev/version";
// Kubernetes' own label for what an object is a part of.
inline constexpr const char* kAppName = "app.kubernetes.io/name";

// On a Job, so that its Tasks are ended before it goes.
inline constexpr const char* kDeleteDependents = "execution.detent.dev/delete-dependents";
// Kubernetes' own, set by `--cascade=foreground` and `--cascade=orphan`.
inline constexpr const char* kForegroundDeletion = "foregroundDeletion";
inline constexpr const char* kOrphan = "orphan";

}  // namespace detent::labels

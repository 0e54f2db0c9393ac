// The invariants, apart from the code they judge: they see only what is stored, change by change.

#pragma once

#include <map>
#include <set>
#include <string>

#include "core/api/job.h"
#include "core/api/object.h"
#include "core/api/task.h"
#include "core/store/change_log.h"

namespace detent {

class Checkers {
 public:
  // One committed change, in order, over all lives of the host.
  void Saw(const Change& change);
  // A user was told that an object is stored as this.
  void Acknowledged(const Object& object);
  // After everything has come to rest: every admitted Job has ended and nothing is left behind.
  void AtRest(const std::map<ObjectKey, ObjectPtr>& objects);

  const std::string& breach() const { return breach_; }
  int64_t jobs_finished() const { return jobs_finished_; }
  int64_t slots() const { return int64_t(slots_.size()); }

 private:
  struct SeenJob {
    std::string config_uid;
    bool started = false;
    bool finished = false;
    bool gone = false;
    JobStatus status;
  };

  void SawJob(const Change& change);
  void SawTask(const Change& change);
  void CheckCounted(const Object& task, const TaskSpec& spec);
  void CheckForbid(const Object& job);
  void CheckStatus(const Object& job);
  void Breach(const std::string& what);

  std::map<std::string, int64_t> forbid_max_;    // Config UID to maxConcurrency.
  std::set<std::string> slots_;                  // "config uid/slot" that made a Job.
  std::map<std::string, SeenJob> jobs_;          // By Job UID.
  std::map<std::string, std::string> outcomes_;  // Task key to result.
  int64_t jobs_finished_ = 0;
  std::string breach_;
};

}  // namespace detent

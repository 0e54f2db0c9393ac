// Owners and what they own: what is deleted takes its dependents with it.
//
// The garbage collection of Kubernetes (background, foreground, orphan), for a home that has none
// of its own. In batches, so that the end of a Job of 100,000 Tasks stops nobody. The loop's thread
// only.

#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/control/context.h"

namespace detent {

class OwnerController {
 public:
  explicit OwnerController(Context& context) : context_(context) {}

  // Any object arrived or changed: it may be waiting for its dependents to go, or be a dependent
  // whose owner is gone.
  void Seen(const ObjectPtr& object);
  // Any object is gone: so must be its dependents, and an owner may wait for just that.
  void Gone(const ObjectPtr& object);

  // Deletes dependents, of the kind given, whose owner went while no host ran, or just before they
  // were created.
  void SweepOrphans(const std::map<std::string, Kind>& missing_owners);

  // Takes up again what the store refused.
  void TryAgain();

 private:
  struct Waiting {
    ObjectKey key;
    bool orphan = false;
  };

  void Collect(const std::string& owner_uid, Kind dependents);
  void Work(const std::string& owner_uid);
  void Finish(const std::string& owner_uid);
  void TryLater(const std::string& owner_uid, std::optional<Kind> dependents, const Error& error);
  Transaction DeleteBatch(const Page& page) const;
  Transaction OrphanBatch(const Page& page, const std::string& owner_uid) const;

  Context& context_;
  std::map<std::string, Waiting> waiting_;  // Deleting owners with a finalizer of ours, by UID.
  std::set<std::string> collecting_;        // UIDs of gone owners with a batch in flight.
  std::set<std::string> again_;             // Of these, to be looked at once more.
  // Refused by the store. With a kind: of a gone owner, else of one that waits.
  std::map<std::string, std::optional<Kind>> refused_;
};

// What an object of this kind may own; nullopt for Tasks.
std::optional<Kind> DependentKind(Kind owner);

}  // namespace detent

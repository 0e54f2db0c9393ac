// Fields of metadata, which all kinds have in common.

#include "core/api/schema_fields.h"

namespace detent {
namespace {

Fields OwnerFields() {
  return {
      Required(Text("apiVersion", "Group and version of the owner.")),
      Required(Text("kind", "Kind of the owner.")),
      Required(Text("name", "Name of the owner, in the same namespace.")),
      Required(Text("uid", "UID of the owner.")),
      Truth("controller", "The owner manages this object. At most one owner does."),
      Truth("blockOwnerDeletion",
            "With foreground deletion the owner stays until this object is gone."),
  };
}

}  // namespace

Fields MetadataFields() {
  return {
      Text("name",
           "Name, unique among objects of this kind in the namespace: lower case letters, "
           "digits, '-' and '.'. At most 49 characters for a JobConfig, 60 for a Job."),
      Text("generateName",
           "Where there is no name, the host makes one of this prefix and five random characters."),
      Text("namespace", "Namespace that the object lives in. Default: default."),
      TextMap("labels", "Key and value pairs that objects can be selected by."),
      TextMap("annotations", "Key and value pairs that nothing selects by, at most 256 KiB."),
      Texts("finalizers",
            "Names of those who have to let go of this object before it can be deleted."),
      Structs("ownerReferences", "Objects that this one belongs to and is deleted with.",
              OwnerFields()),
      Text("uid", "Identity of this object over all times. Set by the host."),
      Text("resourceVersion",
           "Version of what is stored; a write with an older one is refused. Set by the host."),
      Number("generation", "Counts the changes of spec, from 1. Set by the host."),
      Moment("creationTimestamp", "When the object was created. Set by the host."),
      Moment("deletionTimestamp",
             "When deletion was asked for; the object goes once its finalizers are gone. Set by "
             "the host."),
      Number("deletionGracePeriodSeconds", "Time given to the deletion. Set by the host."),
      Anything("managedFields", "Accepted for the sake of clients, and not kept."),
      Text("selfLink", "Accepted for the sake of clients, and not kept."),
  };
}

Fields ObjectFields(std::string_view spec_description, Fields spec, Fields status) {
  return {
      Text("apiVersion", "Group and version of this object: execution.detent.dev/v1alpha1."),
      Text("kind", "Kind of this object."),
      Struct("metadata", "Name, labels and what else every object has.", MetadataFields()),
      Required(Struct("spec", spec_description, std::move(spec))),
      Struct("status", "What the host has seen. Written by the host alone.", std::move(status)),
  };
}

}  // namespace detent

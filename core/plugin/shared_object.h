// A shared object in this process: the one door to the dynamic linker.
//
// Loaded with RTLD_NOW | RTLD_LOCAL from an absolute path, and never unloaded: the plugin's
// threads, thread-local destructors and exit handlers may point into it for as long as the process
// lives.

#pragma once

#include <memory>
#include <string>

#include "core/base/result.h"

namespace detent {

class SharedObject {
 public:
  // The linker's own words are in the error. A static initialiser that throws may end the process,
  // whatever a caller catches: load in a child process first (loader.h).
  static Result<SharedObject> Load(const std::string& path);

  // The address of an exported symbol, or null.
  void* Symbol(const char* name) const;

 private:
  struct Library;
  std::shared_ptr<Library> library_;
};

}  // namespace detent

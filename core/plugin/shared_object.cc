#include "core/plugin/shared_object.h"

#include <dlfcn.h>

#include <boost/dll/shared_library.hpp>

namespace detent {

struct SharedObject::Library {
  boost::dll::shared_library library;
};

Result<SharedObject> SharedObject::Load(const std::string& path) {
  using boost::dll::load_mode::type;
  const auto mode = static_cast<type>(RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  SharedObject object;
  object.library_ = std::make_shared<Library>();
  try {
    object.library_->library.load(boost::dll::fs::path(path), mode);
  } catch (const std::exception& failure) {
    return Error(Code::kInvalid, failure.what());
  } catch (...) {
    return Error(Code::kInvalid, "an exception of an unknown type came out of the dynamic linker");
  }
  return object;
}

void* SharedObject::Symbol(const char* name) const {
  return dlsym(library_->library.native(), name);
}

}  // namespace detent

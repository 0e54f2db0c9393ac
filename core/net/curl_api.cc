#include "core/net/curl_api.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace detent {
namespace {

[[noreturn]] void GiveUp() {
  std::fprintf(stderr, "detent: libcurl cannot be used: %s; install libcurl4\n", dlerror());
  std::exit(127);
}

template <typename Function>
void Find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) GiveUp();
}

CurlApi Load() {
  // The name has been the same since 2006, and says that what we use has not changed.
  void* library = dlopen("libcurl.so.4", RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) GiveUp();
  CurlApi api{};
  Find(library, "curl_easy_init", api.easy_init);
  Find(library, "curl_easy_cleanup", api.easy_cleanup);
  Find(library, "curl_easy_reset", api.easy_reset);
  Find(library, "curl_easy_setopt", api.easy_setopt);
  Find(library, "curl_easy_getinfo", api.easy_getinfo);
  Find(library, "curl_easy_perform", api.easy_perform);
  Find(library, "curl_easy_strerror", api.easy_strerror);
  Find(library, "curl_multi_init", api.multi_init);
  Find(library, "curl_multi_cleanup", api.multi_cleanup);
  Find(library, "curl_multi_setopt", api.multi_setopt);
  Find(library, "curl_multi_add_handle", api.multi_add_handle);
  Find(library, "curl_multi_remove_handle", api.multi_remove_handle);
  Find(library, "curl_multi_info_read", api.multi_info_read);
  Find(library, "curl_multi_socket_action", api.multi_socket_action);
  Find(library, "curl_slist_append", api.slist_append);
  Find(library, "curl_slist_free_all", api.slist_free_all);
  decltype(&curl_global_init) global_init = nullptr;
  Find(library, "curl_global_init", global_init);
  global_init(CURL_GLOBAL_DEFAULT);
  return api;
}

}  // namespace

const CurlApi& Curl() {
  static const CurlApi api = Load();
  return api;
}

}  // namespace detent

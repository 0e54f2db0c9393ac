#include "core/net/curl_api.h"

#include <dlfcn.h>
#include <openssl/ssl.h>

#include <string>

namespace detent {
namespace {

constexpr unsigned kOldest = 0x075800;  // 7.88.0, which the build requires as well.

Error CannotUse(const std::string& why) {
  return Error(Code::kUnavailable,
               "libcurl cannot be used: " + why +
                   "; install libcurl 7.88 or newer (Debian and Ubuntu: the package libcurl4)");
}

// False where the library lacks it.
template <typename Function>
bool Find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

Result<CurlApi> Load() {
  void* library = dlopen("libcurl.so.4", RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) return CannotUse(dlerror());
  // The name stands for the functions, which have not changed since 2006; the options that we set
  // came one by one, and only the version tells.
  decltype(&curl_version_info) version_info = nullptr;
  if (!Find(library, "curl_version_info", version_info)) return CannotUse("it has no version");
  const curl_version_info_data* version = version_info(CURLVERSION_NOW);
  if (version->version_num < kOldest) {
    return CannotUse(std::string("its version is ") + version->version);
  }
  CurlApi api{};
  decltype(&curl_global_init) global_init = nullptr;
  const bool whole = Find(library, "curl_easy_init", api.easy_init) &&
                     Find(library, "curl_easy_cleanup", api.easy_cleanup) &&
                     Find(library, "curl_easy_reset", api.easy_reset) &&
                     Find(library, "curl_easy_setopt", api.easy_setopt) &&
                     Find(library, "curl_easy_getinfo", api.easy_getinfo) &&
                     Find(library, "curl_easy_perform", api.easy_perform) &&
                     Find(library, "curl_easy_strerror", api.easy_strerror) &&
                     Find(library, "curl_multi_init", api.multi_init) &&
                     Find(library, "curl_multi_cleanup", api.multi_cleanup) &&
                     Find(library, "curl_multi_setopt", api.multi_setopt) &&
                     Find(library, "curl_multi_add_handle", api.multi_add_handle) &&
                     Find(library, "curl_multi_remove_handle", api.multi_remove_handle) &&
                     Find(library, "curl_multi_info_read", api.multi_info_read) &&
                     Find(library, "curl_multi_socket_action", api.multi_socket_action) &&
                     Find(library, "curl_slist_append", api.slist_append) &&
                     Find(library, "curl_slist_free_all", api.slist_free_all) &&
                     Find(library, "curl_global_init", global_init);
  if (!whole) return CannotUse("functions are missing from it");
  Find(library, "SSL_CTX_ctrl", api.ssl_ctx_ctrl);  // This looks into what the library needs, too.
  if (global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) return CannotUse("it does not initialise");
  return api;
}

}  // namespace

const Result<CurlApi>& LoadCurl() {
  static const Result<CurlApi> api = Load();
  return api;
}

const CurlApi& Curl() {
  return LoadCurl().value();
}

CURLcode ShowGivenCertificatesOnly(CURL*, void* context, void*) {
  if (const auto control = Curl().ssl_ctx_ctrl) {
    control(static_cast<ssl_ctx_st*>(context), SSL_CTRL_MODE, SSL_MODE_NO_AUTO_CHAIN, nullptr);
  }
  return CURLE_OK;
}

}  // namespace detent

// libcurl, loaded when the first request is made: it brings two dozen libraries along, and a host
// or a command that makes no request should not carry them.
//
// Any thread. Loaded once and never unloaded; a failure is remembered, too.

#pragma once

#include <curl/curl.h>

#include "core/base/result.h"

// The header makes macros of these, for the sake of its types; here they are members.
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

struct ssl_ctx_st;  // OpenSSL's SSL_CTX.

namespace detent {

// The functions of libcurl by their own names without "curl_".
struct CurlApi {
  decltype(&curl_easy_init) easy_init;
  decltype(&curl_easy_cleanup) easy_cleanup;
  decltype(&curl_easy_reset) easy_reset;
  decltype(&curl_easy_setopt) easy_setopt;
  decltype(&curl_easy_getinfo) easy_getinfo;
  decltype(&curl_easy_perform) easy_perform;
  decltype(&curl_easy_strerror) easy_strerror;
  decltype(&curl_multi_init) multi_init;
  decltype(&curl_multi_cleanup) multi_cleanup;
  decltype(&curl_multi_setopt) multi_setopt;
  decltype(&curl_multi_add_handle) multi_add_handle;
  decltype(&curl_multi_remove_handle) multi_remove_handle;
  decltype(&curl_multi_info_read) multi_info_read;
  decltype(&curl_multi_socket_action) multi_socket_action;
  decltype(&curl_slist_append) slist_append;
  decltype(&curl_slist_free_all) slist_free_all;
  // Of the OpenSSL that libcurl has brought along; null where its TLS is another.
  long (*ssl_ctx_ctrl)(ssl_ctx_st* context, int command, long number, void* more);
};

// Loads the library at the first call. kUnavailable: it is missing or too old; the message says
// what to install.
const Result<CurlApi>& LoadCurl();

// Requires: LoadCurl() had a value.
const CurlApi& Curl();

// A CURLOPT_SSL_CTX_FUNCTION. With it a client shows the certificates that it was given. OpenSSL
// would add those that it trusts the server by, and a Kubernetes API server would check signatures
// along them with each request, for a tenth of what one costs it. Does nothing where libcurl's TLS
// is another: such a libcurl does not take the option either.
CURLcode ShowGivenCertificatesOnly(CURL* easy, void* context, void* nothing);

}  // namespace detent

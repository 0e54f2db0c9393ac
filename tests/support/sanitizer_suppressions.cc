// What ThreadSanitizer cannot see: Debian's Poco is built without it, so the reference count that
// orders the last use of a socket before its deletion looks like no order at all. Link this into
// every test that runs the HTTP server.

#ifdef __SANITIZE_THREAD__
// Visible, since it is the sanitizer's own library that looks for it.
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_suppressions() {
  return "race:Poco::Net::TCPServer::run\n";
}
#endif

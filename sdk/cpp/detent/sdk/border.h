// The border seen from inside a plugin: no exception leaves it (rule D-EXC-1). Every function that
// the host calls runs its body in Guarded, which turns what is thrown into a line of the host's log
// and a status. Plugin authors need nothing from this file.

#pragma once

#include <exception>
#include <string>
#include <utility>

#include "detent/host.h"
#include "detent/sdk/text.h"

namespace detent::sdk::border {

// The op that the call under way on this thread brought, so that a body that throws is answered
// with what it threw, though its Op dies while the stack unwinds.
struct Frame {
  detent_op op = 0;
  bool completed = false;
  Frame* outer = nullptr;
};

inline Frame*& CurrentFrame() {
  static thread_local Frame* frame = nullptr;
  return frame;
}

// Makes `frame` the current one for its own life.
class Enter {
 public:
  explicit Enter(Frame& frame) {
    frame.outer = CurrentFrame();
    CurrentFrame() = &frame;
  }
  ~Enter() { CurrentFrame() = CurrentFrame()->outer; }
  Enter(const Enter&) = delete;
  Enter& operator=(const Enter&) = delete;
};

inline void Report(const detent_host* table, detent_instance instance, const char* what) {
  if (table == nullptr || instance == 0) return;
  std::string text = "an exception reached the border: ";
  text += what;
  const detent_log line{sizeof(detent_log), DETENT_LOG_ERROR, 0, Str(text), {nullptr, 0}};
  table->log(instance, &line);
}

// Runs body. False if it threw; *what then says what. instance 0: nothing is logged.
template <typename Body>
bool Guarded(const detent_host* table, detent_instance instance, Body&& body,
             std::string* what = nullptr) noexcept {
  try {
    try {
      std::forward<Body>(body)();
      return true;
    } catch (const std::exception& error) {
      Report(table, instance, error.what());
      if (what != nullptr) *what = error.what();
    } catch (...) {
      Report(table, instance, "of unknown type");
      if (what != nullptr) *what = "an exception of unknown type";
    }
  } catch (...) {
    // Even the report found no memory; the status alone has to do.
  }
  return false;
}

}  // namespace detent::sdk::border

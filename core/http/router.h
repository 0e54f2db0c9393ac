// From a method and a path to the function that answers it.
//
// Filled once at wiring time, constant afterwards; then any thread.

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/http/request.h"

namespace detent {

class Router {
 public:
  // What stood in the pattern's "{}", in order.
  using Captures = std::vector<std::string>;
  using Route = std::function<Response(const Request&, const Captures&)>;

  // `pattern` is like "/apis/{}/v1": "{}" stands for any one segment. Where several patterns fit,
  // the one added first answers.
  void Add(std::string_view method, std::string_view pattern, Route route);

  // 404 where no pattern fits the path, 405 (with Allow) where none has the method.
  Response Dispatch(const Request& request) const;

  // "/apis/{}/v1" and so on, each once, in the order they were added.
  std::vector<std::string> Patterns() const;

 private:
  struct Entry {
    std::string method;
    std::string pattern;
    std::vector<std::string> segments;
    Route route;
  };
  std::vector<Entry> entries_;
};

}  // namespace detent

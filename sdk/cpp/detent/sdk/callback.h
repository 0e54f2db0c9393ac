// Callback<Args...>: a function object that is called later, at most once or many times, and may
// hold what cannot be copied (an Op, a unique_ptr). Unlike std::function it is move-only. Empty
// until set; calling an empty one does nothing. Not thread-safe in itself.

#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace detent::sdk {

template <typename... Args>
class Callback {
 public:
  Callback() = default;
  Callback(std::nullptr_t) {}  // NOLINT(google-explicit-constructor)

  template <typename F>
  requires(!std::is_same_v<std::decay_t<F>, Callback> && std::is_invocable_v<F&, Args...>)
      Callback(F f)  // NOLINT(google-explicit-constructor)
      : body_(std::make_unique<Holder<F>>(std::move(f))) {}

  explicit operator bool() const { return body_ != nullptr; }

  void operator()(Args... args) {
    if (body_) body_->Call(std::forward<Args>(args)...);
  }

 private:
  struct Body {
    virtual ~Body() = default;
    virtual void Call(Args... args) = 0;
  };
  template <typename F>
  struct Holder : Body {
    explicit Holder(F f) : function(std::move(f)) {}
    void Call(Args... args) override { function(std::forward<Args>(args)...); }
    F function;
  };
  std::unique_ptr<Body> body_;
};

}  // namespace detent::sdk

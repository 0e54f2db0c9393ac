#include "core/control/loop.h"

#include <future>
#include <memory>
#include <vector>

namespace detent {

void Loop::Start() {
  thread_ = std::thread([this] { Run(); });
}

void Loop::Stop() {
  inbox_.Close();
  if (thread_.joinable()) thread_.join();
}

void Loop::Run() {
  std::vector<Message> messages;
  std::chrono::nanoseconds idle{0};
  while (inbox_.Take(messages, idle)) {
    for (Message& message : messages) engine_.Take(message);
    messages.clear();
    idle = engine_.Pass();
  }
}

bool Loop::CallAndWait(std::function<void(Engine&)> ask) {
  // Shared, because the caller may have given up when the loop gets to it.
  auto done = std::make_shared<std::promise<void>>();
  auto future = done->get_future();
  auto call = [this, ask = std::move(ask), done] {
    ask(engine_);
    done->set_value();
  };
  if (!inbox_.Post(Call{std::move(call)})) return false;
  return future.wait_for(std::chrono::seconds(5)) == std::future_status::ready;
}

}  // namespace detent

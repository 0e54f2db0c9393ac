#include "core/store/store.h"

#include <future>
#include <utility>

namespace detent {

Result<Committed> SubmitAndWait(Store& store, Transaction transaction) {
  // Shared, because set_value still touches the promise when the waiter has already woken up.
  const auto promise = std::make_shared<std::promise<Result<Committed>>>();
  std::future<Result<Committed>> outcome = promise->get_future();
  store.Submit(std::move(transaction),
               [promise](Result<Committed> result) { promise->set_value(std::move(result)); });
  return outcome.get();
}

}  // namespace detent

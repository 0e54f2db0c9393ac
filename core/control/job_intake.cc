#include "core/control/job_intake.h"

#include <utility>

namespace detent {

void JobIntake::Submit(Transaction transaction, Done done) {
  const bool is_creation = transaction.size() == 1 && transaction[0].op == WriteOp::kCreate &&
                           transaction[0].object->kind == Kind::kJob;
  // Where there are no transactions, a Job's first tasks cannot be stored with it.
  if (!is_creation || !store_.atomic())
    return store_.Submit(std::move(transaction), std::move(done));
  auto wish = std::make_shared<JobWish>();
  wish->object = std::move(transaction[0].object);
  wish->done = std::move(done);
  if (inbox_.Post(JobWished{wish})) return;
  // The loop has ended: the Job is stored as it is, and started by the next host.
  wish->StoreAlone(store_);
}

}  // namespace detent

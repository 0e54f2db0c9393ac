#include "core/furiko/furiko_agenda.h"

#include <gtest/gtest.h>

namespace detent {
namespace {

const ObjectKey kFirst{Kind::kJob, "default", "a"};
const ObjectKey kSecond{Kind::kJob, "default", "b"};

MonoTime At(int seconds) {
  return MonoTime(std::chrono::seconds(seconds));
}

TEST(FurikoAgenda, TheEarlierOfTwoTimesStays) {
  FurikoAgenda agenda;
  agenda.NoLater(kFirst, At(5));
  agenda.NoLater(kFirst, At(9));
  EXPECT_EQ(agenda.Next(), At(5));
  agenda.NoLater(kFirst, At(2));
  EXPECT_EQ(agenda.Next(), At(2));
}

TEST(FurikoAgenda, WhatIsDueIsTakenOnceAndInItsOrder) {
  FurikoAgenda agenda;
  agenda.NoLater(kFirst, At(2));
  agenda.NoLater(kSecond, At(1));
  EXPECT_EQ(agenda.TakeDue(At(0)), std::nullopt);
  EXPECT_EQ(agenda.TakeDue(At(2)), kSecond);
  EXPECT_EQ(agenda.TakeDue(At(2)), kFirst);
  EXPECT_EQ(agenda.TakeDue(At(2)), std::nullopt);
  EXPECT_EQ(agenda.Next(), std::nullopt);
}

}  // namespace
}  // namespace detent

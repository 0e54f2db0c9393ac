#include "core/base/mailbox.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

namespace detent {
namespace {

using namespace std::chrono_literals;

TEST(Mailbox, GivesAllMessagesAtOnceInOrder) {
  Mailbox<int> mailbox(10);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(mailbox.Post(i));
  std::vector<int> out;
  EXPECT_TRUE(mailbox.Take(out, 0ns));
  EXPECT_EQ(out, (std::vector<int>{0, 1, 2}));
}

TEST(Mailbox, ComesBackEmptyAfterTheTimeout) {
  Mailbox<int> mailbox(1);
  std::vector<int> out;
  EXPECT_TRUE(mailbox.Take(out, 0ns));
  EXPECT_TRUE(mailbox.Take(out, 1ms));
  EXPECT_TRUE(out.empty());
}

TEST(Mailbox, WaitsHoweverLongItIsTold) {
  Mailbox<int> mailbox(1);
  std::thread poster([&] { mailbox.Post(7); });
  std::vector<int> out;
  EXPECT_TRUE(mailbox.Take(out, std::chrono::nanoseconds::max()));
  EXPECT_EQ(out, std::vector<int>{7});
  poster.join();
}

TEST(Mailbox, KeepsTheOrderOfEachSenderAndItsBound) {
  constexpr int kSenders = 4, kEach = 5'000;
  constexpr size_t kCapacity = 16;
  Mailbox<std::pair<int, int>> mailbox(kCapacity);
  std::vector<std::thread> senders;
  for (int s = 0; s < kSenders; ++s) {
    senders.emplace_back([&, s] {
      for (int i = 0; i < kEach; ++i) mailbox.Post({s, i});
    });
  }
  int next[kSenders] = {};
  int total = 0;
  std::vector<std::pair<int, int>> out;
  while (total < kSenders * kEach) {
    out.clear();
    ASSERT_TRUE(mailbox.Take(out, 10s));
    EXPECT_LE(out.size(), kCapacity);
    for (const auto& [sender, number] : out) EXPECT_EQ(number, next[sender]++);
    total += static_cast<int>(out.size());
  }
  for (std::thread& sender : senders) sender.join();
}

TEST(Mailbox, TakesAnswersBeyondItsBound) {
  Mailbox<int> mailbox(1);
  EXPECT_TRUE(mailbox.Post(1));
  EXPECT_TRUE(mailbox.PostAnswer(2));
  std::vector<int> answers = {3, 4};
  EXPECT_TRUE(mailbox.PostAnswers(answers));
  EXPECT_TRUE(answers.empty());
  std::vector<int> out;
  EXPECT_TRUE(mailbox.Take(out, 0ns));
  EXPECT_EQ(out, (std::vector<int>{1, 2, 3, 4}));
}

TEST(Mailbox, MakesASenderWaitForRoom) {
  Mailbox<int> mailbox(1);
  EXPECT_TRUE(mailbox.Post(1));
  std::atomic<bool> posted = false;
  std::thread sender([&] {
    EXPECT_TRUE(mailbox.Post(2));
    posted = true;
  });
  EXPECT_FALSE(posted);
  std::vector<int> all, out;
  while (all.size() < 2) {
    out.clear();
    ASSERT_TRUE(mailbox.Take(out, 10s));
    all.insert(all.end(), out.begin(), out.end());
  }
  sender.join();
  EXPECT_EQ(all, (std::vector<int>{1, 2}));
}

TEST(Mailbox, GivesWhatItHasBeforeItIsClosedForGood) {
  Mailbox<int> mailbox(4);
  EXPECT_TRUE(mailbox.Post(1));
  mailbox.Close();
  EXPECT_FALSE(mailbox.Post(2));
  EXPECT_FALSE(mailbox.PostAnswer(3));
  std::vector<int> answers = {4};
  EXPECT_FALSE(mailbox.PostAnswers(answers));
  std::vector<int> out;
  EXPECT_TRUE(mailbox.Take(out, 10s));
  EXPECT_EQ(out, std::vector<int>{1});
  out.clear();
  EXPECT_FALSE(mailbox.Take(out, 10s));
}

TEST(Mailbox, FreesThoseWhoWaitWhenItCloses) {
  Mailbox<int> full(1), empty(1);
  EXPECT_TRUE(full.Post(1));
  std::thread sender([&] { EXPECT_FALSE(full.Post(2)); });
  std::thread taker([&] {
    std::vector<int> out;
    EXPECT_FALSE(empty.Take(out, 1h));
  });
  full.Close();
  empty.Close();
  sender.join();
  taker.join();
}

TEST(Mailbox, CarriesWhatCanOnlyBeMoved) {
  Mailbox<std::unique_ptr<int>> mailbox(1);
  EXPECT_TRUE(mailbox.Post(std::make_unique<int>(5)));
  std::vector<std::unique_ptr<int>> out;
  EXPECT_TRUE(mailbox.Take(out, 0ns));
  EXPECT_EQ(*out.at(0), 5);
}

}  // namespace
}  // namespace detent

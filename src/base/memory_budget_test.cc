#include "base/memory_budget.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace kafscope {
namespace {

TEST(MemoryBudget, NeverGivesMoreThanItsLimit) {
  const auto budget = std::make_shared<MemoryBudget>(100);
  EXPECT_TRUE(budget->TryReserve(60));
  EXPECT_FALSE(budget->TryReserve(41));
  EXPECT_TRUE(budget->TryReserve(40));
  EXPECT_EQ(budget->free_bytes(), 0U);
  budget->Release(100);
  EXPECT_FALSE(budget->TryReserve(SIZE_MAX));
  {
    ASSERT_TRUE(budget->TryReserve(10));
    MemoryReservation held(budget, 10);
    MemoryReservation moved = std::move(held);
    EXPECT_EQ(budget->used(), 10U);
    EXPECT_EQ(moved.bytes(), 10U);
  }
  EXPECT_EQ(budget->used(), 0U);
}

TEST(MemoryBudget, WaitsForRoomUntilItsDeadline) {
  MemoryBudget budget(10);
  ASSERT_TRUE(budget.TryReserve(10));
  EXPECT_FALSE(budget.WaitAndReserve(1, std::chrono::steady_clock::now()));
  std::thread releaser([&] { budget.Release(5); });
  EXPECT_TRUE(budget.WaitAndReserve(5, std::chrono::steady_clock::now() + std::chrono::seconds(30)));
  releaser.join();
  EXPECT_EQ(budget.used(), 10U);
}

TEST(MemoryBudget, CountsRightFromSeveralThreads) {
  MemoryBudget budget(1000);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 1000; ++n) {
        if (budget.TryReserve(300)) budget.Release(300);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(budget.used(), 0U);
}

}  // namespace
}  // namespace kafscope

// A bolt that keeps what it gets, for the end of a topology under test.
//
//   Collector counts;
//   t.AddBolt("collect", counts.Bolt()).Global(count);
//   RunTopology(t);
//   EXPECT_THAT(counts.Rows(), UnorderedElementsAre(Row("a", 2), Row("b", 1)));
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "heron/api/component.h"
#include "heron/api/tuple.h"
#include "heron/testing/row.h"

namespace heron::testing {

// Any thread. Its bolts may outlive it.
class Collector {
 public:
  // The factory of a bolt, for AddBolt; any parallelism, any inputs.
  auto Bolt() {
    return [kept = kept_] { return Keeper(kept); };
  }

  // In the order of arrival.
  std::vector<Row> Rows() const {
    std::lock_guard<std::mutex> lock(kept_->mutex);
    return kept_->rows;
  }
  size_t size() const {
    std::lock_guard<std::mutex> lock(kept_->mutex);
    return kept_->rows.size();
  }

 private:
  struct Kept {
    std::mutex mutex;
    std::vector<Row> rows;  // guarded by mutex
  };
  class Keeper : public heron::Bolt {
   public:
    explicit Keeper(std::shared_ptr<Kept> kept) : kept_(std::move(kept)) {}
    void Execute(const Tuple& in) override {
      std::lock_guard<std::mutex> lock(kept_->mutex);
      kept_->rows.push_back(Row::Of(in.ToValues()));
    }

   private:
    std::shared_ptr<Kept> kept_;
  };

  std::shared_ptr<Kept> kept_ = std::make_shared<Kept>();
};

}  // namespace heron::testing

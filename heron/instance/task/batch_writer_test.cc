#include "heron/instance/task/batch_writer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "heron/model/tuple_batch.h"
#include "heron/net/frame.h"
#include "proto/frame.pb.h"

namespace heron::instance {
namespace {

struct Batch {
  model::BatchHeader header;
  std::string payload;
  size_t frame_bytes = 0;
};

class Collector : public BatchWriter::Sink {
 public:
  void OnBatch(BufferSlice frame) override {
    auto header = net::DecodeFrameHeader(frame.view(), 64 << 20);
    ASSERT_TRUE(header.ok());
    EXPECT_EQ(header->type, proto::TUPLE_BATCH);
    ASSERT_EQ(header->body_bytes + net::kFrameHeaderBytes, frame.size());
    auto batch = model::DecodeBatch(frame.view().substr(net::kFrameHeaderBytes));
    ASSERT_TRUE(batch.ok()) << batch.status().ToString();
    batches.push_back({batch->header, std::string(batch->payload), frame.size()});
    kept.push_back(std::move(frame));
  }
  std::vector<Batch> batches;
  std::vector<BufferSlice> kept;
};

BatchWriter::Options Options() {
  return {.task = 7, .epoch = {2, 3}, .routing_version = 5, .batch_max_bytes = 4096};
}

void Write(BatchWriter& writer, uint32_t stream, TaskId destination, const std::string& tuple) {
  char* out = writer.Reserve(stream, destination, tuple.size());
  std::memcpy(out, tuple.data(), tuple.size());
  writer.Commit();
}

TEST(BatchWriterTest, ABatchIsAWholeFrameWithItsHeader) {
  Collector collector;
  BatchWriter writer(Options(), &collector);
  EXPECT_FALSE(writer.HasOpen());
  Write(writer, 1, 9, "one");
  Write(writer, 1, 9, "two");
  EXPECT_TRUE(writer.HasOpen());
  EXPECT_TRUE(collector.batches.empty());
  writer.CloseAll();
  EXPECT_FALSE(writer.HasOpen());
  ASSERT_EQ(collector.batches.size(), 1u);
  const model::BatchHeader& header = collector.batches[0].header;
  EXPECT_EQ(header.source_task, 7);
  EXPECT_EQ(header.source_epoch, (Epoch{2, 3}));
  EXPECT_EQ(header.destination_task, 9);
  EXPECT_EQ(header.stream, 1u);
  EXPECT_EQ(header.tuple_count, 2u);
  EXPECT_EQ(header.number, 1u);
  EXPECT_EQ(header.routing_version, 5u);
  EXPECT_EQ(collector.batches[0].payload, "onetwo");
}

TEST(BatchWriterTest, NumbersRunPerDestinationOverAllStreamsInTheOrderOfClosing) {
  Collector collector;
  BatchWriter writer(Options(), &collector);
  for (int round = 0; round < 3; ++round) {
    Write(writer, 0, 9, "a");
    Write(writer, 2, 9, "b");
    Write(writer, 0, 4, "c");
    writer.CloseAll();
  }
  std::map<TaskId, uint64_t> last;
  for (const Batch& batch : collector.batches) {
    EXPECT_EQ(batch.header.number, ++last[batch.header.destination_task]);
  }
  EXPECT_EQ(last[9], 6u);
  EXPECT_EQ(last[4], 3u);
  EXPECT_EQ(writer.last_numbers(), last);
}

TEST(BatchWriterTest, ClosesWhatIsFullAndLosesNothing) {
  Collector collector;
  BatchWriter writer(Options(), &collector);
  std::string written;
  for (int i = 0; i < 5000; ++i) {
    std::string tuple(static_cast<size_t>(i % 37), static_cast<char>('a' + i % 26));
    written += tuple;
    Write(writer, 0, 9, tuple);
  }
  writer.CloseAll();
  std::string got;
  uint32_t tuples = 0;
  for (const Batch& batch : collector.batches) {
    EXPECT_LE(batch.payload.size(), 4096u);
    got += batch.payload;
    tuples += batch.header.tuple_count;
  }
  EXPECT_EQ(got, written);
  EXPECT_EQ(tuples, 5000u);
  EXPECT_GT(collector.batches.size(), 20u);
}

TEST(BatchWriterTest, ALargeTupleIsABatchOfItsOwnAndKeepsItsPlace) {
  Collector collector;
  BatchWriter writer(Options(), &collector);
  Write(writer, 0, 9, "small");
  Write(writer, 0, 9, std::string(100000, 'x'));
  Write(writer, 0, 9, "after");
  writer.CloseAll();
  ASSERT_EQ(collector.batches.size(), 3u);
  EXPECT_EQ(collector.batches[0].payload, "small");
  EXPECT_EQ(collector.batches[1].payload.size(), 100000u);
  EXPECT_EQ(collector.batches[2].payload, "after");
}

TEST(BatchWriterTest, ClosedBatchesAreNotTouchedByLaterTuples) {
  Collector collector;
  BatchWriter writer(Options(), &collector);
  for (int i = 0; i < 100; ++i) {
    Write(writer, 0, 9, std::string(3000, static_cast<char>('a' + i % 26)));
    writer.CloseAll();
  }
  for (size_t i = 0; i < collector.kept.size(); ++i) {
    auto batch =
        model::DecodeBatch(collector.kept[i].view().substr(net::kFrameHeaderBytes));
    ASSERT_TRUE(batch.ok());
    EXPECT_EQ(batch->payload, std::string(3000, static_cast<char>('a' + i % 26)));
  }
}

}  // namespace
}  // namespace heron::instance

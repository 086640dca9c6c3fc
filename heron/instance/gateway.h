// The instance's event loop side: sessions with the executor and the stream manager, the core that decides, and the
// queues to and from the task thread. Carries out what the core wants and decides nothing itself, except how the process
// ends.
//
// Back pressure: the data lane is not read while data-in has no room, data-out is not emptied while the session has
// kMaxQueuedBytes unsent. Without a session both queues just stand; emit blocks once data-out is full.
//
// Thread: the one that calls Run (the process's main thread); made and destroyed there. User code runs on the task thread
// that it starts.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "heron/api/topology_builder.h"
#include "heron/instance/core/instance_core.h"
#include "heron/instance/core/loss_watch.h"
#include "heron/instance/executor_link.h"
#include "heron/instance/task/task_link.h"
#include "heron/instance/task/task_thread.h"
#include "heron/link/session.h"
#include "heron/net/event_loop.h"
#include "heron/settings/process_settings.h"
#include "proto/stream.pb.h"

namespace heron::instance {

class Gateway : private link::SessionHandler,
                private InstanceCore::Effects,
                private ExecutorLink::Listener {
 public:
  static constexpr size_t kMaxQueuedBytes = 512u << 10;
  static constexpr Duration kTickEvery = std::chrono::milliseconds(250);
  static constexpr Duration kStopTimeout = std::chrono::seconds(2);     // for user code
  static constexpr Duration kReportTimeout = std::chrono::seconds(1);   // for the last words

  struct Options {
    link::TopologyCredentials credentials;
    ContainerId container = 0;
    std::string component;
    TaskId task = 0;
    int32_t index = 0;
    Epoch epoch;
    std::string executor_host;
    uint16_t executor_port = 0;
    std::string container_folder;
    settings::ProcessSettings settings;  // of the environment
    Duration stop_timeout = kStopTimeout;
    std::vector<std::string> arguments;
    const TopologyBuilder* builder = nullptr;  // outlives it
  };

  Gateway(net::EventLoop& loop, Options options);
  ~Gateway() override;  // joins the task thread: not while task_stuck()

  // Runs the loop until the process should end. The exit code.
  int Run();
  // Thread: the loop's. An orderly stop within the stop timeout (SIGTERM); Run returns `exit_code`.
  void Stop(int exit_code);
  // After Run: user code did not return in time; the process must leave without joining.
  bool task_stuck() const { return task_stuck_; }

 private:
  // Stream manager's session.
  void OnSessionUp(link::Session& session) override;
  void OnFrame(link::Session& session, proto::Lane lane, net::Frame frame) override;
  void OnWritable(link::Session& session, proto::Lane lane) override;
  void OnSessionDown(link::Session& session, const Status& why) override;
  void OnBatch(net::Frame frame);
  void OnAcks(net::Frame frame);
  void OnPlan(const proto::InstancePlan& plan);
  Status Prepare(const proto::InstancePlan& plan);
  template <typename Message>
  bool Parse(const net::Frame& frame, Message& message);

  // ExecutorLink::Listener
  void OnStreamManagerAt(uint16_t port, Epoch epoch) override;
  void OnRefused(const proto::Refused& refused) override;

  // InstanceCore::Effects
  void StartTask() override;
  void SetActive(bool active) override { link_.SetActive(active); }
  void AskDrained(uint64_t ticket) override;
  void RunFinish() override;
  void EndOutput() override;
  void SendEnded(TaskId destination, uint64_t last_number) override;
  void SendConfirmed(TaskId source, Epoch source_epoch) override;
  void ReportChanged() override { report_due_ = true; }

  // Queues.
  void Pump();
  bool PumpOnce();  // false: more is to be done, but others should have their turn
  bool HasWork();
  bool MaySend();
  bool MaySendAcks();
  void PumpAcks();
  void PushIn(TaskInput input, size_t weight);
  void MoveStaged();
  void FollowRoom();
  void TakeEvents();
  void OnTaskEnded();

  // Ends.
  void Fail(int exit_code, const std::string& message, bool unrecoverable);
  void BeginExit(int exit_code);
  void CheckExit();

  void SendReport();
  void SendReportIfDue() {
    if (report_due_) SendReport();
  }
  MonotonicTime Now() const { return loop_.clock().Now(); }

  net::EventLoop& loop_;
  const Options options_;
  TaskLink link_;
  InstanceCore core_;
  ExecutorLink executor_;
  std::unique_ptr<link::SessionDialer> stream_manager_;
  std::unique_ptr<TaskThread> task_;
  std::unique_ptr<net::EventLoop::FdWatch> wake_watch_;
  std::vector<net::TimerId> timers_;

  // What the first plan of a life says.
  bool prepared_ = false;
  TaskThread::Options task_options_;
  InstanceCore::Routes routes_;

  struct Staged {
    TaskInput input;
    size_t weight = 0;
  };
  std::deque<Staged> staged_;  // no room in data-in: at most the frame at hand and a few commands
  std::deque<AckInput> staged_acks_;  // no room in acks-in: the frames that were read already
  bool acks_paused_ = false;
  LossWatch losses_;
  bool reading_paused_ = false;
  bool report_due_ = false;
  bool pump_posted_ = false;
  bool task_end_seen_ = false;
  bool damage_logged_ = false;
  std::string last_refusal_;

  bool exiting_ = false;
  bool has_error_ = false;
  bool task_stuck_ = false;
  int exit_code_ = 0;
  MonotonicTime stop_deadline_{};
  MonotonicTime report_deadline_{};
  MonotonicTime error_sent_at_{};
  bool error_sent_ = false;
};

}  // namespace heron::instance

#include "heron/stream_manager/executor_link.h"

#include <glog/logging.h>
#include <unistd.h>

#include <utility>

#include "proto/container.pb.h"
#include "proto/frame.pb.h"

namespace heron::stream_manager {
namespace {

// Above this the executor does not read: reports are not piled up.
constexpr size_t kMaxQueuedBytes = 64u << 10;

}  // namespace

ExecutorLink::ExecutorLink(net::EventLoop& loop, Options options, std::function<void()> on_lost)
    : loop_(loop), options_(std::move(options)), on_lost_(std::move(on_lost)) {
  link::SessionDialer::Options dial;
  dial.self = options_.self;
  dial.callee = link::MakeIdentity(proto::EXECUTOR, options_.self.container(), 0, {});
  dial.credentials = options_.credentials;
  dial.session = options_.session;
  dial.lanes = {proto::CONTROL};
  dialer_ = link::SessionDialer::Make(loop_, dial, this);
  dialer_->SetTarget(options_.host, options_.port, dial.callee);
  ExpectSession();
  report_timer_ = loop_.RunEvery(options_.report_interval, [this] { Report(); });
}

ExecutorLink::~ExecutorLink() {
  loop_.CancelTimer(report_timer_);
  loop_.CancelTimer(lost_timer_);
}

void ExecutorLink::ExpectSession() {
  lost_timer_ = loop_.RunAfter(options_.lost_timeout, [this] {
    LOG(ERROR) << "no session with the executor at "
               << net::FormatHostPort(options_.host, options_.port);
    on_lost_();
  });
}

void ExecutorLink::OnSessionUp(link::Session& /*session*/) {
  loop_.CancelTimer(std::exchange(lost_timer_, 0));
  Report();
}

void ExecutorLink::OnFrame(link::Session&, proto::Lane, net::Frame) {
  // ChildUpdate is for instances.
}

void ExecutorLink::OnSessionDown(link::Session& /*session*/, const Status& why) {
  LOG(WARNING) << "lost the executor: " << why.ToString();
  if (lost_timer_ == 0) ExpectSession();
}

void ExecutorLink::Report() {
  link::Session* session = dialer_->session();
  if (session == nullptr || session->QueuedBytes(proto::CONTROL) > kMaxQueuedBytes) return;
  proto::ChildReport report;
  report.set_pid(getpid());
  report.set_port(options_.listening_port);
  session->Send(proto::CONTROL, proto::CHILD_REPORT, report);
}

}  // namespace heron::stream_manager

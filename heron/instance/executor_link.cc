#include "heron/instance/executor_link.h"

#include <unistd.h>

#include <utility>

#include "heron/instance/log.h"

namespace heron::instance {

ExecutorLink::ExecutorLink(net::EventLoop& loop, Options options, Listener* listener)
    : loop_(loop), listener_(listener) {
  report_.set_pid(getpid());
  report_.set_error_component(options.component);
  link::SessionDialer::Options dial;
  dial.self = options.self;
  dial.callee = link::MakeIdentity(proto::EXECUTOR, options.self.container(), 0, Epoch{});
  dial.credentials = std::move(options.credentials);
  dial.session = options.session;
  dial.lanes = {proto::CONTROL};
  dial.on_refused = [this](const proto::Refused& refused) { listener_->OnRefused(refused); };
  const proto::Identity callee = dial.callee;
  dialer_ = link::SessionDialer::Make(loop_, std::move(dial), this);
  dialer_->SetTarget(options.host, options.port, callee);
  timer_ = loop_.RunEvery(options.session.heartbeat_interval, [this] { Report(); });
}

ExecutorLink::~ExecutorLink() { loop_.CancelTimer(timer_); }

void ExecutorLink::SetProgress() {
  if (report_.made_progress()) return;
  report_.set_made_progress(true);
  Report();
}

void ExecutorLink::SetError(const std::string& text, bool unrecoverable) {
  report_.set_error(text);
  report_.set_unrecoverable(unrecoverable);
  Report();
}

bool ExecutorLink::ErrorSent() const {
  link::Session* session = dialer_->session();
  return error_reported_ && session != nullptr && session->QueuedBytes(proto::CONTROL) == 0;
}

void ExecutorLink::Report() {
  link::Session* session = dialer_->session();
  if (session == nullptr) return;
  session->Send(proto::CONTROL, proto::CHILD_REPORT, report_);
  error_reported_ = !report_.error().empty();
}

void ExecutorLink::OnSessionUp(link::Session&) { Report(); }

void ExecutorLink::OnFrame(link::Session&, proto::Lane, net::Frame frame) {
  if (frame.type != proto::CHILD_UPDATE) return;
  proto::ChildUpdate update;
  const Status parsed = net::ParseBody(frame.body(), update);
  if (!parsed.ok()) {
    Log(LogLevel::kWarning, "from the executor: " + parsed.ToString());
    return;
  }
  if (update.stream_manager_port() > 65535) return;
  listener_->OnStreamManagerAt(static_cast<uint16_t>(update.stream_manager_port()),
                               link::EpochOf(update.stream_manager_epoch()));
}

void ExecutorLink::OnSessionDown(link::Session&, const Status& why) {
  error_reported_ = false;
  Log(LogLevel::kWarning, "lost the executor: " + why.ToString());
}

}  // namespace heron::instance

#include "heron/net/event_loop.h"

#include <glog/logging.h>
#include <unistd.h>

#include <algorithm>
#include <asio/posix/basic_stream_descriptor.hpp>
#include <asio/post.hpp>
#include <utility>

#include "heron/net/event_loop_impl.h"

namespace heron::net {
namespace {

using Descriptor = asio::posix::basic_stream_descriptor<EventLoop::Impl::Executor>;

class AsioFdWatch final : public EventLoop::FdWatch {
 public:
  AsioFdWatch(asio::io_context& io, int fd, std::function<void()> fn)
      : state_(std::make_shared<State>(io, std::move(fn))) {
    asio::error_code ec;
    state_->descriptor.assign(fd, ec);
    CHECK(!ec) << "watching descriptor " << fd << ": " << ec.message();
    Wait(state_);
  }
  ~AsioFdWatch() override {
    state_->fn = nullptr;
    state_->descriptor.release();  // the descriptor stays the caller's
  }

 private:
  struct State {
    State(asio::io_context& io, std::function<void()> f) : descriptor(io), fn(std::move(f)) {}
    Descriptor descriptor;
    std::function<void()> fn;
  };

  static void Wait(const std::shared_ptr<State>& state) {
    state->descriptor.async_wait(Descriptor::wait_read, [state](const asio::error_code& ec) {
      if (ec || state->fn == nullptr) return;
      // A copy: `fn` may destroy the watch, and with it itself.
      std::function<void()> fn = state->fn;
      fn();
      if (state->fn != nullptr) Wait(state);
    });
  }

  std::shared_ptr<State> state_;
};

}  // namespace

EventLoop::EventLoop() : impl_(std::make_unique<Impl>()) {}
EventLoop::~EventLoop() = default;

void EventLoop::Run() {
  impl_->thread.store(std::this_thread::get_id());
  impl_->io.run();
  impl_->io.restart();  // here, not before: a Stop() that comes ahead of Run() counts
  impl_->thread.store(std::thread::id());
}

void EventLoop::Stop() { impl_->io.stop(); }

void EventLoop::Post(std::function<void()> fn) { asio::post(impl_->io, std::move(fn)); }

void EventLoop::Impl::Arm(TimerId id, const std::shared_ptr<TimerEntry>& entry) {
  entry->timer.async_wait([this, id, entry](const asio::error_code& ec) {
    if (ec || !timers.contains(id)) return;
    if (entry->period == Duration::zero()) {
      timers.erase(id);
      entry->fn();
      return;
    }
    entry->fn();
    if (!timers.contains(id)) return;
    const auto now = std::chrono::steady_clock::now();
    auto next = entry->timer.expiry() + entry->period;
    if (next <= now) next = now + entry->period;
    entry->timer.expires_at(next);
    Arm(id, entry);
  });
}

TimerId EventLoop::RunAfter(Duration delay, std::function<void()> fn) {
  const TimerId id = impl_->next_timer++;
  auto entry = std::make_shared<Impl::TimerEntry>(impl_->io);
  entry->fn = std::move(fn);
  entry->timer.expires_after(std::max(delay, Duration::zero()));
  impl_->timers.emplace(id, entry);
  impl_->Arm(id, entry);
  return id;
}

TimerId EventLoop::RunEvery(Duration period, std::function<void()> fn) {
  CHECK_GT(period.count(), 0) << "a periodic timer needs a period";
  const TimerId id = impl_->next_timer++;
  auto entry = std::make_shared<Impl::TimerEntry>(impl_->io);
  entry->fn = std::move(fn);
  entry->period = period;
  entry->timer.expires_after(period);
  impl_->timers.emplace(id, entry);
  impl_->Arm(id, entry);
  return id;
}

void EventLoop::CancelTimer(TimerId id) {
  auto it = impl_->timers.find(id);
  if (it == impl_->timers.end()) return;
  std::shared_ptr<Impl::TimerEntry> entry = std::move(it->second);
  impl_->timers.erase(it);
  entry->timer.cancel();
}

std::unique_ptr<EventLoop::FdWatch> EventLoop::WatchReadable(int fd, std::function<void()> fn) {
  return std::make_unique<AsioFdWatch>(impl_->io, fd, std::move(fn));
}

void EventLoop::Impl::ArmSignal(int signo, SignalSet& set,
                                const std::shared_ptr<std::function<void()>>& fn) {
  set.async_wait([this, signo, &set, fn](const asio::error_code& ec, int) {
    if (ec) return;
    (*fn)();
    ArmSignal(signo, set, fn);
  });
}

void EventLoop::HandleSignal(int signo, std::function<void()> fn) {
  CHECK(!impl_->signals.contains(signo)) << "signal " << signo << " has a handler already";
  auto set = std::make_unique<Impl::SignalSet>(impl_->io);
  asio::error_code ec;
  set->add(signo, ec);
  CHECK(!ec) << "handling signal " << signo << ": " << ec.message();
  impl_->ArmSignal(signo, *set, std::make_shared<std::function<void()>>(std::move(fn)));
  impl_->signals.emplace(signo, std::move(set));
}

bool EventLoop::InLoopThread() const {
  const std::thread::id runner = impl_->thread.load();
  return runner == std::thread::id() || runner == std::this_thread::get_id();
}

const Clock& EventLoop::clock() const { return impl_->clock; }

}  // namespace heron::net

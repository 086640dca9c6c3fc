// Types of one's own in tuples: as a value, and as the key of a grouping.
//
//   orders --fields(customer)--> totals --global--> report
//
// heron submit local bazel-bin/examples/custom_types/custom_types my-shop --wait=finished -- 3000
#include <charconv>
#include <compare>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

#include "heron/heron.h"

namespace shop {

struct Customer {
  std::string country;
  int32_t number = 0;
  friend auto operator<=>(const Customer&, const Customer&) = default;
};

struct Order {
  int64_t id = 0;
  int64_t cents = 0;
};

}  // namespace shop

// A serializer makes a type fit for tuples. The name travels with the topology, so that a bolt that
// asks for another type than was emitted is told so, and not given rubbish.
template <>
struct heron::Serializer<shop::Customer> {
  static std::string TypeName() { return "shop.Customer"; }

  // Equal customers give equal bytes: that makes the type good as a key.
  static void Write(const shop::Customer& customer, std::string& out) {
    out = customer.country + "/" + std::to_string(customer.number);
  }

  static shop::Customer Read(std::string_view bytes) {
    const size_t slash = bytes.find('/');
    // What is thrown here is shown with the field and its stream.
    if (slash == std::string_view::npos) throw std::invalid_argument("there is no '/'");
    shop::Customer customer{std::string(bytes.substr(0, slash)), 0};
    const std::string_view number = bytes.substr(slash + 1);
    std::from_chars(number.data(), number.data() + number.size(), customer.number);
    return customer;
  }
};

// A type whose bytes may be copied needs little; where machines of other kinds take part, or the
// type may change, use a real format (heron/protobuf.h takes protocol buffers as they are).
template <>
struct heron::Serializer<shop::Order> {
  static std::string TypeName() { return "shop.Order"; }

  static void Write(const shop::Order& order, std::string& out) {
    out.assign(reinterpret_cast<const char*>(&order), sizeof(order));
  }

  static shop::Order Read(std::string_view bytes) {
    shop::Order order;
    if (bytes.size() != sizeof(order)) {
      throw std::invalid_argument(std::to_string(bytes.size()) + " bytes are no order");
    }
    std::memcpy(&order, bytes.data(), sizeof(order));
    return order;
  }
};

namespace {

// Task i of n makes the orders i, i + n, i + 2 n...
class Orders : public heron::Spout {
 public:
  explicit Orders(int64_t count) : count_(count) {}

  void Open(heron::SpoutContext& context) override {
    slice_ = context.Slice();
    n_ = slice_.index;
    out_ = context.Output<shop::Customer, shop::Order>("customer", "order");
  }

  heron::Next NextTuple() override {
    if (n_ >= count_) return heron::Next::Ended();
    const shop::Customer customer{n_ % 2 == 0 ? "is" : "no", static_cast<int32_t>(n_ % 3)};
    out_.Emit(customer, shop::Order{.id = n_, .cents = 100 + n_});
    n_ += slice_.count;
    return heron::Next::More();
  }

 private:
  int64_t count_;
  int64_t n_ = 0;
  heron::Slice slice_;
  heron::Output<shop::Customer, shop::Order> out_;
};

// The grouping brings all orders of a customer to the same task.
class Totals : public heron::Bolt {
 public:
  void Prepare(heron::BoltContext& context) override {
    out_ = context.Output<shop::Customer, int64_t, int64_t>("customer", "orders", "cents");
  }

  void Execute(const heron::Tuple& in) override {
    Total& total = totals_[in.Get<shop::Customer>(0)];
    ++total.orders;
    total.cents += in.Get<shop::Order>(1).cents;
  }

  void Finish() override {
    for (const auto& [customer, total] : totals_) out_.Emit(customer, total.orders, total.cents);
  }

 private:
  struct Total {
    int64_t orders = 0;
    int64_t cents = 0;
  };
  std::map<shop::Customer, Total> totals_;
  heron::Output<shop::Customer, int64_t, int64_t> out_;
};

class Report : public heron::Bolt {
 public:
  void Execute(const heron::Tuple& in) override {
    const auto customer = in.Get<shop::Customer>("customer");
    rows_[customer] += std::to_string(in.Int64("orders")) + " orders, " +
                       std::to_string(in.Int64("cents")) + " cents";
  }

  void Finish() override {
    for (const auto& [customer, row] : rows_) {
      std::cout << "customer " << customer.country << "-" << customer.number << ": " << row
                << std::endl;
    }
  }

 private:
  std::map<shop::Customer, std::string> rows_;
};

}  // namespace

int main(int argc, char** argv) {
  heron::Args args(argc, argv);
  int64_t count = 3000;
  if (!args.empty()) {
    const std::string& text = args[0];
    const char* end = text.data() + text.size();
    if (std::from_chars(text.data(), end, count).ptr != end || count < 0 || args.size() > 1) {
      std::cerr << "custom_types takes one argument after --, how many orders there are\n";
      return 2;
    }
  }

  heron::TopologyBuilder t("custom-types");
  auto orders = t.AddSpout("orders", [=] { return Orders(count); })
                    .Parallelism(2)
                    .Bounded()
                    .Declares<shop::Customer, shop::Order>("customer", "order");
  auto totals = t.AddBolt("totals", [] { return Totals(); })
                    .Parallelism(3)
                    .Declares<shop::Customer, int64_t, int64_t>("customer", "orders", "cents")
                    .Fields(orders, "customer");
  t.AddBolt("report", [] { return Report(); }).Global(totals);
  return heron::Main(argc, argv, t);
}

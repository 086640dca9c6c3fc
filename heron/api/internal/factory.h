// The factories that users give a TopologyBuilder, in one form.
#pragma once

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "heron/api/component.h"
#include "heron/routing/custom_grouping.h"

namespace heron::internal {

using SpoutFactory = std::function<std::unique_ptr<Spout>()>;
using BoltFactory = std::function<std::unique_ptr<Bolt>()>;
using GroupingFactory = std::function<std::unique_ptr<CustomGrouping>()>;

template <typename T>
struct MadeBy {
  using Type = T;
  static constexpr bool kByPointer = false;
};
template <typename T>
struct MadeBy<std::unique_ptr<T>> {
  using Type = T;
  static constexpr bool kByPointer = true;
};

// A factory gives the object by value (it need not be movable) or as a unique_ptr.
template <typename Base, typename Factory>
std::function<std::unique_ptr<Base>()> Wrap(Factory factory) {
  using Made = MadeBy<std::invoke_result_t<Factory&>>;
  static_assert(
      std::is_base_of_v<Base, typename Made::Type>,
      "AddSpout needs a factory of a heron::Spout, AddBolt one of a heron::Bolt, Custom one of a "
      "heron::CustomGrouping: by value or as a std::unique_ptr");
  if constexpr (Made::kByPointer) {
    return [factory = std::move(factory)]() mutable -> std::unique_ptr<Base> { return factory(); };
  } else {
    return [factory = std::move(factory)]() mutable -> std::unique_ptr<Base> {
      return std::unique_ptr<Base>(new typename Made::Type(factory()));
    };
  }
}

}  // namespace heron::internal

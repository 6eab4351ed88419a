// For models in C++: how their functions take the objects that a program passes. Each is looked up before it is read,
// so that a destroyed, foreign or garbled one is an error, as in the NIC's own verbs.
#pragma once

#include <array>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "verbs_soft_boundary.h"
#include "verbs_soft_extension.h"

namespace verbs::soft::model {

constexpr verbs_soft_object type_of(const ibv_context*) { return VERBS_SOFT_CONTEXT; }
constexpr verbs_soft_object type_of(const ibv_pd*) { return VERBS_SOFT_PD; }
constexpr verbs_soft_object type_of(const ibv_mr*) { return VERBS_SOFT_MR; }
constexpr verbs_soft_object type_of(const ibv_cq*) { return VERBS_SOFT_CQ; }
constexpr verbs_soft_object type_of(const ibv_qp*) { return VERBS_SOFT_QP; }
constexpr verbs_soft_object type_of(const ibv_srq*) { return VERBS_SOFT_SRQ; }
constexpr verbs_soft_object type_of(const ibv_ah*) { return VERBS_SOFT_AH; }
constexpr verbs_soft_object type_of(const ibv_dm*) { return VERBS_SOFT_DM; }
constexpr verbs_soft_object type_of(const ibv_comp_channel*) { return VERBS_SOFT_CHANNEL; }

// A pointer to one of these.
template <typename Argument>
concept Object = std::is_pointer_v<Argument> && requires(Argument object) { type_of(object); };

// The objects among the arguments of a call; a null pointer is none.
class Objects {
 public:
  template <typename Argument>
  void add(Argument argument) {
    if constexpr (Object<Argument>) {
      if (argument) uses_.at(count_++) = {type_of(argument), argument};
    }
  }
  // Runs call() while the objects are held. 0, or the error of with_objects(), without a call; EOPNOTSUPP without the
  // software NIC, which no object belongs to then.
  template <typename Call>
  int hold(const verbs_soft_extension_table* soft, Call&& call) const {
    if (count_ == 0) {
      call();
      return 0;
    }
    if (!soft) return EOPNOTSUPP;
    using Callable = std::remove_reference_t<Call>;
    return soft->with_objects(uses_.data(), count_, [](void* data) { (*static_cast<Callable*>(data))(); }, &call);
  }

 private:
  std::array<verbs_soft_use, 8> uses_{};
  std::size_t count_ = 0;
};

// Whether the object is live. For objects inside of structures, whose address the model knows.
template <Object Pointer>
bool is_live(const verbs_soft_extension_table& soft, Pointer object) {
  Objects objects;
  objects.add(object);
  return objects.hold(&soft, [] {}) == 0;
}

// Runs a function of the model for C callers: no exception leaves it, errno has the error of a failing one, and all
// objects among `arguments` are live and held. EOPNOTSUPP for a context that is not live, EINVAL for another object.
// Null pointers are left to the function.
template <typename Call, typename... Arguments>
auto verb(const verbs_soft_extension_table* soft, Call&& call, const std::tuple<Arguments...>& arguments)
    -> decltype(call()) {
  using R = decltype(call());
  if constexpr (!(Object<Arguments> || ...)) {
    return soft::verb(call);
  } else {
    Objects objects;
    std::apply([&](auto... each) { (objects.add(each), ...); }, arguments);
    std::optional<R> result;
    const int error = objects.hold(soft, [&] { result = soft::verb(call); });
    return error == 0 ? *result : failure<R>(error);
  }
}

}  // namespace verbs::soft::model

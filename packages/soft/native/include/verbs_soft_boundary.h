// Where C++ ends: functions that C programs call let no exception out, but the one by which a thread is cancelled. A
// failed allocation is the error ENOMEM. Every exported function of every library is behind one of these.
#pragma once

#include <bits/cxxabi_forced.h>  // without the namespace alias of <cxxabi.h>, abi
#include <sys/types.h>

#include <cerrno>
#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>
#include <type_traits>

#include "verbs_soft_cancel.h"

namespace verbs::soft {

// Returns call(), or failed(error) if it throws.
template <typename Call, typename Failed>
auto contain(Call&& call, Failed&& failed) -> decltype(call()) {
  try {
    return call();
  } catch (__cxxabiv1::__forced_unwind&) {
    throw;  // the thread is cancelled or exits: its stack must be unwound to the end
  } catch (const std::bad_alloc&) {
    return failed(ENOMEM);
  } catch (const std::length_error&) {
    return failed(ENOMEM);
  } catch (const std::system_error& error) {
    return failed(error.code().value() > 0 ? error.code().value() : EIO);
  } catch (const std::exception&) {
    return failed(EIO);
  }
}

// The same for a whole call of a program. It is no cancellation point, but where it waits (Cancellable).
template <typename Call, typename Failed>
auto contain_call(Call&& call, Failed&& failed) -> decltype(call()) {
  const Uncancelled whole;
  return contain(call, failed);
}

// Runs wait(), and then finish(), which is the rest of the work: also if the thread is cancelled while it waits.
template <typename Wait, typename Finish>
void wait_and_finish(Wait&& wait, Finish&& finish) {
  try {
    wait();
  } catch (__cxxabiv1::__forced_unwind&) {
    contain(finish, [](int) {});
    throw;
  }
  finish();
}

// How a verb that returns an R reports `error`: NULL and errno; the errno value, also in errno; the negative value; or
// false.
template <typename R>
R failure(int error) {
  errno = error;
  if constexpr (std::is_pointer_v<R>) {
    return nullptr;
  } else if constexpr (std::is_same_v<R, ssize_t>) {
    return -error;
  } else if constexpr (std::is_same_v<R, int>) {
    return error;
  } else {
    return R();
  }
}

// Runs a verb of the data path. A failing one leaves its error in errno as well as in its result, as a failed ioctl
// does. Its few system calls are Uncancelled where they are, which costs nothing beside them.
template <typename Call>
auto data_path_verb(Call&& call) -> decltype(call()) {
  using R = decltype(call());
  if constexpr (std::is_same_v<R, int>) {
    const int error = contain(call, failure<int>);
    if (error > 0) errno = error;
    return error;
  } else {
    return contain(call, failure<R>);
  }
}

// Runs any other verb.
template <typename Call>
auto verb(Call&& call) -> decltype(call()) {
  const Uncancelled whole;
  return data_path_verb(call);
}

// A function of a table as a verb, for C callers.
template <auto Function>
struct Guarded;
template <typename R, typename... Parameters, R (*Function)(Parameters...)>
struct Guarded<Function> {
  static R call(Parameters... arguments) {
    return verb([&]() -> R { return Function(arguments...); });
  }
};
template <auto Function>
inline constexpr auto kGuarded = &Guarded<Function>::call;

}  // namespace verbs::soft

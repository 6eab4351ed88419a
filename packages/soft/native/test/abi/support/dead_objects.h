// Pointers that are no live object of the type that a function takes. Also for the tests of the models.
#pragma once

#include <doctest/doctest.h>
#include <infiniband/verbs.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace verbs::soft::test {

// A page that cannot be read: whoever follows a pointer to it crashes.
inline void* unreadable_page() {
  static void* page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return page;
}

// The error of a call that returns it, or a null pointer and errno; 0 if it succeeded.
template <typename Call>
int error_of(Call&& call) {
  errno = 0;
  if constexpr (std::is_pointer_v<decltype(call())>) {
    return call() ? 0 : errno;
  } else {
    return call();
  }
}

// The call fails with `expected`, and nothing crashes, for addresses of an unreadable page and of other memory, for
// `stale`, an object that was destroyed, and for `other`, a live object of another type. Each of these may be nullptr.
template <typename Object, typename Call>
void check_addresses(int expected, const Object* stale, const void* other, const Call& call) {
  static const std::uint64_t zeros[64] = {};
  auto* const page = static_cast<char*>(unreadable_page());
  const void* const addresses[] = {page,  page + 8, page + 1, reinterpret_cast<void*>(std::uintptr_t{1}),
                                   zeros, stale,    other};
  int index = 0;
  for (const void* address : addresses) {
    CAPTURE(index++);
    if (!address) continue;
    CHECK(error_of([&] { return call(static_cast<Object*>(const_cast<void*>(address))); }) == expected);
  }
}

// As check_addresses(), and EINVAL for `live` while its context or its handle is another.
template <typename Object, typename Call>
void check_object(Object* live, const Object* stale, const void* other, const Call& call) {
  check_addresses<Object>(EINVAL, stale, other, call);
  const auto again = [&] { return error_of([&] { return call(live); }); };
  ibv_context* context = std::exchange(live->context, static_cast<ibv_context*>(unreadable_page()));
  CHECK(again() == EINVAL);
  live->context = context;
  if constexpr (requires { live->handle; }) {
    for (const std::uint32_t wrong : {live->handle + 1, live->handle ^ 0x80000000u}) {
      const auto handle = std::exchange(live->handle, wrong);
      CHECK(again() == EINVAL);
      live->handle = handle;
    }
  }
}

}  // namespace verbs::soft::test

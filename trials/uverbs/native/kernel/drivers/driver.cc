#include "kernel/drivers/driver.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "kernel/drivers/hbl.h"
#include "kernel/drivers/mlx5.h"
#include "kernel/drivers/rxe.h"

namespace verbs::uverbs {

int Driver::refuses(const Context& /*context*/, const Object& /*object*/, Input /*request*/) { return 0; }

int Driver::modifies(Context& /*context*/, Object& /*qp*/, const QpChange& /*change*/, Input /*request*/,
                     Output /*response*/) {
  return 0;
}

void Driver::resized(Context& /*context*/, Object& /*object*/, Output /*response*/) {}

void Driver::complete_invalidation(Object& /*cq*/, const Object& /*qp*/, std::uint32_t /*rkey*/) {}

Addresses Driver::addresses(Type /*type*/) const { return {}; }

void* Driver::map(Context& /*context*/, std::size_t length, off_t /*offset*/) {
  return mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

Driver& driver() {
  static Mlx5 mlx5;
  static Rxe rxe;
  static Hbl hbl;
  static Driver& chosen = [&]() -> Driver& {
    const char* name = std::getenv("UVERBS_DRIVER");
    if (name != nullptr && std::strcmp(name, "rxe") == 0) return rxe;
    if (name != nullptr && std::strcmp(name, "hbl") == 0) return hbl;
    return mlx5;
  }();
  return chosen;
}

}  // namespace verbs::uverbs

// The driver's part of rxe: queues that the kernel makes and the program maps.
#pragma once

#include "kernel/drivers/driver.h"

namespace verbs::uverbs {

class Rxe final : public Driver {
 public:
  std::uint32_t id() const override;
  int get_context(Context& context, Input request, Output response) override;
  void created(Context& context, Object& object, std::uint32_t handle, Input request, Output response) override;
  void query_device(Output response) override;
  void resized(Context& context, Object& object, Output response) override;
  Addresses addresses(Type type) const override;
  void* map(Context& context, std::size_t length, off_t offset) override;
};

}  // namespace verbs::uverbs

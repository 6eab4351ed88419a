// The driver's part of mlx5: queues in the program's memory, doorbells on mapped pages.
#pragma once

#include "kernel/drivers/driver.h"

namespace verbs::uverbs {

class Mlx5 final : public Driver {
 public:
  std::uint32_t id() const override;
  int get_context(Context& context, Input request, Output response) override;
  void created(Context& context, Object& object, std::uint32_t handle, Input request, Output response) override;
  void query_device(Output response) override;
  void complete_invalidation(Object& cq, const Object& qp, std::uint32_t rkey) override;
  Addresses addresses(Type type) const override;
};

}  // namespace verbs::uverbs

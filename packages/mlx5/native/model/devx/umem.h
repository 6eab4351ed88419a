// Memory of a program that queues of devx commands are in: mlx5dv_devx_umem_reg.
#pragma once

#include <cstdint>
#include <span>

#include "model/device/device.h"
#include "model/device/objects.h"

namespace verbs::mlx5::model {

class Umem : public Counted {
 public:
  Umem(Context& its_owner, std::uint64_t address, std::uint64_t size, bool writable);

  // Whether the device may access these bytes.
  bool has(std::uint64_t offset, std::uint64_t size) const { return offset <= size_ && size <= size_ - offset; }
  bool is_writable() const { return writable_; }
  // Copy bytes that has() knows. False: the program has unmapped them.
  bool read(std::uint64_t offset, std::span<std::uint8_t> bytes) const;
  bool write(std::uint64_t offset, std::span<const std::uint8_t> bytes) const;

  Context* const owner;
  mlx5dv_devx_umem handle{};

 private:
  std::uint64_t address_, size_;
  bool writable_;
};

// By the number that commands name it with; nullptr if the context has none.
Umem* find_umem(const Context& context, std::uint32_t id);
void forget_umems(Context& context);

}  // namespace verbs::mlx5::model

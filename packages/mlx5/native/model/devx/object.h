// An object of devx commands, as the firmware's command interface knows it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/device/device.h"
#include "model/device/objects.h"
#include "model/device/queues.h"
#include "steering/actions/drop_reason.h"

struct mlx5dv_export_sizes;  // newer headers define it

namespace verbs::mlx5::model {

// The firmware's status: the first byte of every output.
enum class DevxStatus : std::uint8_t {
  kOk = 0,
  kBadOp = 2,
  kBadParam = 3,
  kBadResource = 5,
  kResourceBusy = 6,
  kLimit = 8,
  kBadInputLength = 0x50,
  kBadOutputLength = 0x51,
};

// Bytes of an input's header (opcode, user id, reserved, modifier) and of an output's (status, syndrome).
inline constexpr std::size_t kDevxHeader = 16;

class DevxObject : public Counted {
 public:
  DevxObject(Context& its_owner, std::uint32_t its_id) : owner(&its_owner), id(its_id) {}
  virtual ~DevxObject();
  // The opcode of the command that queries objects of this kind.
  virtual std::uint16_t query_opcode() const = 0;
  // Whether a query's input names this object.
  virtual bool is_named_in(std::span<const std::uint8_t> in) const = 0;
  virtual DevxStatus query(std::span<const std::uint8_t> in, std::span<std::uint8_t> out) = 0;
  // Runs a command that changes the object. Most have none.
  virtual DevxStatus modify(std::uint16_t /*opcode*/, std::span<const std::uint8_t> /*in*/) {
    return DevxStatus::kBadOp;
  }

  Context* const owner;
  const std::uint32_t id;
};

// The object behind a handle of the program, and the context that the handle is of. Null if it is none, or if the
// object was destroyed by another handle.
DevxObject* find_devx_object(const mlx5dv_devx_obj* handle, Context** context = nullptr);
// By its kind and number, as commands name it; of the context or one that shares its objects.
DevxObject* find_devx_object(const Context& context, std::uint16_t query_opcode, std::uint32_t id);
// Of all contexts of the command file.
void forget_devx_objects(Context& context);

}  // namespace verbs::mlx5::model

// What programs have of an object: a handle of the call that created it, and one of every import. mlx5dv.h declares the
// type without a definition.
struct mlx5dv_devx_obj {
  verbs::mlx5::model::Context* context;
  verbs::mlx5::model::DevxObject* object;  // null: destroyed
};

// TIRs: CREATE_TIR and QUERY_TIR, of the direct type with an inline receive queue.

namespace verbs::mlx5::model {

// A receive destination: the receive queue of a RAW_PACKET queue pair, or a receive work queue.
class DevxTir final : public DevxObject {
 public:
  static constexpr std::size_t kContextSize = 240;

  static DevxStatus create(Context& context, std::span<const std::uint8_t> in, std::span<std::uint8_t> out,
                           std::unique_ptr<DevxObject>* object);
  DevxTir(Context& context, std::uint32_t id, RawQp& qp);

  RawQp& qp() const { return qp_; }

  std::uint16_t query_opcode() const override;
  bool is_named_in(std::span<const std::uint8_t> in) const override;
  DevxStatus query(std::span<const std::uint8_t> in, std::span<std::uint8_t> out) override;

 private:
  RawQp& qp_;
  Use used_qp_;
  std::array<std::uint8_t, kContextSize> attributes_{};
};

}  // namespace verbs::mlx5::model

// Flow counters: ALLOC_FLOW_COUNTER and QUERY_FLOW_COUNTER.

namespace verbs::mlx5::model {

// One flow counter, or a bulk of them with consecutive numbers.
class DevxCounters final : public DevxObject {
 public:
  static DevxStatus create(Context& context, std::span<const std::uint8_t> in, std::span<std::uint8_t> out,
                           std::unique_ptr<DevxObject>* object);
  DevxCounters(Context& context, std::uint32_t id, std::uint32_t count);
  ~DevxCounters() override;

  std::uint32_t count() const { return static_cast<std::uint32_t>(counters_->size()); }
  std::shared_ptr<steering::Counter> at(std::uint32_t offset) const { return {counters_, &(*counters_)[offset]}; }

  std::uint16_t query_opcode() const override;
  bool is_named_in(std::span<const std::uint8_t> in) const override;
  DevxStatus query(std::span<const std::uint8_t> in, std::span<std::uint8_t> out) override;

 private:
  std::shared_ptr<std::vector<steering::Counter>> counters_;
};

}  // namespace verbs::mlx5::model

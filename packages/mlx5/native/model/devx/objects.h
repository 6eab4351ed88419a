// The objects of devx commands: flow counters and TIRs.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/device/context.h"
#include "model/device/objects.h"
#include "model/device/raw_qp.h"
#include "steering/actions/counter.h"

namespace verbs::mlx5 {

// The firmware's answer, first byte of every output.
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

// Of every command: opcode, user id, reserved, modifier; and of every answer: status, syndrome.
inline constexpr std::size_t kDevxHeader = 16;

}  // namespace verbs::mlx5

// The type that mlx5dv.h leaves open.
struct mlx5dv_devx_obj : verbs::mlx5::Counted {
  mlx5dv_devx_obj(verbs::mlx5::Context& its_owner, std::uint32_t its_id) : owner(&its_owner), id(its_id) {}
  virtual ~mlx5dv_devx_obj() = default;
  // The command that asks about objects of this kind; the id stands in its input where id_of() looks.
  virtual std::uint16_t query_opcode() const = 0;
  // Whether the input speaks of this object.
  virtual bool is_meant(std::span<const std::uint8_t> in) const = 0;
  virtual verbs::mlx5::DevxStatus query(std::span<const std::uint8_t> in, std::span<std::uint8_t> out) = 0;

  verbs::mlx5::Context* const owner;
  const std::uint32_t id;
};

namespace verbs::mlx5 {

using DevxObject = mlx5dv_devx_obj;

DevxObject* find_devx_object(const mlx5dv_devx_obj* face);
void forget_devx_objects(Context& context);

// One flow counter, or a bulk of them with numbers in a row.
class DevxCounters final : public mlx5dv_devx_obj {
 public:
  static DevxStatus create(Context& context, std::span<const std::uint8_t> in, std::span<std::uint8_t> out,
                           std::unique_ptr<DevxObject>* object);
  DevxCounters(Context& context, std::uint32_t id, std::uint32_t count);
  ~DevxCounters() override;

  std::uint32_t count() const { return static_cast<std::uint32_t>(counters_->size()); }
  std::shared_ptr<steering::Counter> at(std::uint32_t offset) const { return {counters_, &(*counters_)[offset]}; }

  std::uint16_t query_opcode() const override;
  bool is_meant(std::span<const std::uint8_t> in) const override;
  DevxStatus query(std::span<const std::uint8_t> in, std::span<std::uint8_t> out) override;

 private:
  std::shared_ptr<std::vector<steering::Counter>> counters_;
};

// A receive destination: the receive queue of a RAW_PACKET queue pair.
class DevxTir final : public mlx5dv_devx_obj {
 public:
  static constexpr std::size_t kContextSize = 240;

  static DevxStatus create(Context& context, std::span<const std::uint8_t> in, std::span<std::uint8_t> out,
                           std::unique_ptr<DevxObject>* object);
  DevxTir(Context& context, std::uint32_t id, RawQp& qp);

  RawQp& qp() const { return qp_; }

  std::uint16_t query_opcode() const override;
  bool is_meant(std::span<const std::uint8_t> in) const override;
  DevxStatus query(std::span<const std::uint8_t> in, std::span<std::uint8_t> out) override;

 private:
  RawQp& qp_;
  Use used_qp_;
  std::array<std::uint8_t, kContextSize> attributes_{};
};

// The capability block of QUERY_HCA_CAP.
DevxStatus query_capabilities(Context& context, std::span<const std::uint8_t> in, std::span<std::uint8_t> out);

}  // namespace verbs::mlx5

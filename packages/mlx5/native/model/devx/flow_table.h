// Flow tables of devx commands: CREATE_FLOW_TABLE, CREATE_FLOW_GROUP and SET_FLOW_TABLE_ENTRY. A flow of
// mlx5dv_create_flow leads frames there.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "model/devx/object.h"

namespace verbs::mlx5::model {

class DevxTable final : public DevxObject {
 public:
  static DevxStatus create(Context& context, std::span<const std::uint8_t> in, std::span<std::uint8_t> out,
                           std::unique_ptr<DevxObject>* object);
  DevxTable(Context& context, std::uint32_t id, Direction direction, std::uint8_t level);
  ~DevxTable() override;

  const std::shared_ptr<steering::FlowTable>& table() const { return table_; }

  std::uint16_t query_opcode() const override;
  bool is_named_in(std::span<const std::uint8_t> in) const override;
  DevxStatus query(std::span<const std::uint8_t> in, std::span<std::uint8_t> out) override;

  const Direction direction;

 private:
  const std::shared_ptr<steering::FlowTable> table_;
};

// A mask of a table. Entries name the group that they are in.
class DevxGroup final : public DevxObject {
 public:
  static DevxStatus create(Context& context, std::span<const std::uint8_t> in, std::span<std::uint8_t> out,
                           std::unique_ptr<DevxObject>* object);
  DevxGroup(Context& context, std::uint32_t id, DevxTable& table,
            std::span<const std::uint8_t, steering::kMatchSize> mask);
  ~DevxGroup() override;

  DevxTable& table() const { return table_; }
  steering::Matcher& matcher() const { return *matcher_; }

  std::uint16_t query_opcode() const override;
  bool is_named_in(std::span<const std::uint8_t> in) const override;
  DevxStatus query(std::span<const std::uint8_t> in, std::span<std::uint8_t> out) override;

 private:
  DevxTable& table_;
  Use used_table_;
  steering::Matcher* matcher_;
};

class DevxEntry final : public DevxObject {
 public:
  static DevxStatus create(Context& context, std::span<const std::uint8_t> in, std::span<std::uint8_t> out,
                           std::unique_ptr<DevxObject>* object);
  DevxEntry(Context& context, std::uint32_t id, DevxGroup& group,
            std::span<const std::uint8_t, steering::kMatchSize> value, bool drops);
  ~DevxEntry() override;

  std::uint16_t query_opcode() const override;
  bool is_named_in(std::span<const std::uint8_t> in) const override;
  DevxStatus query(std::span<const std::uint8_t> in, std::span<std::uint8_t> out) override;

 private:
  DevxGroup& group_;
  Use used_group_;
  steering::Rule* rule_;
};

}  // namespace verbs::mlx5::model

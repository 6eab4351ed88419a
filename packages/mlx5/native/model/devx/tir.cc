#include "model/devx/tir.h"

#include <algorithm>

#include "steering/headers/bytes.h"

namespace verbs::mlx5::model {

namespace {

using steering::load24;
using steering::store24;

constexpr std::uint16_t kQueryTir = 0x903;
constexpr std::size_t kContextAt = 32;  // of both commands
constexpr std::size_t kDispatchAt = 4, kInlineQueueAt = 29;

}  // namespace

DevxStatus DevxTir::create(Context& context, std::span<const std::uint8_t> in, std::span<std::uint8_t> out,
                           std::unique_ptr<DevxObject>* object) {
  if (in.size() < kContextAt + kContextSize) return DevxStatus::kBadInputLength;
  const std::uint8_t* attributes = in.data() + kContextAt;
  // Spreading over several queues (RSS) is not modelled.
  if (attributes[kDispatchAt] >> 4 != 0) return DevxStatus::kBadParam;
  // A queue pair's receive queue has the number of the queue pair.
  RawQp* qp = find_qp(context, load24(attributes + kInlineQueueAt));
  if (!qp) return DevxStatus::kBadResource;
  auto tir = std::make_unique<DevxTir>(context, context.device->next_id++ & 0xffffff, *qp);
  std::copy_n(attributes, kContextSize, tir->attributes_.begin());
  store24(out.data() + 9, tir->id);
  *object = std::move(tir);
  return DevxStatus::kOk;
}

DevxTir::DevxTir(Context& context, std::uint32_t its_id, RawQp& qp)
    : DevxObject(context, its_id), qp_(qp), used_qp_(qp) {}

std::uint16_t DevxTir::query_opcode() const { return kQueryTir; }

bool DevxTir::is_named_in(std::span<const std::uint8_t> in) const { return load24(in.data() + 9) == id; }

DevxStatus DevxTir::query(std::span<const std::uint8_t>, std::span<std::uint8_t> out) {
  if (out.size() < kContextAt + kContextSize) return DevxStatus::kBadOutputLength;
  std::copy(attributes_.begin(), attributes_.end(), out.begin() + kContextAt);
  return DevxStatus::kOk;
}

}  // namespace verbs::mlx5::model

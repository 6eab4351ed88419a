#include "steering/actions/modify_header.h"

#include <algorithm>

#include "steering/headers/bytes.h"

namespace verbs::mlx5::steering {

namespace {

constexpr std::size_t kEntrySize = 8;

// Whether a write changes the result of the parser.
bool decides_headers(const ModifyField& field) {
  return field.place == ModifyField::Place::kEthertype || field.place == ModifyField::Place::kUdp;
}

}  // namespace

std::shared_ptr<const ModifyHeader> ModifyHeader::create(std::span<const std::uint8_t> entries, ModifyProblem* problem,
                                                         std::size_t* entry) {
  *problem = ModifyProblem::kSize;
  if (entry != nullptr) *entry = 0;
  if (entries.empty() || entries.size() % kEntrySize != 0) return nullptr;
  auto list = std::make_shared<ModifyHeader>();
  for (std::size_t at = 0; at < entries.size(); at += kEntrySize) {
    if (entry != nullptr) *entry = at / kEntrySize;
    *problem = list->append(load32(entries.data() + at), load32(entries.data() + at + 4));
    if (*problem != ModifyProblem::kNone) return nullptr;
  }
  return list;
}

ModifyProblem ModifyHeader::append(std::uint32_t first, std::uint32_t second) {
  Operation operation{};
  operation.type = static_cast<Type>(first >> 28);
  operation.offset = first >> 8 & 0x1f;
  operation.length = (first & 0x1f) == 0 ? 32 : first & 0x1f;
  operation.field = find_modify_field(first >> 16 & 0xfff);
  operation.value = second;
  switch (operation.type) {
    case Type::kSet:
      break;
    case Type::kAdd:  // to the whole field; offset and length are ignored
      operation.offset = 0;
      operation.length = operation.field != nullptr ? operation.field->width : 0;
      break;
    case Type::kCopy:  // the first word names the source
      operation.source = operation.field;
      operation.source_offset = operation.offset;
      operation.field = find_modify_field(second >> 16 & 0xfff);
      operation.offset = second >> 8 & 0x1f;
      if (operation.source == nullptr) return ModifyProblem::kField;
      if (operation.source_offset + operation.length > operation.source->width) return ModifyProblem::kBits;
      break;
    default:
      return ModifyProblem::kType;
  }
  if (operation.field == nullptr) return ModifyProblem::kField;
  if (operation.offset + operation.length > operation.field->width) return ModifyProblem::kBits;
  operations_.push_back(operation);
  moves_headers_ = moves_headers_ || decides_headers(*operation.field);
  return ModifyProblem::kNone;
}

void ModifyHeader::apply(Packet& packet) const {
  for (const Operation& operation : operations_) {
    std::uint32_t value = operation.value;
    if (operation.type != Type::kSet) {
      const ModifyField& source = operation.type == Type::kAdd ? *operation.field : *operation.source;
      const auto current = read_field(packet, source);
      if (!current) continue;
      value = operation.type == Type::kAdd ? *current + operation.value : *current >> operation.source_offset;
    }
    const std::uint32_t mask = ones(operation.length) << operation.offset;
    write_field(packet, *operation.field, value << operation.offset, mask);
  }
  if (moves_headers_) packet.change();
}

}  // namespace verbs::mlx5::steering

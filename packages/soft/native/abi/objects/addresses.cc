#include "abi/objects/addresses.h"

#include <cstddef>
#include <new>

#include "abi/objects/objects.h"

namespace verbs::soft::abi {

namespace {

template <typename Object>
Fields with_handle(const void* ibv) {
  const auto* object = static_cast<const Object*>(ibv);
  return {object->context, object->handle};
}

template <typename Object>
Fields without_handle(const void* ibv) {
  return {static_cast<const Object*>(ibv)->context, 0};
}

}  // namespace

// Never destroyed, and there without memory: a context that cannot be opened is taken out of it.
Addresses& addresses() {
  alignas(Addresses) static std::byte place[sizeof(Addresses)];
  static auto* all = new (place) Addresses;
  return *all;
}

Fields fields_of(Kind kind, const void* ibv) {
  switch (kind) {
    case Kind::kPd:
      return with_handle<ibv_pd>(ibv);
    case Kind::kMr:
      return with_handle<ibv_mr>(ibv);
    case Kind::kMw:
      return with_handle<ibv_mw>(ibv);
    case Kind::kDm:
      return with_handle<ibv_dm>(ibv);
    case Kind::kCq:
      return with_handle<ibv_cq>(ibv);
    case Kind::kSrq:
      return with_handle<ibv_srq>(ibv);
    case Kind::kQp:
      return with_handle<ibv_qp>(ibv);
    case Kind::kAh:
      return with_handle<ibv_ah>(ibv);
    case Kind::kTd:
      return without_handle<ibv_td>(ibv);
    case Kind::kChannel:
      return without_handle<ibv_comp_channel>(ibv);
    case Kind::kXrcd:
      return without_handle<ibv_xrcd>(ibv);
    case Kind::kDmah:
      return without_handle<later::Dmah>(ibv);
    case Kind::kBuf:
      return with_handle<Buf>(ibv);
    case Kind::kCompCntr:
      return with_handle<later::CompCntr>(ibv);
    case Kind::kFlow:
      return with_handle<ibv_flow>(ibv);
    case Kind::kWq:
      return with_handle<ibv_wq>(ibv);
    case Kind::kIndTable: {
      const auto* table = static_cast<const ibv_rwq_ind_table*>(ibv);
      return {table->context, static_cast<std::uint32_t>(table->ind_tbl_handle)};
    }
    case Kind::kContext:
      break;
  }
  return {};
}

}  // namespace verbs::soft::abi

#include "binding/posting/address_handle.h"

#include <cerrno>
#include <cstring>

#include "binding/device/gid.h"
#include "binding/lifetime/handle.h"
#include "provider/exchange.h"

namespace verbs::core {

AddressHandle::AddressHandle(std::shared_ptr<ProtectionDomain> pd, ibv_ah* ah)
    : Object(kKind, {pd}), pd_(std::move(pd)), ah_(ah), id_(context().environment().address_handles.insert(this)) {}

AddressHandle::~AddressHandle() {
  context().environment().address_handles.erase(id_);
  dispose();
}

int AddressHandle::destroy() { return context().functions().destroy_ah(ah_); }

int AddressHandle::destroyed(int) {
  ah_ = nullptr;
  context().environment().address_handles.erase(id_);
  return 0;
}

namespace {

Napi::Value created(Napi::Env env, const std::shared_ptr<ProtectionDomain>& pd, ibv_ah* ah) {
  if (ah == nullptr) return failure(env, creation_error());
  const auto handle = std::make_shared<AddressHandle>(pd, ah);
  Napi::Object result = Napi::Object::New(env);
  result.Set("id", handle->id());
  result.Set("handle", wrap_object(env, handle));
  return result;
}

// createAh(pd, attr): { handle, id } | -errno
Napi::Value create_ah(const Napi::CallbackInfo& info) {
  const auto pd = take<ProtectionDomain>(info, 0);
  ibv_ah_attr attr = read_ah_attr(Fields(info[1]));
  errno = 0;
  return created(info.Env(), pd, pd->context().functions().create_ah(pd->pd(), &attr));
}

// The fields of a completion that the C calls read, and the 40 bytes of routing header in front of a datagram. They are
// copied: the C calls follow the pointer whenever the completion says so.
struct Received {
  ibv_wc wc{};
  ibv_grh grh{};
};

// { slid, sl, dlidPathBits, srcQp, wcFlags, pkeyIndex }, 40 bytes or undefined
Received read_received(const Napi::Value& completion, const Napi::Value& header) {
  const Fields given(completion);
  Received received;
  received.wc.slid = given.number<std::uint16_t>("slid");
  received.wc.sl = given.number<std::uint8_t>("sl");
  received.wc.dlid_path_bits = given.number<std::uint8_t>("dlidPathBits");
  received.wc.src_qp = given.u32("srcQp");
  received.wc.pkey_index = given.number<std::uint16_t>("pkeyIndex");
  received.wc.wc_flags = given.u32("wcFlags");
  if (header.IsUndefined()) return received;
  const Bytes bytes = bytes_of(header);
  if (bytes.size < sizeof(ibv_grh)) throw wrong_type(completion.Env(), "a routing header has 40 bytes");
  std::memcpy(&received.grh, bytes.data, sizeof(ibv_grh));
  return received;
}

// createAhFromWc(pd, completion, grh: Uint8Array | undefined, portNum): { handle, id } | -errno
Napi::Value create_ah_from_wc(const Napi::CallbackInfo& info) {
  const auto pd = take<ProtectionDomain>(info, 0);
  Received received = read_received(info[1], info[2]);
  const auto port = number_of<std::uint8_t>(info[3]);
  errno = 0;
  return created(info.Env(), pd,
                 pd->context().functions().create_ah_from_wc(pd->pd(), &received.wc, &received.grh, port));
}

// initAhFromWc(context, portNum, completion, grh: Uint8Array | undefined): attr | -errno
Napi::Value init_ah_from_wc(const Napi::CallbackInfo& info) {
  const auto context = take<Context>(info, 0);
  const auto port = number_of<std::uint8_t>(info[1]);
  Received received = read_received(info[2], info[3]);
  Filled<ibv_ah_attr> attr;
  errno = 0;
  if (context->functions().init_ah_from_wc(context->ctx(), port, &received.wc, &received.grh, attr.get()) != 0) {
    return failure(info.Env(), creation_error());
  }
  if (const int error = attr.after(0); error != 0) return failure(info.Env(), error);
  return write_ah_attr(info.Env(), *attr);
}

// resolveEthL2FromGid(context, attr): { mac: Uint8Array, vlanId } | -errno
Napi::Value resolve_eth_l2_from_gid(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto context = take<Context>(info, 0);
  const auto resolve = context->functions().resolve_eth_l2_from_gid;
  if (resolve == nullptr) return failure(env, EOPNOTSUPP);
  ibv_ah_attr attr = read_ah_attr(Fields(info[1]));
  std::uint16_t vlan = 0;
  Napi::Uint8Array mac = Napi::Uint8Array::New(env, 6);
  errno = 0;
  if (const int error = resolve(context->ctx(), &attr, mac.Data(), &vlan); error != 0) {
    return failure(env, error > 0 ? error : errno == 0 ? -error : errno);
  }
  Napi::Object result = Napi::Object::New(env);
  result.Set("mac", mac);
  result.Set("vlanId", static_cast<int>(vlan));
  return result;
}

}  // namespace

void AddressHandle::init(Napi::Object exports) {
  export_function<create_ah>(exports, "createAh");
  export_function<create_ah_from_wc>(exports, "createAhFromWc");
  export_function<init_ah_from_wc>(exports, "initAhFromWc");
  export_function<resolve_eth_l2_from_gid>(exports, "resolveEthL2FromGid");
}

}  // namespace verbs::core

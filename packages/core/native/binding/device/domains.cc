#include "binding/device/domains.h"

#include <fcntl.h>

#include <cerrno>

#include "binding/lifetime/handle.h"

namespace verbs::core {
namespace {

// allocTd(context): handle | -errno
Napi::Value alloc_td(const Napi::CallbackInfo& info) {
  const auto context = take<Context>(info, 0);
  ibv_td_init_attr attr{};
  errno = 0;
  ibv_td* td = ibv_alloc_td(context->ctx(), &attr);
  if (td == nullptr) return failure(info.Env(), creation_error());
  return wrap_object(info.Env(),
                     std::make_shared<ThreadDomain>(std::vector<std::shared_ptr<Object>>{context}, td,
                                                    [](const Context&, ibv_td* made) { return ibv_dealloc_td(made); }));
}

// openXrcd(context, fd, exclusive): handle | -errno. With fd -1 the domain is not shared.
Napi::Value open_xrcd(const Napi::CallbackInfo& info) {
  const auto context = take<Context>(info, 0);
  ibv_xrcd_init_attr attr{};
  attr.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
  attr.fd = number_of<int>(info[1]);
  attr.oflags = O_CREAT | (flag_of(info[2]) ? O_EXCL : 0);
  errno = 0;
  ibv_xrcd* xrcd = ibv_open_xrcd(context->ctx(), &attr);
  if (xrcd == nullptr) return failure(info.Env(), creation_error());
  return wrap_object(info.Env(),
                     std::make_shared<XrcDomain>(std::vector<std::shared_ptr<Object>>{context}, xrcd,
                                                 [](const Context&, ibv_xrcd* made) { return ibv_close_xrcd(made); }));
}

}  // namespace

void init_domains(Napi::Object exports) {
  export_function<alloc_td>(exports, "allocTd");
  export_function<open_xrcd>(exports, "openXrcd");
}

}  // namespace verbs::core

#include "binding/memory/dma_handle.h"

#include <cerrno>

#include "binding/lifetime/handle.h"

namespace verbs::core {
namespace {

// ibv_dmah_init_attr.
struct InitAttr {
  std::uint32_t comp_mask = 0;  // which of the fields are there, one bit each in their order
  std::uint32_t cpu_id = 0;
  std::uint8_t ph = 0;
  std::uint8_t tph_mem_type = 0;
};

// allocDmah(context, cpuId | undefined, ph | undefined, tphMemType | undefined): handle | -errno
Napi::Value alloc_dmah(const Napi::CallbackInfo& info) {
  const auto context = unwrap<Context>(info, 0);
  const Functions& functions = context->functions();
  if (functions.alloc_dmah == nullptr || functions.dealloc_dmah == nullptr) return failure(info.Env(), EOPNOTSUPP);
  InitAttr attr;
  const auto read = [&](std::size_t index, auto& field) {
    if (info[index].IsUndefined()) return;
    field = static_cast<std::remove_reference_t<decltype(field)>>(info[index].As<Napi::Number>().Uint32Value());
    attr.comp_mask |= 1u << (index - 1);
  };
  read(1, attr.cpu_id);
  read(2, attr.ph);
  read(3, attr.tph_mem_type);
  errno = 0;
  ibv_dmah* handle = functions.alloc_dmah(context->ctx(), &attr);
  if (handle == nullptr) return failure(info.Env(), creation_error());
  return wrap_object(info.Env(), std::make_shared<DmaHandle>(std::vector<std::shared_ptr<Object>>{context}, handle,
                                                             [](const Context& its, ibv_dmah* made) {
                                                               return its.functions().dealloc_dmah(made);
                                                             }));
}

}  // namespace

void init_dma_handle(Napi::Object exports) { export_function<alloc_dmah>(exports, "allocDmah"); }

}  // namespace verbs::core

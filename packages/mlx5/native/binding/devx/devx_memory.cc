// Memory, doorbell pages, event queues and interrupt vectors for DEVX.
#include "binding/devx/export_bytes.h"
#include "binding/objects.h"

namespace verbs::mlx5::binding {
namespace {

// { handle, id } of a new object that has its number in a field.
template <typename T>
Napi::Value with_id(Napi::Env env, const Subject<ibv_context>& context, T* object, std::uint32_t T::* id,
                    typename Object<T>::Destroy destroy) {
  if (!object) return failure(env, errno);
  const std::uint32_t number_of_it = object->*id;
  return described(env, context.attach(env, object, destroy), {{"id", number(env, number_of_it)}});
}

int dereg_umem(const Library& library, mlx5dv_devx_umem* umem) { return status(library.mlx5dv_devx_umem_dereg, umem); }

// devxUmemReg(library, context, mr, bytes, offset, size, access, pgszBitmap | undefined): { handle, id } | -errno.
// Registers memory that a memory region keeps, whose view is `bytes`; with the last argument it is
// mlx5dv_devx_umem_reg_ex.
Napi::Value umem_reg(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_context> context(info);
  auto* mr = context.held.verbs<ibv_mr>(info, 2);
  const std::uint64_t offset = u64_of(info[4]), size = u64_of(info[5]);
  // A region without an address is of device memory, or imported: there is nothing to pin. The address of one of a
  // dma-buf is the offset there, so that only that of the region's own view is sure to be an address.
  if (mr->context != context.get() || !mr->addr || mr->addr != bytes_of(info[3]).data) return failure(env, EINVAL);
  if (offset > mr->length || size > mr->length - offset) return failure(env, ERANGE);
  void* address = static_cast<char*>(mr->addr) + offset;
  const std::uint32_t access = number_of<std::uint32_t>(info[6]);
  if (info[7].IsUndefined()) {
    mlx5dv_devx_umem* umem = created(context.library().mlx5dv_devx_umem_reg, context.get(), address, size, access);
    return with_id(env, context, umem, &mlx5dv_devx_umem::umem_id, dereg_umem);
  }
  mlx5dv_devx_umem_in in{};
  in.addr = address;
  in.size = size;
  in.access = access;
  in.pgsz_bitmap = u64_of(info[7]);
  mlx5dv_devx_umem* umem = created(context.library().mlx5dv_devx_umem_reg_ex, context.get(), &in);
  return with_id(env, context, umem, &mlx5dv_devx_umem::umem_id, dereg_umem);
}

// devxUmemRegDmabuf(library, context, fd, offset, size, access, pgszBitmap): { handle, id } | -errno
Napi::Value umem_reg_dmabuf(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_context> context(info);
  mlx5dv_devx_umem_in in{};
  in.comp_mask = MLX5DV_UMEM_MASK_DMABUF;
  in.dmabuf_fd = number_of<int>(info[2]);
  // With a dma-buf it is an offset.
  in.addr = reinterpret_cast<void*>(u64_of(info[3]));
  in.size = u64_of(info[4]);
  in.access = number_of<std::uint32_t>(info[5]);
  in.pgsz_bitmap = u64_of(info[6]);
  mlx5dv_devx_umem* umem = created(context.library().mlx5dv_devx_umem_reg_ex, context.get(), &in);
  return with_id(env, context, umem, &mlx5dv_devx_umem::umem_id, dereg_umem);
}

// devxUmemExport(umem, data): 0 | -errno; devxUmemImport(library, context, data): { handle, id } | -errno. EINVAL for
// a `data` of another size than exportSizes() says.
Napi::Value umem_export(const Napi::CallbackInfo& info) {
  Held held;
  auto* umem = held.object<mlx5dv_devx_umem>(info, 0);
  void* data = nullptr;
  int error = export_bytes(umem->library(), info[1], &newer::ExportSizes::devx_umem, &data);
  if (error == 0) error = status(umem->library().mlx5dv_devx_umem_export, umem->get(), data);
  return failure(info.Env(), error);
}
Napi::Value umem_import(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_context> context(info);
  void* data = nullptr;
  const int error = export_bytes(context.library(), info[2], &newer::ExportSizes::devx_umem, &data);
  if (error != 0) return failure(env, error);
  const auto unimport = [](const Library& its_library, mlx5dv_devx_umem* umem) {
    its_library.mlx5dv_devx_umem_unimport(umem);
    return 0;
  };
  mlx5dv_devx_umem* umem = created(context.library().mlx5dv_devx_umem_import, context.get(), data);
  return with_id(env, context, umem, &mlx5dv_devx_umem::umem_id, unimport);
}

// devxAllocUar(library, context, flags): { handle, id, mmapOff } | -errno
Napi::Value alloc_uar(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_context> context(info);
  mlx5dv_devx_uar* uar =
      created(context.library().mlx5dv_devx_alloc_uar, context.get(), number_of<std::uint32_t>(info[2]));
  if (!uar) return failure(env, errno);
  const mlx5dv_devx_uar fields = *uar;
  const auto destroy = [](const Library& its_library, mlx5dv_devx_uar* its_uar) {
    its_library.mlx5dv_devx_free_uar(its_uar);
    return 0;
  };
  return described(
      env, context.attach(env, uar, destroy),
      {{"id", number(env, fields.page_id)}, {"mmapOff", big(env, static_cast<std::uint64_t>(fields.mmap_off))}});
}

// devxUarExportDmabufFd(uar): fd | -errno
Napi::Value uar_export_dmabuf_fd(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Held held;
  auto* uar = held.object<mlx5dv_devx_uar>(info, 0);
  const auto function = uar->library().mlx5dv_devx_uar_export_dmabuf_fd;
  if (!function) return failure(env, EOPNOTSUPP);
  errno = 0;
  const int fd = function(uar->get());
  return fd < 0 ? failure(env, errno == 0 ? EIO : errno) : number(env, fd);
}

Napi::Value describe_var(Napi::Env env, const Subject<ibv_context>& context, mlx5dv_var* var,
                         Object<mlx5dv_var>::Destroy destroy) {
  if (!var) return failure(env, errno);
  const mlx5dv_var fields = *var;
  return described(env, context.attach(env, var, destroy),
                   {{"id", number(env, fields.page_id)},
                    {"length", number(env, fields.length)},
                    {"mmapOff", big(env, static_cast<std::uint64_t>(fields.mmap_off))}});
}

// allocVar(library, context, flags): { handle, id, length, mmapOff } | -errno
Napi::Value alloc_var(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_context> context(info);
  const auto destroy = [](const Library& its_library, mlx5dv_var* var) {
    its_library.mlx5dv_free_var(var);
    return 0;
  };
  return describe_var(env, context,
                      created(context.library().mlx5dv_alloc_var, context.get(), number_of<std::uint32_t>(info[2])),
                      destroy);
}

// varExport(var, data): 0 | -errno; varImport(library, context, data): as allocVar
Napi::Value var_export(const Napi::CallbackInfo& info) {
  Held held;
  auto* var = held.object<mlx5dv_var>(info, 0);
  void* data = nullptr;
  int error = export_bytes(var->library(), info[1], &newer::ExportSizes::var, &data);
  if (error == 0) error = status(var->library().mlx5dv_var_export, var->get(), data);
  return failure(info.Env(), error);
}
Napi::Value var_import(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_context> context(info);
  void* data = nullptr;
  const int error = export_bytes(context.library(), info[2], &newer::ExportSizes::var, &data);
  if (error != 0) return failure(env, error);
  const auto destroy = [](const Library& its_library, mlx5dv_var* var) {
    its_library.mlx5dv_var_unimport(var);
    return 0;
  };
  return describe_var(env, context, created(context.library().mlx5dv_var_import, context.get(), data), destroy);
}

// devxAllocMsiVector(library, context): { handle, vector, fd } | -errno
Napi::Value alloc_msi_vector(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_context> context(info);
  mlx5dv_devx_msi_vector* msi = created(context.library().mlx5dv_devx_alloc_msi_vector, context.get());
  if (!msi) return failure(env, errno);
  const mlx5dv_devx_msi_vector fields = *msi;
  const auto destroy = [](const Library& its_library, mlx5dv_devx_msi_vector* its_msi) {
    return status(its_library.mlx5dv_devx_free_msi_vector, its_msi);
  };
  return described(env, context.attach(env, msi, destroy),
                   {{"vector", number(env, fields.vector)}, {"fd", number(env, fields.fd)}});
}

// devxCreateEq(library, context, in, out): handle | -errno
Napi::Value create_eq(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_context> context(info);
  const Bytes in = bytes_of(info[2]), out = bytes_of(info[3]);
  mlx5dv_devx_eq* eq = created(context.library().mlx5dv_devx_create_eq, context.get(),
                               static_cast<const void*>(in.data), in.size, static_cast<void*>(out.data), out.size);
  const auto destroy = [](const Library& its_library, mlx5dv_devx_eq* its_eq) {
    return status(its_library.mlx5dv_devx_destroy_eq, its_eq);
  };
  return context.attach(env, eq, destroy);
}

}  // namespace

void init_devx_memory(Napi::Object exports) {
  export_function<umem_reg>(exports, "devxUmemReg");
  export_function<umem_reg_dmabuf>(exports, "devxUmemRegDmabuf");
  export_function<umem_export>(exports, "devxUmemExport");
  export_function<umem_import>(exports, "devxUmemImport");
  export_function<alloc_uar>(exports, "devxAllocUar");
  export_function<uar_export_dmabuf_fd>(exports, "devxUarExportDmabufFd");
  export_function<alloc_var>(exports, "allocVar");
  export_function<var_export>(exports, "varExport");
  export_function<var_import>(exports, "varImport");
  export_function<alloc_msi_vector>(exports, "devxAllocMsiVector");
  export_function<create_eq>(exports, "devxCreateEq");
}

}  // namespace verbs::mlx5::binding

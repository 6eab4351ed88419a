// Memory, doorbell pages, event queues and interrupt vectors for DEVX.
#include "binding/devx/export_bytes.h"
#include "binding/objects.h"

namespace verbs::mlx5::binding {
namespace {

// { handle, id } of a new object that has its number in a field.
template <typename T>
napi_value with_id(napi_env env, const Subject<ibv_context>& context, T* object, std::uint32_t T::* id,
                   typename Object<T>::Destroy destroy) {
  if (!object) return failure(env, errno);
  const std::uint32_t number_of_it = object->*id;
  return described(env, context.attach(env, object, destroy), {{"id", number(env, number_of_it)}});
}

int dereg_umem(const Library& library, mlx5dv_devx_umem* umem) { return status(library.mlx5dv_devx_umem_dereg, umem); }

// devxUmemReg(library, context, mr, offset, size, access, pgszBitmap | undefined): { handle, id } | -errno. Registers
// memory that a memory region keeps; with the last argument it is mlx5dv_devx_umem_reg_ex.
napi_value umem_reg(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_context> context(arguments);
  auto* mr = context ? context.held.verbs<ibv_mr>(arguments, 2, VERBS_CORE_MR) : nullptr;
  if (!mr) return nullptr;
  const std::uint64_t offset = to_u64(env, arguments[3]), size = to_u64(env, arguments[4]);
  // A region without an address is of device memory, or imported: there is nothing to pin.
  if (mr->context != context.get() || !mr->addr) return failure(env, EINVAL);
  if (offset > mr->length || size > mr->length - offset) return failure(env, ERANGE);
  void* address = static_cast<char*>(mr->addr) + offset;
  const std::uint32_t access = to_u32(env, arguments[5]);
  if (is_undefined(env, arguments[6])) {
    mlx5dv_devx_umem* umem = created(context.library().mlx5dv_devx_umem_reg, context.get(), address, size, access);
    return with_id(env, context, umem, &mlx5dv_devx_umem::umem_id, dereg_umem);
  }
  mlx5dv_devx_umem_in in{};
  in.addr = address;
  in.size = size;
  in.access = access;
  in.pgsz_bitmap = to_u64(env, arguments[6]);
  mlx5dv_devx_umem* umem = created(context.library().mlx5dv_devx_umem_reg_ex, context.get(), &in);
  return with_id(env, context, umem, &mlx5dv_devx_umem::umem_id, dereg_umem);
}

// devxUmemRegDmabuf(library, context, fd, offset, size, access, pgszBitmap): { handle, id } | -errno
napi_value umem_reg_dmabuf(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
  mlx5dv_devx_umem_in in{};
  in.comp_mask = MLX5DV_UMEM_MASK_DMABUF;
  in.dmabuf_fd = static_cast<int>(to_integer(env, arguments[2]));
  // With a dma-buf it is an offset.
  in.addr = reinterpret_cast<void*>(to_u64(env, arguments[3]));
  in.size = to_u64(env, arguments[4]);
  in.access = to_u32(env, arguments[5]);
  in.pgsz_bitmap = to_u64(env, arguments[6]);
  mlx5dv_devx_umem* umem = created(context.library().mlx5dv_devx_umem_reg_ex, context.get(), &in);
  return with_id(env, context, umem, &mlx5dv_devx_umem::umem_id, dereg_umem);
}

// devxUmemExport(umem, data): 0 | -errno; devxUmemImport(library, context, data): { handle, id } | -errno. EINVAL for
// a `data` of another size than exportSizes() says.
napi_value umem_export(const Arguments& arguments) {
  Held held;
  auto* umem = held.object<mlx5dv_devx_umem>(arguments, 0);
  if (!umem) return nullptr;
  void* data = nullptr;
  int error = export_bytes(arguments.env, umem->library(), arguments[1], &newer::ExportSizes::devx_umem, &data);
  if (error == 0) error = status(umem->library().mlx5dv_devx_umem_export, umem->get(), data);
  return failure(arguments.env, error);
}
napi_value umem_import(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
  void* data = nullptr;
  const int error = export_bytes(env, context.library(), arguments[2], &newer::ExportSizes::devx_umem, &data);
  if (error != 0) return failure(env, error);
  const auto unimport = [](const Library& its_library, mlx5dv_devx_umem* umem) {
    its_library.mlx5dv_devx_umem_unimport(umem);
    return 0;
  };
  mlx5dv_devx_umem* umem = created(context.library().mlx5dv_devx_umem_import, context.get(), data);
  return with_id(env, context, umem, &mlx5dv_devx_umem::umem_id, unimport);
}

// devxAllocUar(library, context, flags): { handle, id, mmapOff } | -errno
napi_value alloc_uar(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
  mlx5dv_devx_uar* uar = created(context.library().mlx5dv_devx_alloc_uar, context.get(), to_u32(env, arguments[2]));
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
napi_value uar_export_dmabuf_fd(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Held held;
  auto* uar = held.object<mlx5dv_devx_uar>(arguments, 0);
  if (!uar) return nullptr;
  const auto function = uar->library().mlx5dv_devx_uar_export_dmabuf_fd;
  if (!function) return failure(env, EOPNOTSUPP);
  errno = 0;
  const int fd = function(uar->get());
  return fd < 0 ? failure(env, errno == 0 ? EIO : errno) : number(env, fd);
}

napi_value describe_var(napi_env env, const Subject<ibv_context>& context, mlx5dv_var* var,
                        Object<mlx5dv_var>::Destroy destroy) {
  if (!var) return failure(env, errno);
  const mlx5dv_var fields = *var;
  return described(env, context.attach(env, var, destroy),
                   {{"id", number(env, fields.page_id)},
                    {"length", number(env, fields.length)},
                    {"mmapOff", big(env, static_cast<std::uint64_t>(fields.mmap_off))}});
}

// allocVar(library, context, flags): { handle, id, length, mmapOff } | -errno
napi_value alloc_var(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
  const auto destroy = [](const Library& its_library, mlx5dv_var* var) {
    its_library.mlx5dv_free_var(var);
    return 0;
  };
  return describe_var(env, context,
                      created(context.library().mlx5dv_alloc_var, context.get(), to_u32(env, arguments[2])), destroy);
}

// varExport(var, data): 0 | -errno; varImport(library, context, data): as allocVar
napi_value var_export(const Arguments& arguments) {
  Held held;
  auto* var = held.object<mlx5dv_var>(arguments, 0);
  if (!var) return nullptr;
  void* data = nullptr;
  int error = export_bytes(arguments.env, var->library(), arguments[1], &newer::ExportSizes::var, &data);
  if (error == 0) error = status(var->library().mlx5dv_var_export, var->get(), data);
  return failure(arguments.env, error);
}
napi_value var_import(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
  void* data = nullptr;
  const int error = export_bytes(env, context.library(), arguments[2], &newer::ExportSizes::var, &data);
  if (error != 0) return failure(env, error);
  const auto destroy = [](const Library& its_library, mlx5dv_var* var) {
    its_library.mlx5dv_var_unimport(var);
    return 0;
  };
  return describe_var(env, context, created(context.library().mlx5dv_var_import, context.get(), data), destroy);
}

// devxAllocMsiVector(library, context): { handle, vector, fd } | -errno
napi_value alloc_msi_vector(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
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
napi_value create_eq(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
  const Bytes in = to_bytes(env, arguments[2]), out = to_bytes(env, arguments[3]);
  mlx5dv_devx_eq* eq = created(context.library().mlx5dv_devx_create_eq, context.get(),
                               static_cast<const void*>(in.data), in.size, static_cast<void*>(out.data), out.size);
  const auto destroy = [](const Library& its_library, mlx5dv_devx_eq* its_eq) {
    return status(its_library.mlx5dv_devx_destroy_eq, its_eq);
  };
  return context.attach(env, eq, destroy);
}

}  // namespace

void init_devx_memory(napi_env env, napi_value exports) {
  export_function<umem_reg>(env, exports, "devxUmemReg");
  export_function<umem_reg_dmabuf>(env, exports, "devxUmemRegDmabuf");
  export_function<umem_export>(env, exports, "devxUmemExport");
  export_function<umem_import>(env, exports, "devxUmemImport");
  export_function<alloc_uar>(env, exports, "devxAllocUar");
  export_function<uar_export_dmabuf_fd>(env, exports, "devxUarExportDmabufFd");
  export_function<alloc_var>(env, exports, "allocVar");
  export_function<var_export>(env, exports, "varExport");
  export_function<var_import>(env, exports, "varImport");
  export_function<alloc_msi_vector>(env, exports, "devxAllocMsiVector");
  export_function<create_eq>(env, exports, "devxCreateEq");
}

}  // namespace verbs::mlx5::binding

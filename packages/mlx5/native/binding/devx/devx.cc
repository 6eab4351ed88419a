// DEVX objects and commands, also commands on objects of the verbs.
#include "binding/devx/export_bytes.h"
#include "binding/objects.h"

namespace verbs::mlx5::binding {
namespace {

int destroy_object(const Library& library, mlx5dv_devx_obj* object) {
  return status(library.mlx5dv_devx_obj_destroy, object);
}
int unimport_object(const Library& library, mlx5dv_devx_obj* object) {
  library.mlx5dv_devx_obj_unimport(object);
  return 0;
}

// devxObjCreate(library, context, in, out): handle | -errno. `out` is filled in, also by a command that failed.
napi_value obj_create(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
  const Bytes in = to_bytes(env, arguments[2]), out = to_bytes(env, arguments[3]);
  mlx5dv_devx_obj* object = created(context.library().mlx5dv_devx_obj_create, context.get(),
                                    static_cast<const void*>(in.data), in.size, static_cast<void*>(out.data), out.size);
  return context.attach(env, object, destroy_object);
}

template <typename T>
using Command = int (*)(T*, const void*, std::size_t, void*, std::size_t);

template <typename T>
napi_value command(napi_env env, Command<T> function, T* object, napi_value in_value, napi_value out_value) {
  const Bytes in = to_bytes(env, in_value), out = to_bytes(env, out_value);
  return failure(env, status(function, object, static_cast<const void*>(in.data), in.size, static_cast<void*>(out.data),
                             out.size));
}

// devxGeneralCmd(library, context, in, out): 0 | -errno
napi_value general_cmd(const Arguments& arguments) {
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
  return command(arguments.env, context.library().mlx5dv_devx_general_cmd, context.get(), arguments[2], arguments[3]);
}

// devxObjQuery(object, in, out), devxObjModify(object, in, out): 0 | -errno
template <Command<mlx5dv_devx_obj> Library::* Function>
napi_value on_object(const Arguments& arguments) {
  Held held;
  auto* object = held.object<mlx5dv_devx_obj>(arguments, 0);
  if (!object) return nullptr;
  return command(arguments.env, object->library().*Function, object->get(), arguments[1], arguments[2]);
}

// devxCqQuery(library, cq, in, out) and so on, for objects of the verbs: 0 | -errno
template <typename T, Command<T> Library::* Function>
napi_value on_verbs(const Arguments& arguments) {
  Subject<T> object(arguments);
  if (!object) return nullptr;
  return command(arguments.env, object.library().*Function, object.get(), arguments[2], arguments[3]);
}

// exportSizes(library): { varAttrsSize, devxUmemAttrsSize, devxObjAttrsSize } | -errno
napi_value export_sizes(const Arguments& arguments) {
  const napi_env env = arguments.env;
  const Library* library = library_of(arguments, 0);
  if (!library) return nullptr;
  if (!library->_mlx5dv_get_export_sizes) return failure(env, EOPNOTSUPP);
  newer::ExportSizes sizes{};
  library->_mlx5dv_get_export_sizes(&sizes, sizeof sizes);
  napi_value result = object(env);
  set(env, result, "varAttrsSize", number(env, sizes.var));
  set(env, result, "devxUmemAttrsSize", number(env, sizes.devx_umem));
  set(env, result, "devxObjAttrsSize", number(env, sizes.devx_obj));
  return result;
}

// devxObjExport(object, data): 0 | -errno; devxObjImport(library, context, data): handle | -errno. EINVAL for
// a `data` of another size than exportSizes() says.
napi_value obj_export(const Arguments& arguments) {
  Held held;
  auto* object = held.object<mlx5dv_devx_obj>(arguments, 0);
  if (!object) return nullptr;
  const napi_env env = arguments.env;
  void* data = nullptr;
  int error = export_bytes(env, object->library(), arguments[1], &newer::ExportSizes::devx_obj, &data);
  if (error == 0) error = status(object->library().mlx5dv_devx_obj_export, object->get(), data);
  return failure(env, error);
}
napi_value obj_import(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
  void* data = nullptr;
  const int error = export_bytes(env, context.library(), arguments[2], &newer::ExportSizes::devx_obj, &data);
  if (error != 0) return failure(env, error);
  return context.attach(env, created(context.library().mlx5dv_devx_obj_import, context.get(), data), unimport_object);
}

// devxQueryEqn(library, context, vector): eqn | -errno
napi_value query_eqn(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
  std::uint32_t eqn = 0;
  const int error = status(context.library().mlx5dv_devx_query_eqn, context.get(), to_u32(env, arguments[2]), &eqn);
  return error != 0 ? failure(env, error) : number(env, eqn);
}

}  // namespace

void init_devx(napi_env env, napi_value exports) {
  export_function<obj_create>(env, exports, "devxObjCreate");
  export_function<on_object<&Library::mlx5dv_devx_obj_query>>(env, exports, "devxObjQuery");
  export_function<on_object<&Library::mlx5dv_devx_obj_modify>>(env, exports, "devxObjModify");
  export_function<general_cmd>(env, exports, "devxGeneralCmd");
  export_function<export_sizes>(env, exports, "exportSizes");
  export_function<obj_export>(env, exports, "devxObjExport");
  export_function<obj_import>(env, exports, "devxObjImport");
  export_function<query_eqn>(env, exports, "devxQueryEqn");
  export_function<on_verbs<ibv_cq, &Library::mlx5dv_devx_cq_query>>(env, exports, "devxCqQuery");
  export_function<on_verbs<ibv_cq, &Library::mlx5dv_devx_cq_modify>>(env, exports, "devxCqModify");
  export_function<on_verbs<ibv_qp, &Library::mlx5dv_devx_qp_query>>(env, exports, "devxQpQuery");
  export_function<on_verbs<ibv_qp, &Library::mlx5dv_devx_qp_modify>>(env, exports, "devxQpModify");
  export_function<on_verbs<ibv_srq, &Library::mlx5dv_devx_srq_query>>(env, exports, "devxSrqQuery");
  export_function<on_verbs<ibv_srq, &Library::mlx5dv_devx_srq_modify>>(env, exports, "devxSrqModify");
  export_function<on_verbs<ibv_wq, &Library::mlx5dv_devx_wq_query>>(env, exports, "devxWqQuery");
  export_function<on_verbs<ibv_wq, &Library::mlx5dv_devx_wq_modify>>(env, exports, "devxWqModify");
  export_function<on_verbs<ibv_rwq_ind_table, &Library::mlx5dv_devx_ind_tbl_query>>(env, exports, "devxIndTblQuery");
  export_function<on_verbs<ibv_rwq_ind_table, &Library::mlx5dv_devx_ind_tbl_modify>>(env, exports, "devxIndTblModify");
}

}  // namespace verbs::mlx5::binding

// The bytes in which objects pass from one process to another: newer functions write and read as many as the library
// says.
#pragma once

#include "binding/library.h"

namespace verbs::mlx5::binding {

// Their address. EOPNOTSUPP: the library has no such functions; EINVAL: the view has another size.
inline int export_bytes(const Library& library, Napi::Value view, std::uint32_t newer::ExportSizes::* kind,
                        void** data) {
  if (!library._mlx5dv_get_export_sizes) return EOPNOTSUPP;
  newer::ExportSizes sizes{};
  library._mlx5dv_get_export_sizes(&sizes, sizeof sizes);
  const Bytes bytes = bytes_of(view);
  *data = bytes.data;
  return bytes.size == sizes.*kind && bytes.data ? 0 : EINVAL;
}

}  // namespace verbs::mlx5::binding

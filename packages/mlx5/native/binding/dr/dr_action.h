// Actions of direct rules.
#pragma once

#include "binding/objects.h"

namespace verbs::mlx5::binding {

inline int destroy_dr_action(const Library& library, mlx5dv_dr_action* action) {
  return status(library.mlx5dv_dr_action_destroy, action);
}

// The handle of a new action, whose first parent is its domain.
inline napi_value attach_action(napi_env env, const Object<mlx5dv_dr_domain>& domain, mlx5dv_dr_action* action,
                                const Held& held) {
  return attach(env, domain.library(), domain.context(), action, destroy_dr_action, held.parents());
}

}  // namespace verbs::mlx5::binding

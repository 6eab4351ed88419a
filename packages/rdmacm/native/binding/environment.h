// The state of the addon for one JavaScript environment (the main thread or a worker).
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "provider/environment.h"

struct ibv_context;
struct rdma_cm_id;

namespace verbs::rdmacm::binding {

class Id;

struct Environment final : provider::Environment {
  static const std::shared_ptr<Environment>& of(napi_env env) { return provider::environment_of<Environment>(env); }

  // The objects of the identifiers that events name.
  std::unordered_map<rdma_cm_id*, Id*> ids;
  // The number by which JavaScript names an identifier: never 0, never used again.
  double next_key = 1;
  // The numbers by which JavaScript names contexts.
  std::unordered_map<ibv_context*, double> contexts;

  double key_of(ibv_context* context) {
    return contexts.try_emplace(context, static_cast<double>(contexts.size() + 1)).first->second;
  }
};

}  // namespace verbs::rdmacm::binding

#include "host/models/models.h"

#include <cerrno>

#include "host/error.h"

namespace verbs::soft::host {

int Models::add(const verbs_soft_model* model) {
  if (!model || !model->kind || std::string("roce") == model->kind) {
    return fail(EINVAL, "a model needs a kind of its own");
  }
  const verbs_soft_model* known = find(model->kind);
  if (known == model) return 0;
  if (known) return fail(EEXIST, std::string("kind ") + model->kind + " has a model already");
  models_.push_back(model);
  return 0;
}

const verbs_soft_model* Models::find(const std::string& kind) const {
  for (const verbs_soft_model* model : models_) {
    if (kind == model->kind) return model;
  }
  return nullptr;
}

}  // namespace verbs::soft::host

// The vendors' models that are loaded in this process, by the kind of their devices.
#pragma once

#include <string>
#include <vector>

#include "verbs_soft_extension.h"

namespace verbs::soft::host {

class Models {
 public:
  // 0, also if the model is known already; EINVAL without a kind of its own, EEXIST if its kind has another model.
  int add(const verbs_soft_model* model);
  const verbs_soft_model* find(const std::string& kind) const;  // nullptr without such a model

 private:
  std::vector<const verbs_soft_model*> models_;
};

}  // namespace verbs::soft::host

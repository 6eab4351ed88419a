// The directories of the registry, to which only this user has access: $XDG_RUNTIME_DIR/verbs-doca-comm if that
// variable names a directory of the user, else directories in /dev/shm. There, any user can create a directory of any
// name first. So every directory whose name begins as it should counts, if it is the user's own: nobody can create one
// of those.
#pragma once

#include <string>
#include <vector>

#include "model/base/descriptor.h"

namespace verbs::doca_comm::model {

struct RegistryDirectory {
  Descriptor descriptor;
  std::string path;

  // All that there are, in the order of their paths. With `create` at least one. 0 or errno; last_error() has the
  // reason.
  static int open_all(bool create, std::vector<RegistryDirectory>* directories);
};

}  // namespace verbs::doca_comm::model

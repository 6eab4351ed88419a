// Why the last listen or connect of this thread failed, in words: DOCA's codes cannot say which file or user is in the
// way. Empty if the code says it all.
#pragma once

#include <string>

namespace verbs::doca_comm::model {

inline std::string& last_error() {
  static thread_local std::string text;
  return text;
}

}  // namespace verbs::doca_comm::model

// Calls that the test wants refused: by name, with an errno, so many times.
#pragma once

#include <map>
#include <string>

namespace verbs::uverbs {

class Refusals {
 public:
  void add(const std::string& name, int error, int times) { refusals_[name] = {error, times}; }

  // 0: it may run.
  int take(const std::string& name) {
    const auto found = refusals_.find(name);
    if (found == refusals_.end() || found->second.times == 0) return 0;
    --found->second.times;
    return found->second.error;
  }

 private:
  struct Refusal {
    int error;
    int times;
  };
  std::map<std::string, Refusal> refusals_;
};

}  // namespace verbs::uverbs

// mlx5dv_flow_match_parameters with its bytes behind it.
#pragma once

#include <cstring>
#include <vector>

#include "binding/library.h"

namespace verbs::mlx5::binding {

class MatchParameters {
 public:
  explicit MatchParameters(const Bytes& bytes) : words_(1 + (bytes.size + 7) / 8) {
    get()->match_sz = bytes.size;
    if (bytes.size != 0) std::memcpy(get()->match_buf, bytes.data, bytes.size);
  }
  mlx5dv_flow_match_parameters* get() { return reinterpret_cast<mlx5dv_flow_match_parameters*>(words_.data()); }

 private:
  static_assert(sizeof(std::size_t) == sizeof(std::uint64_t));
  std::vector<std::uint64_t> words_;
};

}  // namespace verbs::mlx5::binding

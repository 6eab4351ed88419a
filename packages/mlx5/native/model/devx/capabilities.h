// QUERY_HCA_CAP: the device's capability blocks, from which programs read what its steering supports.
#pragma once

#include <cstdint>
#include <span>

#include "model/devx/object.h"

namespace verbs::mlx5::model {

// The capability block of QUERY_HCA_CAP.
DevxStatus query_capabilities(Context& context, std::span<const std::uint8_t> in, std::span<std::uint8_t> out);

}  // namespace verbs::mlx5::model

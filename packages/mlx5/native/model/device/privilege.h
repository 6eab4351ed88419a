// The privilege that raw packets and flows need on hardware.
#pragma once

namespace verbs::mlx5::model {

// Whether CAP_NET_RAW is effective for the calling thread.
bool has_net_raw();

}  // namespace verbs::mlx5::model

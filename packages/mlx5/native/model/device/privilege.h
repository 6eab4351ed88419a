// Whether this process may do what hardware asks a privilege for.
#pragma once

namespace verbs::mlx5 {

// CAP_NET_RAW is effective for the calling thread.
bool has_net_raw();

}  // namespace verbs::mlx5

// ibv_create_flow: flows whose match is a list of specifications.
#pragma once

#include "model/device/context.h"

namespace verbs::mlx5::model {

ibv_flow* create_spec_flow(ibv_qp* qp, ibv_flow_attr* attr);

}  // namespace verbs::mlx5::model

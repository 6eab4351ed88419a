// The model of a BlueField for the software NIC: devices of kind "doca".
//
//   doca_host0,kind=doca,role=host,pci=0000:3b:00.0,dpu=10.0.0.1
//   doca_dpu0,kind=doca,role=dpu,pci=0000:03:00.0,reps=0000:3b:00.0@10.0.0.2|0000:3b:00.1,max_connections=64
//
//   role             host or dpu
//   pci              the function's own address. A host function is what a representor on the DPU stands for
//   reps             (dpu) the host functions that are visible, separated by '|'. One with an address behind '@' takes
//                    clients of other hosts, from that address only
//   dpu              (host) the address of a DPU on another host; without it services of this host and user are found
//   max_connections  (dpu) clients of one service
//   max_per_client   (dpu) those of one address
#pragma once

#include "verbs_soft_extension.h"

namespace verbs::doca_comm::model {

inline constexpr const char* kKind = "doca";

const verbs_soft_model& model();

}  // namespace verbs::doca_comm::model

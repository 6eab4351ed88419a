// The model of a BlueField for the software NIC: devices of kind "doca".
//
//   doca_host0,kind=doca,role=host,pci=5f5f:3b:00.0,dpu=10.0.0.1
//   doca_dpu0,kind=doca,role=dpu,pci=5f5f:03:00.0,reps=5f5f:3b:00.0@10.0.0.2|5f5f:3b:00.1,max_connections=64
//
//   role             host or dpu
//   pci              the PCI address of the function
//   reps             (dpu) the PCI addresses of the host functions that have a representor, separated by '|'. One with
//                    an IP address behind '@' accepts clients of other hosts, from that address only
//   dpu              (host) the IP address of a DPU on another host. Without it, clients find services of this host and
//                    user
//   max_connections  (dpu) clients of one service
//   max_per_client   (dpu) clients of one service with the same address
#pragma once

#include "model/nic/verbs.h"
#include "verbs_soft_extension.h"

namespace verbs::doca_comm::model {

inline constexpr const char* kKind = "doca";

const verbs_soft_model& model();

// The verbs that the model is attached to. In a program that did not hand them over, attaches the model to the
// libibverbs of the process, or loads libibverbs.so.1. nullptr if that is not the software NIC's.
const Verbs* attached_verbs();

}  // namespace verbs::doca_comm::model

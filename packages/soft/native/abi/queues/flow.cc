#include "abi/queues/flow.h"

#include <cerrno>

#include "abi/objects/objects.h"
#include "host/error.h"
#include "verbs_soft_privilege.h"

namespace verbs::soft::abi {
namespace {

void destroy_object(void* object) { destroy_flow(static_cast<ibv_flow*>(object)); }

}  // namespace

int check_privilege(ibv_context* context) {
  const host::Device& device = *of(context)->device;
  // A model has an option of its own.
  if (device.model() || !device.config().rules.strict || model::has_net_raw()) return 0;
  return host::fail(EPERM, "device " + device.config().name +
                               " is strict: raw packets and flows need the capability CAP_NET_RAW, as in the kernel");
}

// A model of a vendor replaces these two, if it steers raw packets.
ibv_flow* create_flow(ibv_qp* qp, ibv_flow_attr* attr) {
  Uses uses;
  if (const int error = uses.add(qp)) return null_with<ibv_flow>(error);
  if (!attr) return null_with<ibv_flow>(EINVAL);
  ibv_context* context = qp->context;
  if (!of(context)->device->has_raw_packets()) return null_with<ibv_flow>(EOPNOTSUPP);
  if (const int error = check_privilege(context)) return null_with<ibv_flow>(error);
  auto flow = std::make_unique<Flow>();
  Handles::Place place(of(context)->handles, &flow->ibv, Kind::kFlow, destroy_object);
  const int error =
      control(context, [&](nic::Nic& nic, link::Nanos) { return nic.flows().create(of(qp)->nic, *attr, &flow->nic); });
  if (error != 0) return null_with<ibv_flow>(error);
  flow->ibv = {.comp_mask = 0, .context = context, .handle = place.handle()};
  place.publish();
  return &flow.release()->ibv;
}

int destroy_flow(ibv_flow* ibv) {
  Retirement retirement;
  if (const int error = retirement.begin(ibv)) return error;
  Flow* flow = of(ibv);
  ibv_context* context = ibv->context;
  const int error = control(context, [&](nic::Nic& nic, link::Nanos) {
    nic.flows().destroy(flow->nic);
    return 0;
  });
  if (error != 0) return error;
  of(context)->handles.remove(ibv);
  delete flow;
  return 0;
}

}  // namespace verbs::soft::abi

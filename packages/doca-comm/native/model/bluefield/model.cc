#include "model/bluefield/model.h"

#include <cerrno>

#include "model/bluefield/device.h"
#include "model/bluefield/options.h"
#include "model/nic/faults.h"
#include "model/setup/registry.h"
#include "verbs_soft_fork.h"
#include "verbs_soft_model.h"

namespace verbs::doca_comm::model {

namespace {

int init_device(void*, ibv_device* device, verbs_soft_identity* identity) {
  Options options;
  if (!read_options(Verbs::extension(), device, &options)) return EINVAL;
  constexpr std::uint32_t kMellanox = 0x02c9, kBlueField2 = 0xa2d6;
  identity->vendor_id = kMellanox;
  identity->vendor_part_id = kBlueField2;
  identity->board_id = "VERBS_SOFT_BF";
  identity->hca_type = "verbs-soft-bluefield";
  identity->pci_vendor = 0x15b3;
  identity->pci_device = kBlueField2;
  return 0;
}

}  // namespace

const verbs_soft_model& model() {
  static const char* const kOptions[] = {"role", "pci", "reps", "dpu", "max_connections", "max_per_client", nullptr};
  static const verbs_soft_model kModel = [] {
    verbs_soft_model created{};
    created.kind = kKind;
    created.default_device =
        "doca_host0,kind=doca,role=host,pci=5f5f:3b:00.0;doca_dpu0,role=dpu,pci=5f5f:03:00.0,reps=5f5f:3b:00.0";
    created.option_names = kOptions;
    created.init_device = init_device;
    return created;
  }();
  return kModel;
}

int attach(verbs_soft_extension_function extension) {
  const int error = Verbs::attach(extension, model());
  if (error == 0) {
    // The calls of an endpoint's child are rejected before they reach a lock of the endpoint.
    [[maybe_unused]] static const int kOnce =
        soft::model::take_at_fork<Bluefield::lock, ServiceEntry::lock, Faults::lock>(
            Verbs::extension(), VERBS_SOFT_LOCK_OUTER, Bluefield::forget_parent);
  }
  return error;
}

const Verbs* attached_verbs() {
  if (!Verbs::get()) errno = attach(soft::model::load_extension());
  return Verbs::get();
}

}  // namespace verbs::doca_comm::model

extern "C" int verbs_soft_model_load(verbs_soft_extension_function extension) {
  return verbs::doca_comm::model::attach(extension);
}

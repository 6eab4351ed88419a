// The properties of devices and representors.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "model/abi/common/versions.h"
#include "model/base/boundary.h"
#include "model/base/text.h"
#include "model/bluefield/device.h"

using verbs::doca_comm::model::Bluefield;
using verbs::doca_comm::model::contained;
using verbs::doca_comm::model::full_pci;
using verbs::doca_comm::model::Gid;
using verbs::doca_comm::model::Verbs;

namespace {

// Other pointers are not read.
template <typename Info>
bool is_known(const Info* info) {
  return Bluefield::get().knows(info);
}

doca_error_t put(const std::string& text, char* to, std::size_t size) {
  if (text.size() >= size) return DOCA_ERROR_INVALID_VALUE;
  std::memset(to, 0, size);
  text.copy(to, size - 1);
  return DOCA_SUCCESS;
}

doca_error_t put_pci(const std::string& pci, char* to) { return put(pci, to, DOCA_DEVINFO_PCI_ADDR_SIZE); }

// `pci` in the full or the short form.
doca_error_t compare(const std::string& own, const char* pci, std::uint8_t* is_equal) {
  const std::string other = full_pci(std::string(pci, strnlen(pci, DOCA_DEVINFO_PCI_ADDR_SIZE)));
  if (other.empty()) return DOCA_ERROR_INVALID_VALUE;
  *is_equal = other == own;
  return DOCA_SUCCESS;
}

doca_error_t split_pci(const std::string& pci, doca_pci_bdf* bdf) {
  unsigned bus = 0, device = 0, function = 0;
  if (std::sscanf(pci.c_str() + 5, "%x:%x.%x", &bus, &device, &function) != 3) return DOCA_ERROR_UNEXPECTED;
  bdf->raw = static_cast<std::uint16_t>(bus << 8 | (device & 31) << 3 | (function & 7));
  return DOCA_SUCCESS;
}

// Opening the device claims its address: before, it has no GID.
doca_error_t gid_of_device(const doca_devinfo* info, Gid* gid) {
  if (!info->opened.context) return DOCA_ERROR_NOT_SUPPORTED;
  *gid = info->opened.gid;
  return DOCA_SUCCESS;
}

doca_error_t supported(const doca_devinfo* devinfo, std::uint8_t* result, bool filter) {
  if (!is_known(devinfo) || !result) return DOCA_ERROR_INVALID_VALUE;
  *result = filter && devinfo->options.dpu;
  return DOCA_SUCCESS;
}

}  // namespace

extern "C" {

doca_error_t doca_devinfo_get_pci_addr_str_both(const doca_devinfo* devinfo, char* pci_addr) {
  return contained([&]() -> doca_error_t {
    return is_known(devinfo) && pci_addr ? put_pci(devinfo->options.pci, pci_addr) : DOCA_ERROR_INVALID_VALUE;
  });
}
doca_error_t doca_devinfo_rep_get_pci_addr_str_both(const doca_devinfo_rep* devinfo_rep, char* pci_addr) {
  return contained([&]() -> doca_error_t {
    return is_known(devinfo_rep) && pci_addr ? put_pci(devinfo_rep->pci, pci_addr) : DOCA_ERROR_INVALID_VALUE;
  });
}
doca_error_t doca_devinfo_get_pci_addr(const doca_devinfo* devinfo, doca_pci_bdf* pci_addr) {
  return contained([&]() -> doca_error_t {
    return is_known(devinfo) && pci_addr ? split_pci(devinfo->options.pci, pci_addr) : DOCA_ERROR_INVALID_VALUE;
  });
}
doca_error_t doca_devinfo_rep_get_pci_addr(const doca_devinfo_rep* devinfo_rep, doca_pci_bdf* pci_addr) {
  return contained([&]() -> doca_error_t {
    return is_known(devinfo_rep) && pci_addr ? split_pci(devinfo_rep->pci, pci_addr) : DOCA_ERROR_INVALID_VALUE;
  });
}
doca_error_t doca_devinfo_is_equal_pci_addr(const doca_devinfo* devinfo, const char* pci_addr, std::uint8_t* is_equal) {
  return contained([&]() -> doca_error_t {
    if (!is_known(devinfo) || !pci_addr || !is_equal) return DOCA_ERROR_INVALID_VALUE;
    return compare(devinfo->options.pci, pci_addr, is_equal);
  });
}
doca_error_t doca_devinfo_rep_is_equal_pci_addr(const doca_devinfo_rep* devinfo_rep, const char* pci_addr,
                                                std::uint8_t* is_equal) {
  return contained([&]() -> doca_error_t {
    if (!is_known(devinfo_rep) || !pci_addr || !is_equal) return DOCA_ERROR_INVALID_VALUE;
    return compare(devinfo_rep->pci, pci_addr, is_equal);
  });
}
doca_error_t doca_devinfo_get_is_pci_addr_equal(const doca_devinfo* devinfo, const char* pci_addr,
                                                std::uint8_t* is_equal) {
  return contained([&]() -> doca_error_t { return doca_devinfo_is_equal_pci_addr(devinfo, pci_addr, is_equal); });
}
doca_error_t doca_devinfo_rep_get_is_pci_addr_equal(const doca_devinfo_rep* devinfo_rep, const char* pci_addr,
                                                    std::uint8_t* is_equal) {
  return contained(
      [&]() -> doca_error_t { return doca_devinfo_rep_is_equal_pci_addr(devinfo_rep, pci_addr, is_equal); });
}

doca_error_t doca_devinfo_rep_cap_is_filter_all_supported(const doca_devinfo* devinfo, std::uint8_t* result) {
  return contained([&]() -> doca_error_t { return supported(devinfo, result, true); });
}
doca_error_t doca_devinfo_rep_cap_is_filter_net_supported(const doca_devinfo* devinfo, std::uint8_t* result) {
  return contained([&]() -> doca_error_t { return supported(devinfo, result, true); });
}
doca_error_t doca_devinfo_rep_cap_is_filter_emulated_supported(const doca_devinfo* devinfo, std::uint8_t* result) {
  return contained([&]() -> doca_error_t { return supported(devinfo, result, false); });
}
doca_error_t doca_devinfo_rep_get_is_list_all_supported(const doca_devinfo* devinfo, std::uint8_t* result) {
  return contained([&]() -> doca_error_t { return supported(devinfo, result, true); });
}
doca_error_t doca_devinfo_rep_get_is_list_net_supported(const doca_devinfo* devinfo, std::uint8_t* result) {
  return contained([&]() -> doca_error_t { return supported(devinfo, result, true); });
}
doca_error_t doca_devinfo_rep_get_is_list_emulated_supported(const doca_devinfo* devinfo, std::uint8_t* result) {
  return contained([&]() -> doca_error_t { return supported(devinfo, result, false); });
}

doca_error_t doca_devinfo_get_ipv4_addr_both(const doca_devinfo* devinfo, std::uint8_t* addr, std::uint32_t size) {
  return contained([&]() -> doca_error_t {
    if (!is_known(devinfo) || !addr || size < DOCA_DEVINFO_IPV4_ADDR_SIZE) return DOCA_ERROR_INVALID_VALUE;
    Gid gid;
    if (const doca_error_t error = gid_of_device(devinfo, &gid)) return error;
    if (gid[10] != 0xff || gid[11] != 0xff) return DOCA_ERROR_NOT_FOUND;
    std::memcpy(addr, gid.data() + 12, DOCA_DEVINFO_IPV4_ADDR_SIZE);
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_devinfo_get_ipv6_addr_both(const doca_devinfo* devinfo, std::uint8_t* addr, std::uint32_t size) {
  return contained([&]() -> doca_error_t {
    if (!is_known(devinfo) || !addr || size < DOCA_DEVINFO_IPV6_ADDR_SIZE) return DOCA_ERROR_INVALID_VALUE;
    Gid gid;
    if (const doca_error_t error = gid_of_device(devinfo, &gid)) return error;
    std::memcpy(addr, gid.data(), gid.size());
    return DOCA_SUCCESS;
  });
}
// A software NIC has an IP address, but no Ethernet address and no network interface of its own. Programs that look for
// their device by these find it all the same: a locally administered address made of the PCI address, and the device's
// name as its interface's.
doca_error_t doca_devinfo_get_mac_addr_both(const doca_devinfo* devinfo, std::uint8_t* addr, std::uint32_t size) {
  return contained([&]() -> doca_error_t {
    if (!is_known(devinfo) || !addr || size < DOCA_DEVINFO_MAC_ADDR_SIZE) return DOCA_ERROR_INVALID_VALUE;
    doca_pci_bdf bdf{};
    if (const doca_error_t error = split_pci(devinfo->options.pci, &bdf)) return error;
    const auto domain = static_cast<std::uint16_t>(std::strtoul(devinfo->options.pci.c_str(), nullptr, 16));
    constexpr std::uint8_t kLocal = 0x02;
    const std::uint8_t bytes[DOCA_DEVINFO_MAC_ADDR_SIZE] = {kLocal,
                                                            0,
                                                            static_cast<std::uint8_t>(domain >> 8),
                                                            static_cast<std::uint8_t>(domain),
                                                            static_cast<std::uint8_t>(bdf.raw >> 8),
                                                            static_cast<std::uint8_t>(bdf.raw)};
    std::memcpy(addr, bytes, sizeof bytes);
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_devinfo_get_iface_name_both(const doca_devinfo* devinfo, char* name, std::uint32_t size) {
  return contained([&]() -> doca_error_t {
    if (!is_known(devinfo) || !name || size < DOCA_DEVINFO_IFACE_NAME_SIZE) return DOCA_ERROR_INVALID_VALUE;
    return put(devinfo->name, name, size);
  });
}
doca_error_t doca_devinfo_get_ibdev_name_both(const doca_devinfo* devinfo, char* name, std::uint32_t size) {
  return contained([&]() -> doca_error_t {
    return is_known(devinfo) && name ? put(devinfo->name, name, size) : DOCA_ERROR_INVALID_VALUE;
  });
}
doca_error_t doca_devinfo_get_lid_both(const doca_devinfo* devinfo, std::uint16_t* lid) {
  return contained([&]() -> doca_error_t {
    if (!is_known(devinfo) || !lid) return DOCA_ERROR_INVALID_VALUE;
    *lid = 0;  // as any device on Ethernet
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_devinfo_rep_get_vuid_both(const doca_devinfo_rep* devinfo_rep, char* vuid, std::uint32_t size) {
  return contained([&]() -> doca_error_t {
    return is_known(devinfo_rep) && vuid ? put("SOFT" + devinfo_rep->pci, vuid, size) : DOCA_ERROR_INVALID_VALUE;
  });
}
doca_error_t doca_devinfo_rep_get_pci_func_type_both(const doca_devinfo_rep* devinfo_rep, doca_pci_func_type* type) {
  return contained([&]() -> doca_error_t {
    if (!is_known(devinfo_rep) || !type) return DOCA_ERROR_INVALID_VALUE;
    *type = DOCA_PCI_FUNC_TYPE_PF;
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_devinfo_rep_get_is_hotplug(const doca_devinfo_rep* devinfo_rep, std::uint8_t* is_hotplug) {
  return contained([&]() -> doca_error_t {
    if (!is_known(devinfo_rep) || !is_hotplug) return DOCA_ERROR_INVALID_VALUE;
    *is_hotplug = 0;
    return DOCA_SUCCESS;
  });
}

}  // extern "C"

VERBS_DOCA_BOTH(doca_devinfo_get_pci_addr_str);
VERBS_DOCA_BOTH(doca_devinfo_rep_get_pci_addr_str);
VERBS_DOCA_BOTH(doca_devinfo_get_ipv4_addr);
VERBS_DOCA_BOTH(doca_devinfo_get_ipv6_addr);
VERBS_DOCA_BOTH(doca_devinfo_get_mac_addr);
VERBS_DOCA_BOTH(doca_devinfo_get_iface_name);
VERBS_DOCA_BOTH(doca_devinfo_get_ibdev_name);
VERBS_DOCA_BOTH(doca_devinfo_get_lid);
VERBS_DOCA_BOTH(doca_devinfo_rep_get_vuid);
VERBS_DOCA_BOTH(doca_devinfo_rep_get_pci_func_type);

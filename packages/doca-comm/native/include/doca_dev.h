/* Discovery of devices and representors (libdoca_common), in the spellings of DOCA 1.5, 2.2 and 2.5. */
#ifndef DOCA_DEV_H_
#define DOCA_DEV_H_

#include <stdint.h>

#include "doca_error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;
struct doca_devinfo;
struct doca_dev_rep;
struct doca_devinfo_rep;

enum {
  DOCA_DEVINFO_PCI_ADDR_SIZE = 13, /* 0000:83:00.0 and NUL */
  DOCA_DEVINFO_PCI_BDF_SIZE = 8,   /* 83:00.0 and NUL */
  DOCA_DEVINFO_IFACE_NAME_SIZE = 256,
  DOCA_DEVINFO_IBDEV_NAME_SIZE = 64,
  DOCA_DEVINFO_REP_VUID_SIZE = 128,
  DOCA_DEVINFO_MAC_ADDR_SIZE = 6,
  DOCA_DEVINFO_IPV4_ADDR_SIZE = 4,
  DOCA_DEVINFO_IPV6_ADDR_SIZE = 16
};

enum doca_devinfo_rep_filter {
  DOCA_DEVINFO_REP_FILTER_ALL = 0,
  DOCA_DEVINFO_REP_FILTER_NET = 1 << 1,
  DOCA_DEVINFO_REP_FILTER_EMULATED = 1 << 2
};

enum doca_pci_func_type { DOCA_PCI_FUNC_TYPE_PF = 0, DOCA_PCI_FUNC_TYPE_VF, DOCA_PCI_FUNC_TYPE_SF };

struct doca_pci_bdf {
  union {
    uint16_t raw;
    struct {
      uint16_t function : 3;
      uint16_t device : 5;
      uint16_t bus : 8;
    };
  };
};

/* Lists: up to 2.2, and from 2.5. */
doca_error_t doca_devinfo_list_create(struct doca_devinfo ***dev_list, uint32_t *nb_devs);
doca_error_t doca_devinfo_list_destroy(struct doca_devinfo **dev_list);
doca_error_t doca_devinfo_rep_list_create(struct doca_dev *dev, int filter, struct doca_devinfo_rep ***dev_list_rep,
                                          uint32_t *nb_devs_rep);
doca_error_t doca_devinfo_rep_list_destroy(struct doca_devinfo_rep **dev_list_rep);
doca_error_t doca_devinfo_create_list(struct doca_devinfo ***dev_list, uint32_t *nb_devs);
doca_error_t doca_devinfo_destroy_list(struct doca_devinfo **dev_list);
doca_error_t doca_devinfo_rep_create_list(struct doca_dev *dev, int filter, struct doca_devinfo_rep ***dev_list_rep,
                                          uint32_t *nb_devs_rep);
doca_error_t doca_devinfo_rep_destroy_list(struct doca_devinfo_rep **dev_list_rep);

doca_error_t doca_dev_open(struct doca_devinfo *devinfo, struct doca_dev **dev);
doca_error_t doca_dev_close(struct doca_dev *dev);
struct doca_devinfo *doca_dev_as_devinfo(const struct doca_dev *dev);
doca_error_t doca_dev_rep_open(struct doca_devinfo_rep *devinfo, struct doca_dev_rep **dev_rep);
doca_error_t doca_dev_rep_close(struct doca_dev_rep *dev);
struct doca_devinfo_rep *doca_dev_rep_as_devinfo(struct doca_dev_rep *dev_rep);

/* PCI addresses: 1.5, 2.2, from 2.5. */
doca_error_t doca_devinfo_get_pci_addr(const struct doca_devinfo *devinfo, struct doca_pci_bdf *pci_addr);
doca_error_t doca_devinfo_rep_get_pci_addr(const struct doca_devinfo_rep *devinfo_rep, struct doca_pci_bdf *pci_addr);
doca_error_t doca_devinfo_get_is_pci_addr_equal(const struct doca_devinfo *devinfo, const char *pci_addr,
                                                uint8_t *is_equal);
doca_error_t doca_devinfo_rep_get_is_pci_addr_equal(const struct doca_devinfo_rep *devinfo_rep, const char *pci_addr,
                                                    uint8_t *is_equal);
doca_error_t doca_devinfo_is_equal_pci_addr(const struct doca_devinfo *devinfo, const char *pci_addr,
                                            uint8_t *is_equal);
doca_error_t doca_devinfo_rep_is_equal_pci_addr(const struct doca_devinfo_rep *devinfo_rep, const char *pci_addr,
                                                uint8_t *is_equal);
doca_error_t doca_devinfo_get_pci_addr_str(const struct doca_devinfo *devinfo, char *pci_addr);
doca_error_t doca_devinfo_rep_get_pci_addr_str(const struct doca_devinfo_rep *devinfo_rep, char *pci_addr);

/* Supported filters: 2.2, from 2.5. */
doca_error_t doca_devinfo_rep_get_is_list_all_supported(const struct doca_devinfo *devinfo, uint8_t *supported);
doca_error_t doca_devinfo_rep_get_is_list_net_supported(const struct doca_devinfo *devinfo, uint8_t *supported);
doca_error_t doca_devinfo_rep_get_is_list_emulated_supported(const struct doca_devinfo *devinfo, uint8_t *supported);
doca_error_t doca_devinfo_rep_cap_is_filter_all_supported(const struct doca_devinfo *devinfo, uint8_t *supported);
doca_error_t doca_devinfo_rep_cap_is_filter_net_supported(const struct doca_devinfo *devinfo, uint8_t *supported);
doca_error_t doca_devinfo_rep_cap_is_filter_emulated_supported(const struct doca_devinfo *devinfo, uint8_t *supported);

doca_error_t doca_devinfo_get_ipv4_addr(const struct doca_devinfo *devinfo, uint8_t *addr, uint32_t size);
doca_error_t doca_devinfo_get_ipv6_addr(const struct doca_devinfo *devinfo, uint8_t *addr, uint32_t size);
doca_error_t doca_devinfo_get_mac_addr(const struct doca_devinfo *devinfo, uint8_t *addr, uint32_t size);
doca_error_t doca_devinfo_get_iface_name(const struct doca_devinfo *devinfo, char *name, uint32_t size);
doca_error_t doca_devinfo_get_ibdev_name(const struct doca_devinfo *devinfo, char *name, uint32_t size);
doca_error_t doca_devinfo_get_lid(const struct doca_devinfo *devinfo, uint16_t *lid);
doca_error_t doca_devinfo_rep_get_vuid(const struct doca_devinfo_rep *devinfo_rep, char *vuid, uint32_t size);
doca_error_t doca_devinfo_rep_get_pci_func_type(const struct doca_devinfo_rep *devinfo_rep,
                                                enum doca_pci_func_type *type);
doca_error_t doca_devinfo_rep_get_is_hotplug(const struct doca_devinfo_rep *devinfo_rep, uint8_t *is_hotplug);

#ifdef __cplusplus
}
#endif

#endif

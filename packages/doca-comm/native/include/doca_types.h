/* Types that the libraries of DOCA 2.5 and later share. */
#ifndef DOCA_TYPES_H_
#define DOCA_TYPES_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Eight bytes of the program's own, passed and returned by value. */
union doca_data {
  void *ptr;
  uint64_t u64;
};

/* On Linux a file descriptor. */
typedef int doca_notification_handle_t;

/* Who may do what with the memory of a doca_mmap. */
enum doca_access_flag {
  DOCA_ACCESS_FLAG_LOCAL_READ_ONLY = 0,
  DOCA_ACCESS_FLAG_LOCAL_READ_WRITE = 1 << 0,
  DOCA_ACCESS_FLAG_RDMA_READ = 1 << 1,
  DOCA_ACCESS_FLAG_RDMA_WRITE = 1 << 2,
  DOCA_ACCESS_FLAG_RDMA_ATOMIC = 1 << 3,
  DOCA_ACCESS_FLAG_PCI_READ_ONLY = 1 << 4,
  DOCA_ACCESS_FLAG_PCI_READ_WRITE = 1 << 5,
  DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING = 1 << 6
};

#ifdef __cplusplus
}
#endif

#endif

/*
 * Control of the software NIC, beside the verbs: configuration, counters, captures and faults. Exported by
 * libverbs-soft-nic.so.1, and the same whichever libibverbs of ours a program uses.
 *
 * Calls return 0 or a positive errno value; verbs_soft_last_error() then says what happened and what helps.
 * `device` is a device's name.
 */
#ifndef VERBS_SOFT_H
#define VERBS_SOFT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Replaces the configuration, also that of the variable VERBS_SOFT. NULL: back to the variable.
 * EINVAL: the text is wrong. EBUSY: a device is open. */
int verbs_soft_configure(const char *text);

/* Adds the devices of `text` to those there are. EINVAL, or EEXIST if one has a name that is taken. */
int verbs_soft_add_devices(const char *text);

/* What happened in this thread's last failed call, also of ibv_get_device_list() and ibv_open_device() of ours. Empty
 * if there was none. Valid until the thread's next call. */
const char *verbs_soft_last_error(void);

/* The names of the listed devices: NULL for an index past the last. Valid until the configuration changes. */
const char *verbs_soft_device_name(unsigned int index);

/* Calls `counter` for each of the device's counters: of the NIC by the kernel's soft-RoCE names, of its links with the
 * prefixes "link_" and "fault_". They count since the device was configured. ENODEV. */
typedef void (*verbs_soft_counter)(void *data, const char *name, uint64_t value);
int verbs_soft_stats(const char *device, verbs_soft_counter counter, void *data);

/* Writes what the device sends and receives to a pcapng file, from now or from its next open on, in place of a running
 * capture. `path` may hold %p (process id) and %d (device name); max_bytes ends the capture when the file has that
 * size, snap_length shortens long frames (0: no limit). ENODEV, or the errno of opening the file. */
int verbs_soft_capture_start(const char *device, const char *path, uint64_t max_bytes, uint32_t snap_length);

/* Ends the capture. The error that ended it before, if one did (ENOSPC); 0 if there is none. */
int verbs_soft_capture_stop(const char *device);

/* Puts a fault plan on the device's link, for example "drop=0.02,seed=7"; an empty text takes it off. ENODEV, EINVAL.
 */
int verbs_soft_set_faults(const char *device, const char *plan);

#ifdef __cplusplus
}
#endif

#endif

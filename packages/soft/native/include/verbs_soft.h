/*
 * Control of the software NIC, beside the verbs: configuration, counters, captures, faults and ports. Exported by
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

/* Puts a fault plan on the device's links, for example "drop=0.02,seed=7" or "fault=drop:opcode=rc_send_only:nth=3";
 * an empty text takes it off. It begins anew, with counters at zero. ENODEV, EINVAL. */
int verbs_soft_set_faults(const char *device, const char *plan);

/* The fault plan that is in force: its seed, and a call of `rule` for each rule as it was written, with how many
 * frames matched and to how many something was done. ENODEV. */
typedef void (*verbs_soft_fault_rule)(void *data, const char *text, uint64_t matched, uint64_t hits);
int verbs_soft_get_faults(const char *device, uint64_t *seed, verbs_soft_fault_rule rule, void *data);

/* Takes a port's link down or up (IBV_EVENT_PORT_ERR, IBV_EVENT_PORT_ACTIVE). Nothing enters or leaves a port that is
 * down. Port 0: all of them. A device that is not open starts so. ENODEV, EINVAL: no such port. */
int verbs_soft_set_link(const char *device, unsigned int port, int up);

/* Sets the active MTU of a port, in bytes: 256, 512, 1024, 2048 or 4096. Datagrams and new connections follow it; as in
 * the kernel there is no event. Port 0: all of them. A device that is not open starts so. ENODEV, EINVAL. */
int verbs_soft_set_mtu(const char *device, unsigned int port, unsigned int mtu);

/* Adds an address of this machine ("10.0.0.1", "fe80::1") to the GID table of a port of an open device, in its first
 * empty entry, until the device's last close. IBV_EVENT_GID_CHANGE. `index` may be NULL.
 * ENODEV; EINVAL: no such port, or not an address; ENOTCONN: the device is not open; EADDRNOTAVAIL: not an address of
 * this machine; EADDRINUSE: somebody has it already, this port included; ENOSPC: the table is full. */
int verbs_soft_add_gid(const char *device, unsigned int port, const char *address, unsigned int *index);

/* Takes an address away; its entry is empty from then on, and what was set up with it reaches nobody any more.
 * IBV_EVENT_GID_CHANGE. ENODEV, EINVAL, ENOTCONN; ENOENT: the port does not have it. */
int verbs_soft_remove_gid(const char *device, unsigned int port, const char *address);

/* Lets an open device fail: all its queue pairs go to the error state, and IBV_EVENT_DEVICE_FATAL is told. New queue
 * pairs work. ENODEV, ENOTCONN. */
int verbs_soft_fail(const char *device);

#ifdef __cplusplus
}
#endif

#endif

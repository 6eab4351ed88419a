/*
 * Control of the software NIC beside the verbs: configuration, counters, captures, faults and ports. Exported by
 * libverbs-soft-nic.so.1, the same for both of our libibverbs.
 *
 * Calls return 0 or a positive errno value; verbs_soft_last_error() then has the cause and the remedy.
 * `device` is a device's name.
 */
#ifndef VERBS_SOFT_H
#define VERBS_SOFT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Replaces the configuration, also that of the variable VERBS_SOFT, but for the options that the variable has for every
 * device ("*"): they hold for these devices too. NULL: reads the variable again.
 * EINVAL: the text is wrong. EBUSY: a device is open. */
int verbs_soft_configure(const char *text);

/* Adds the devices of `text` to the configuration. EINVAL, or EEXIST if a name is taken. */
int verbs_soft_add_devices(const char *text);

/* The text of this thread's last failed call, also of our ibv_get_device_list() and ibv_open_device(). Empty if no call
 * has failed. Valid until the thread's next call. */
const char *verbs_soft_last_error(void);

/* The name of the device with that index, from 0; NULL behind the last device. Valid until the configuration changes.
 */
const char *verbs_soft_device_name(unsigned int index);

/* Calls `counter` for each counter of the device, since it was configured. The counters of the NIC have the names of
 * the kernel's soft-RoCE, those of its links the prefixes "link_" and "fault_". ENODEV. */
typedef void (*verbs_soft_counter)(void *data, const char *name, uint64_t value);
int verbs_soft_stats(const char *device, verbs_soft_counter counter, void *data);

/* Calls `file` for each file that the kernel would have in /sys/class/infiniband/DEVICE, with its path in that folder
 * and its present content: attributes, GIDs and their types, counters. The content ends with a line end; it is empty
 * where reading the kernel's file fails. Until the device is open, its GIDs are those of its configuration, or
 * 127.0.0.1 as IPv4-mapped GID without any. ENODEV. */
typedef void (*verbs_soft_sysfs_file)(void *data, const char *path, const char *content);
int verbs_soft_sysfs(const char *device, verbs_soft_sysfs_file file, void *data);

/* Calls `event` for each of the last 64 refusals and failures of an open device, oldest first, with JSON text: a packet
 * that was dropped, a request that failed, a call that was refused, each with the number, the name and the sentence of
 * its reason, what would help, and the values that mattered. What repeats itself is one event, with its last time and a
 * count. 64-bit numbers are strings. An event is an object:
 *   time, pid, device, place ("arrival", "departure", "responder", "completion" or "call"), reason, number, count,
 * text, help, values, and as far as there are such: call ("ibv_post_send"), errno, status ("REM_ACCESS_ERR"), nak,
 * qpNum, peerQpNum, peerGid, wrId, and peers (reason, text, help: what the peer's end had against the request). With
 * VERBS_SOFT_WHY in the environment, the path of a file of this user that nobody else may write to, each process
 * appends its events to that file as they happen, one a line ("-": as plain text on standard error); of a reason that
 * repeats itself the first 64, and then those with a count that is a power of two. ENODEV. */
typedef void (*verbs_soft_event)(void *data, const char *event);
int verbs_soft_reasons(const char *device, verbs_soft_event event, void *data);

/* Calls `process` for each process of this user and network namespace that has a device of the software NIC open and
 * publishes its state (VERBS_SOFT_PUBLISH=0 in its environment switches that off), also for this one. `report` is JSON
 * text: the program, and for each device its ports, counters and queue pairs; 64-bit numbers are strings. All
 * are asked at a time; those that do not respond within 300 ms are left out. */
typedef void (*verbs_soft_process)(void *data, int pid, const char *report);
int verbs_soft_processes(verbs_soft_process process, void *data);

/* Writes the frames that the device sends and receives to a pcapng file, from now on, or from its next open on if it is
 * not open. Replaces a running capture. `path` may contain %p (process id) and %d (device name). The capture ends
 * before the file is longer than max_bytes; snap_length is the number of bytes kept of a frame (0: no limit). ENODEV,
 * or the errno of opening the file. */
int verbs_soft_capture_start(const char *device, const char *path, uint64_t max_bytes, uint32_t snap_length);

/* Ends the capture. 0, also without a capture; the error that ended the capture early (ENOSPC). */
int verbs_soft_capture_stop(const char *device);

/* Sets the fault plan of the device's links, for example "drop=0.02,seed=7" or "fault=drop:opcode=rc_send_only:nth=3".
 * An empty text removes it. The plan starts from its seed, with counters at zero. ENODEV, EINVAL. */
int verbs_soft_set_faults(const char *device, const char *plan);

/* The present fault plan: its seed, and a call of `rule` for each rule with its text, the number of frames that matched
 * and the number of frames to which the rule applied. ENODEV. */
typedef void (*verbs_soft_fault_rule)(void *data, const char *text, uint64_t matched, uint64_t hits);
int verbs_soft_get_faults(const char *device, uint64_t *seed, verbs_soft_fault_rule rule, void *data);

/* Takes the link of a port down or up (IBV_EVENT_PORT_ERR, IBV_EVENT_PORT_ACTIVE). No frame enters or leaves a port
 * that is down. Port 0: all ports. If the device is not open, the call sets the state at its next open. ENODEV; EINVAL:
 * no such port. */
int verbs_soft_set_link(const char *device, unsigned int port, int up);

/* Sets the active MTU of a port, in bytes: 256, 512, 1024, 2048 or 4096. It applies to datagrams and new connections.
 * As in the kernel, no event reports it. Port 0: all ports. If the device is not open, the call sets the MTU at its
 * next open. ENODEV, EINVAL. */
int verbs_soft_set_mtu(const char *device, unsigned int port, unsigned int mtu);

/* Adds an address of this machine ("10.0.0.1", "fe80::1") to the GID table of a port of an open device, in its first
 * empty entry, until the device's last close. IBV_EVENT_GID_CHANGE. `index` may be NULL.
 * ENODEV; EINVAL: no such port, or not an address; ENOTCONN: the device is not open; EADDRNOTAVAIL: not an address of
 * this machine; EADDRINUSE: the address is taken, also by this port; ENOSPC: the table is full. */
int verbs_soft_add_gid(const char *device, unsigned int port, const char *address, unsigned int *index);

/* Removes an address. Its entry of the GID table is empty from then on, and packets of queue pairs and address handles
 * that use it are dropped. IBV_EVENT_GID_CHANGE. ENODEV, EINVAL, ENOTCONN; ENOENT: the port does not have the address.
 */
int verbs_soft_remove_gid(const char *device, unsigned int port, const char *address);

/* Makes an open device fail: all its queue pairs enter the error state, and IBV_EVENT_DEVICE_FATAL is raised. New queue
 * pairs work. ENODEV, ENOTCONN. */
int verbs_soft_fail(const char *device);

#ifdef __cplusplus
}
#endif

#endif

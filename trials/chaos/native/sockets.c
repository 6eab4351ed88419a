// Sockets without room: the smallest buffers that the kernel gives, and sends that fail.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "gremlin.h"

// buffers BYTES: every UDP socket of the process gets buffers of that size, or of the kernel's minimum
int gremlin_buffers(const long long *numbers, char *result, size_t room) {
  DIR *descriptors = opendir("/proc/self/fd");
  if (!descriptors) return errno;
  int changed = 0;
  for (struct dirent *entry; (entry = readdir(descriptors));) {
    const int descriptor = atoi(entry->d_name);
    int type = 0, family = 0;
    socklen_t length = sizeof type;
    if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) || type != SOCK_DGRAM) continue;
    length = sizeof family;
    if (getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &family, &length)) continue;
    if (family != AF_INET && family != AF_INET6) continue;
    const int bytes = (int)numbers[0];
    setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    changed++;
  }
  closedir(descriptors);
  snprintf(result, room, "%d", changed);
  return 0;
}

static atomic_int send_errno;
static atomic_llong failed_sends;

// sendfail ERRNO: every send of a datagram fails with it; 0 ends that. The number of failed sends is the result.
int gremlin_sendfail(const long long *numbers, char *result, size_t room) {
  atomic_store(&send_errno, (int)numbers[0]);
  snprintf(result, room, "%lld", atomic_load(&failed_sends));
  return 0;
}

static int refused(const void *address) {
  const int error = atomic_load_explicit(&send_errno, memory_order_relaxed);
  // Only what goes to an address is a datagram; Node's own pipes and sockets are left alone.
  if (error == 0 || !address) return 0;
  atomic_fetch_add(&failed_sends, 1);
  errno = error;
  return 1;
}

typedef int (*sendmmsg_function)(int, struct mmsghdr *, unsigned, int);
typedef ssize_t (*sendmsg_function)(int, const struct msghdr *, int);
typedef ssize_t (*sendto_function)(int, const void *, size_t, int, const struct sockaddr *, socklen_t);

int sendmmsg(int descriptor, struct mmsghdr *messages, unsigned count, int flags) {
  static _Atomic sendmmsg_function next;
  if (!next) next = (sendmmsg_function)dlsym(RTLD_NEXT, "sendmmsg");
  if (count > 0 && refused(messages[0].msg_hdr.msg_name)) return -1;
  return next(descriptor, messages, count, flags);
}

ssize_t sendmsg(int descriptor, const struct msghdr *message, int flags) {
  static _Atomic sendmsg_function next;
  if (!next) next = (sendmsg_function)dlsym(RTLD_NEXT, "sendmsg");
  if (refused(message->msg_name)) return -1;
  return next(descriptor, message, flags);
}

ssize_t sendto(int descriptor, const void *data, size_t length, int flags, const struct sockaddr *address,
               socklen_t address_length) {
  static _Atomic sendto_function next;
  if (!next) next = (sendto_function)dlsym(RTLD_NEXT, "sendto");
  if (refused(address)) return -1;
  return next(descriptor, data, length, flags, address, address_length);
}

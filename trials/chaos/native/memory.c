// Memory that changes under a region, and how much of the C heap is in use.
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "gremlin.h"

// protect ADDRESS LENGTH PROT
int gremlin_protect(const long long *numbers, char *result, size_t room) {
  (void)result, (void)room;
  return mprotect((void *)numbers[0], (size_t)numbers[1], (int)numbers[2]) ? errno : 0;
}

// What was in the memory that is unmapped. One range at a time.
static void *saved;

// unmap ADDRESS LENGTH
int gremlin_unmap(const long long *numbers, char *result, size_t room) {
  (void)result, (void)room;
  void *address = (void *)numbers[0];
  const size_t length = (size_t)numbers[1];
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
  if (saved) return EBUSY;
  void *copy = mmap(NULL, length, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (copy == MAP_FAILED) return errno;
  // Nothing is written between the copy and the end.
  if (mprotect(address, length, PROT_READ)) return errno;
  memcpy(copy, address, length);
  saved = copy;
  return munmap(address, length) ? errno : 0;
}

// remap ADDRESS LENGTH: fills the hole again, at once and with what was there, so that the owner can free what it
// allocated. EEXIST if somebody else's memory is there by now.
int gremlin_remap(const long long *numbers, char *result, size_t room) {
  (void)result, (void)room;
  void *wanted = (void *)numbers[0];
  const size_t length = (size_t)numbers[1];
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
  if (mmap(wanted, length, PROT_NONE, flags, -1, 0) == MAP_FAILED) return errno;
  if (mremap(saved, length, length, MREMAP_MAYMOVE | MREMAP_FIXED, wanted) == MAP_FAILED) return errno;
  saved = NULL;
  return 0;
}

// heap: the bytes that malloc has given out
int gremlin_heap(const long long *numbers, char *result, size_t room) {
  (void)numbers;
  const struct mallinfo2 info = mallinfo2();
  snprintf(result, room, "%zu", info.uordblks + info.hblkhd);
  return 0;
}

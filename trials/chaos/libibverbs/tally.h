// What one end saw: how much it verified, what was wrong, and which errors came in which order.
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

enum { NOTES = 8 };

struct tally {
  uint64_t bytes;
  char wrong[NOTES][160];
  const char *statuses[NOTES];
  int wrongs, errors;
};

// An error that the library reported: the name of a status, or of an errno.
void tally_error(struct tally *tally, const char *name);
void tally_status(struct tally *tally, enum ibv_wc_status status);
// Something that must not happen, whatever the disturbance.
__attribute__((format(printf, 2, 3))) void tally_wrong(struct tally *tally, const char *format, ...);

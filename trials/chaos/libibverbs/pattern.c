#include "pattern.h"

#include "memory.h"

enum { POOL = 1 << 20 };
static uint8_t pool[POOL];

uint32_t pattern_random(uint32_t *state) {
  *state += 0x6d2b79f5;
  uint32_t mixed = (*state ^ (*state >> 15)) * (*state | 1);
  mixed ^= mixed + (mixed ^ (mixed >> 7)) * (mixed | 61);
  return mixed ^ (mixed >> 14);
}

void pattern_make(uint32_t seed) {
  uint32_t state = seed;
  for (uint32_t at = 0; at < POOL; at++) pool[at] = (uint8_t)(pattern_random(&state) >> 13);
}

static const uint8_t *piece(uint32_t place, uint32_t length) { return pool + place % (POOL - length); }

const uint8_t *pattern_message(uint32_t sender, uint32_t number, uint32_t longest, uint32_t *length) {
  const uint32_t mixed = (number * 2 + sender + 1) * 2654435761U;
  // Half of the messages are short, as in most programs.
  const uint32_t room = (mixed & 1) == 0 && longest > 256 ? 256 : longest;
  *length = 1 + (mixed >> 1) % room;
  return piece((mixed >> 7) + number, *length);
}

const uint8_t *pattern_readable(uint32_t sender) { return piece(sender * 4099, READABLE); }

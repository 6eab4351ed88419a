// What every message holds, both ends know: a piece of one long text without pattern, made from a seed.
#pragma once

#include <stdint.h>

// Before anything else: the text.
void pattern_make(uint32_t seed);

// Message `number` of sender 0 or 1, of 1 to `longest` bytes.
const uint8_t *pattern_message(uint32_t sender, uint32_t number, uint32_t longest, uint32_t *length);

// What an end offers for READs: READABLE bytes.
const uint8_t *pattern_readable(uint32_t sender);

// The next of a row of random numbers.
uint32_t pattern_random(uint32_t *state);

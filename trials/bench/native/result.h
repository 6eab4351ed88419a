// Times, and the one line of JSON in which a program reports its measurement.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Of a clock that only goes forward.
uint64_t now_ns(void);

// The sample below which that share of them lies, from 0 to 1. Sorts `samples`.
uint64_t percentile_of(uint64_t* samples, size_t count, double share);

// {"unit":"ns","min":…,"median":…,"p99":…,"p999":…} of round trips. Sorts `samples`.
void print_round_trips(uint64_t* samples, size_t count);

// The same, with one figure more.
void print_round_trips_with(uint64_t* samples, size_t count, const char* name, double value);

// {"unit":"MB/s","rate":…,"messages":…}: 10^6 bytes a second, and messages a second.
void print_rate(uint64_t messages, uint64_t size, uint64_t duration_ns);

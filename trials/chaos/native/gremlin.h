// What the parts of the gremlin share: the library that is loaded into a victim and does harm from inside, on command.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// A command has a name and up to four numbers. It returns 0 or an errno, and may write a result for its caller.
typedef int (*gremlin_command)(const long long *numbers, char *result, size_t room);

int gremlin_protect(const long long *numbers, char *result, size_t room);
int gremlin_unmap(const long long *numbers, char *result, size_t room);
int gremlin_remap(const long long *numbers, char *result, size_t room);
int gremlin_heap(const long long *numbers, char *result, size_t room);
int gremlin_clock(const long long *numbers, char *result, size_t room);
int gremlin_block(const long long *numbers, char *result, size_t room);
int gremlin_handler(const long long *numbers, char *result, size_t room);
int gremlin_fork(const long long *numbers, char *result, size_t room);
int gremlin_buffers(const long long *numbers, char *result, size_t room);
int gremlin_sendfail(const long long *numbers, char *result, size_t room);

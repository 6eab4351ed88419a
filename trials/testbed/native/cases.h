// The list of the cases; each file of cases adds its own.
#ifndef VERBS_TESTBED_CASES_H
#define VERBS_TESTBED_CASES_H

#include <string.h>

#include "run.h"

struct case_list {
  struct interop_case cases[256];
  int count;
};

// Memory for the argument of a case, for the life of the process.
void *list_keep(struct case_list *list, size_t size);
__attribute__((format(printf, 4, 5))) void list_add(struct case_list *list,
                                                    void (*run)(struct run *run, const void *argument),
                                                    const void *argument, const char *format, ...);

void add_message_cases(struct case_list *list);
void add_stream_cases(struct case_list *list);
void add_error_cases(struct case_list *list);
void add_receive_cases(struct case_list *list);
void add_window_cases(struct case_list *list);
void add_datagram_cases(struct case_list *list);

#endif

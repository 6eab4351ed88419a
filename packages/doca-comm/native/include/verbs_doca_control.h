/* Control of the BlueField model, for tests. Exported by libverbs-soft-doca.so.1. */
#ifndef VERBS_DOCA_CONTROL_H_
#define VERBS_DOCA_CONTROL_H_

#ifdef __cplusplus
extern "C" {
#endif

/* Makes calls below the channel fail. The plan is "KIND:NTH[:ERRNO]" joined by '+', for example
 * "create_queue:2:ENOMEM": the nth call of that kind from now on fails, once. Kinds: allocate, descriptor, open_device,
 * query_device, register_memory, create_queue, modify_queue, destroy_queue, post_send, post_receive, poll, registry.
 * NULL removes the plan. Returns 0, or EINVAL for an invalid plan. */
int verbs_doca_set_faults(const char *plan);
/* Why the last listen or connect of this thread failed, where DOCA's code does not tell: which file is in the way, and
 * whose it is. Never NULL; empty if there is no more to say. Valid until the thread's next call. */
const char *verbs_doca_last_error(void);

#ifdef __cplusplus
}
#endif

#endif

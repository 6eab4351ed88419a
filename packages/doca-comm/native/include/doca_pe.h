/* The progress engine and tasks (libdoca_common). */
#ifndef DOCA_PE_H_
#define DOCA_PE_H_

#include <stddef.h>
#include <stdint.h>

#include "doca_ctx.h"
#include "doca_error.h"
#include "doca_types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct doca_pe;
struct doca_task;

/* Of success and failure alike. */
typedef void (*doca_task_completion_cb_t)(struct doca_task *task, union doca_data task_user_data,
                                          union doca_data ctx_user_data);

enum doca_task_submit_flag {
  DOCA_TASK_SUBMIT_FLAG_NONE = 0,
  DOCA_TASK_SUBMIT_FLAG_FLUSH = 1 << 0,
  DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS = 1 << 1
};

enum doca_pe_event_mode { DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE = 0, DOCA_PE_EVENT_MODE_PROGRESS_ALL = 1 };

doca_error_t doca_pe_create(struct doca_pe **pe);
doca_error_t doca_pe_destroy(struct doca_pe *pe);
doca_error_t doca_pe_connect_ctx(struct doca_pe *pe, struct doca_ctx *ctx);
uint8_t doca_pe_progress(struct doca_pe *pe);

doca_error_t doca_pe_get_notification_handle(const struct doca_pe *pe, doca_notification_handle_t *handle);
doca_error_t doca_pe_request_notification(struct doca_pe *pe);
doca_error_t doca_pe_clear_notification(struct doca_pe *pe, doca_notification_handle_t handle);
doca_error_t doca_pe_set_event_mode(struct doca_pe *pe, enum doca_pe_event_mode mode);
doca_error_t doca_pe_get_num_inflight_tasks(const struct doca_pe *pe, size_t *num_inflight_tasks);

doca_error_t doca_task_submit(struct doca_task *task);
doca_error_t doca_task_try_submit(struct doca_task *task);
doca_error_t doca_task_submit_ex(struct doca_task *task, uint32_t flags);
void doca_task_free(struct doca_task *task);
doca_error_t doca_task_get_status(const struct doca_task *task);
void doca_task_set_user_data(struct doca_task *task, union doca_data user_data);
union doca_data doca_task_get_user_data(const struct doca_task *task);
struct doca_ctx *doca_task_get_ctx(const struct doca_task *task);

#ifdef __cplusplus
}
#endif

#endif

/* Contexts (libdoca_common): what a progress engine drives, whatever the library it is of. */
#ifndef DOCA_CTX_H_
#define DOCA_CTX_H_

#include <stddef.h>
#include <stdint.h>

#include "doca_dev.h"
#include "doca_error.h"
#include "doca_types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct doca_ctx;

enum doca_ctx_states {
  DOCA_CTX_STATE_IDLE = 0,
  DOCA_CTX_STATE_STARTING = 1,
  DOCA_CTX_STATE_RUNNING = 2,
  DOCA_CTX_STATE_STOPPING = 3
};

typedef void (*doca_ctx_state_changed_callback_t)(const union doca_data user_data, struct doca_ctx *ctx,
                                                  enum doca_ctx_states prev_state, enum doca_ctx_states next_state);

doca_error_t doca_ctx_start(struct doca_ctx *ctx);
doca_error_t doca_ctx_stop(struct doca_ctx *ctx);
doca_error_t doca_ctx_get_state(const struct doca_ctx *ctx, enum doca_ctx_states *state);
doca_error_t doca_ctx_set_state_changed_cb(struct doca_ctx *ctx, doca_ctx_state_changed_callback_t cb);
doca_error_t doca_ctx_set_user_data(struct doca_ctx *ctx, union doca_data user_data);
doca_error_t doca_ctx_get_user_data(const struct doca_ctx *ctx, union doca_data *user_data);
doca_error_t doca_ctx_get_num_inflight_tasks(const struct doca_ctx *ctx, size_t *num_inflight_tasks);

/* From 3.0. */
void doca_ctx_flush_tasks(struct doca_ctx *ctx);
doca_error_t doca_ctx_set_completion_vector(struct doca_ctx *ctx, uint32_t completion_vector);
doca_error_t doca_ctx_cap_get_num_completion_vectors(const struct doca_devinfo *devinfo,
                                                     uint32_t *num_completion_vectors);

#ifdef __cplusplus
}
#endif

#endif

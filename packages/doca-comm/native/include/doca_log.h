/* The log of libdoca_common, in the spelling of DOCA 2.2 and of 2.5. */
#ifndef DOCA_LOG_H_
#define DOCA_LOG_H_

#include <stdint.h>
#include <stdio.h>

#include "doca_error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum doca_log_level {
  DOCA_LOG_LEVEL_DISABLE = 10,
  DOCA_LOG_LEVEL_CRIT = 20,
  DOCA_LOG_LEVEL_ERROR = 30,
  DOCA_LOG_LEVEL_WARNING = 40,
  DOCA_LOG_LEVEL_INFO = 50,
  DOCA_LOG_LEVEL_DEBUG = 60,
  DOCA_LOG_LEVEL_TRACE = 70,
};

struct doca_log_backend;

/* 2.2. */
doca_error_t doca_log_source_register(const char *source_name, int *source);
doca_error_t doca_log_source_destroy(int source);
doca_error_t doca_log_create_standard_backend(void);
doca_error_t doca_log_global_level_set(uint32_t level);
uint32_t doca_log_global_level_get(void);

/* 2.5. */
doca_error_t doca_log_register_source(const char *source_name, int *source);
doca_error_t doca_log_unregister_source(int source);
doca_error_t doca_log_backend_create_standard(void);
doca_error_t doca_log_level_set_global_lower_limit(uint32_t level);
uint32_t doca_log_level_get_global_lower_limit(void);
doca_error_t doca_log_backend_create_with_file_sdk(FILE *fptr, struct doca_log_backend **backend);
doca_error_t doca_log_backend_set_sdk_level(struct doca_log_backend *backend, uint32_t level);

/* The arguments behind `source` differ, under one name and one version node:
 *   2.2  int line, const char *format, ...
 *   2.5  const char *fname, int line, const char *func, const char *format, ...
 * The function that registered the source tells which of them the program was compiled for. */
doca_error_t doca_log(uint32_t level, int source, ...);

#ifdef __cplusplus
}
#endif

#endif

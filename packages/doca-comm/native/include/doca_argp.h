/* The parser of arguments that DOCA's samples use (libdoca_argp): flags of the command line, without commands and JSON.
 */
#ifndef DOCA_ARGP_H_
#define DOCA_ARGP_H_

#include "doca_error.h"
#include "doca_log.h"

#ifdef __cplusplus
extern "C" {
#endif

struct doca_argp_param;

/* The value (a char *, int *, bool * or double *, which the callback copies), and the program's configuration. */
typedef doca_error_t (*doca_argp_param_cb_t)(void *param, void *config);
typedef doca_error_t (*doca_argp_validation_cb_t)(void *config);
typedef doca_error_t (*doca_argp_dpdk_cb_t)(int argc, char **argv);

enum doca_argp_type {
  DOCA_ARGP_TYPE_UNKNOWN = 0,
  DOCA_ARGP_TYPE_STRING,
  DOCA_ARGP_TYPE_INT,
  DOCA_ARGP_TYPE_BOOLEAN,
  DOCA_ARGP_TYPE_DEVICE,
  DOCA_ARGP_TYPE_DEVICE_REP,
  DOCA_ARGP_TYPE_DOUBLE
};

doca_error_t doca_argp_init(const char *program_name, void *program_config);
doca_error_t doca_argp_start(int argc, char **argv);
doca_error_t doca_argp_destroy(void);
void doca_argp_usage(void);

doca_error_t doca_argp_param_create(struct doca_argp_param **param);
doca_error_t doca_argp_param_destroy(struct doca_argp_param *param);
void doca_argp_param_set_short_name(struct doca_argp_param *param, const char *name);
void doca_argp_param_set_long_name(struct doca_argp_param *param, const char *name);
void doca_argp_param_set_arguments(struct doca_argp_param *param, const char *arguments);
void doca_argp_param_set_description(struct doca_argp_param *param, const char *description);
void doca_argp_param_set_callback(struct doca_argp_param *param, doca_argp_param_cb_t callback);
void doca_argp_param_set_type(struct doca_argp_param *param, enum doca_argp_type type);
void doca_argp_param_set_mandatory(struct doca_argp_param *param);
void doca_argp_param_set_cli_only(struct doca_argp_param *param);
void doca_argp_param_set_multiplicity(struct doca_argp_param *param);
/* Takes the parameter, also when it fails. */
doca_error_t doca_argp_register_param(struct doca_argp_param *input_param);
doca_error_t doca_argp_register_version_callback(doca_argp_param_cb_t callback);
doca_error_t doca_argp_register_validation_callback(doca_argp_validation_cb_t callback);
void doca_argp_set_dpdk_program(doca_argp_dpdk_cb_t callback);

doca_error_t doca_argp_get_log_level(int *log_level);
doca_error_t doca_argp_get_sdk_log_level(int *log_level);

#ifdef __cplusplus
}
#endif

#endif

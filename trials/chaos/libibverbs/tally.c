#include "tally.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const kStatuses[] = {
    [IBV_WC_SUCCESS] = "SUCCESS",
    [IBV_WC_LOC_LEN_ERR] = "LOC_LEN_ERR",
    [IBV_WC_LOC_QP_OP_ERR] = "LOC_QP_OP_ERR",
    [IBV_WC_LOC_EEC_OP_ERR] = "LOC_EEC_OP_ERR",
    [IBV_WC_LOC_PROT_ERR] = "LOC_PROT_ERR",
    [IBV_WC_WR_FLUSH_ERR] = "WR_FLUSH_ERR",
    [IBV_WC_MW_BIND_ERR] = "MW_BIND_ERR",
    [IBV_WC_BAD_RESP_ERR] = "BAD_RESP_ERR",
    [IBV_WC_LOC_ACCESS_ERR] = "LOC_ACCESS_ERR",
    [IBV_WC_REM_INV_REQ_ERR] = "REM_INV_REQ_ERR",
    [IBV_WC_REM_ACCESS_ERR] = "REM_ACCESS_ERR",
    [IBV_WC_REM_OP_ERR] = "REM_OP_ERR",
    [IBV_WC_RETRY_EXC_ERR] = "RETRY_EXC_ERR",
    [IBV_WC_RNR_RETRY_EXC_ERR] = "RNR_RETRY_EXC_ERR",
    [IBV_WC_FATAL_ERR] = "FATAL_ERR",
    [IBV_WC_RESP_TIMEOUT_ERR] = "RESP_TIMEOUT_ERR",
    [IBV_WC_GENERAL_ERR] = "GENERAL_ERR",
};

void tally_error(struct tally *tally, const char *name) {
  for (int i = 0; i < tally->errors; i++) {
    if (strcmp(tally->statuses[i], name) == 0) return;
  }
  if (tally->errors < NOTES) tally->statuses[tally->errors++] = name;
}

void tally_status(struct tally *tally, enum ibv_wc_status status) {
  const char *name = (size_t)status < sizeof kStatuses / sizeof *kStatuses ? kStatuses[status] : NULL;
  tally_error(tally, name ? name : "an unknown status");
}

void tally_wrong(struct tally *tally, const char *format, ...) {
  if (tally->wrongs == NOTES) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(tally->wrong[tally->wrongs++], sizeof *tally->wrong, format, arguments);
  va_end(arguments);
}

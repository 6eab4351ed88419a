/* A program as the SDK's compiler makes it: the log in the words of 2.2 and of 2.5, the version, the functions of the
 * node INTERNAL, and the parser of arguments. Prints what is wrong, and "all as documented" at the end. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doca_argp.h"
#include "doca_log.h"
#include "doca_version.h"

void *priv_doca_zalloc(size_t size);
void priv_doca_free(void *memory);
size_t priv_doca_strlcpy(char *to, const char *from, size_t size);

static int wrong = 0;
#define EXPECT(condition)                                    \
  do {                                                       \
    if (!(condition)) {                                      \
      printf("line %d: not so: %s\n", __LINE__, #condition); \
      wrong = 1;                                             \
    }                                                        \
  } while (0)

static void versions(void) {
  static const char *const names[][2] = {
      {"doca_log", "EXPERIMENTAL"},
      {"doca_log_source_register", "EXPERIMENTAL"},
      {"doca_log_source_destroy", "EXPERIMENTAL"},
      {"doca_log_create_standard_backend", "EXPERIMENTAL"},
      {"doca_log_global_level_get", "EXPERIMENTAL"},
      {"doca_log_global_level_set", "EXPERIMENTAL"},
      {"doca_log_register_source", "EXPERIMENTAL"},
      {"doca_log_unregister_source", "EXPERIMENTAL"},
      {"doca_log_backend_create_standard", "EXPERIMENTAL"},
      {"doca_log_backend_create_with_file_sdk", "EXPERIMENTAL"},
      {"doca_log_backend_set_sdk_level", "EXPERIMENTAL"},
      {"doca_log_level_get_global_lower_limit", "EXPERIMENTAL"},
      {"doca_log_level_set_global_lower_limit", "EXPERIMENTAL"},
      {"doca_version_runtime", "EXPERIMENTAL"},
      {"priv_doca_zalloc", "INTERNAL"},
      {"priv_doca_free", "INTERNAL"},
      {"priv_doca_strlcpy", "INTERNAL"},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    if (dlvsym(RTLD_DEFAULT, names[i][0], names[i][1])) continue;
    printf("there is no %s@%s\n", names[i][0], names[i][1]);
    wrong = 1;
  }
}

static void log_of_2_2(void) {
  int source = 0, other = 0;
  EXPECT(doca_log_source_register(NULL, &source) == DOCA_ERROR_INVALID_VALUE);
  EXPECT(doca_log_source_register("OLDER", NULL) == DOCA_ERROR_INVALID_VALUE);
  EXPECT(doca_log_source_register("OLDER", &source) == DOCA_SUCCESS);
  EXPECT(doca_log_source_register("OLDER::OTHER", &other) == DOCA_SUCCESS);
  EXPECT(source != other);
  EXPECT(doca_log_global_level_get() == DOCA_LOG_LEVEL_INFO);
  EXPECT(doca_log(DOCA_LOG_LEVEL_WARNING, source, 11, "%s is %d", "the answer", 42) == DOCA_SUCCESS);
  EXPECT(doca_log(DOCA_LOG_LEVEL_DEBUG, source, 12, "not shown") == DOCA_SUCCESS);
  EXPECT(doca_log_global_level_set(DOCA_LOG_LEVEL_DEBUG) == DOCA_SUCCESS);
  EXPECT(doca_log(DOCA_LOG_LEVEL_DEBUG, other, 13, "shown, with %.1f and %llu", 1.5, 1ull << 40) == DOCA_SUCCESS);
  EXPECT(doca_log_global_level_set(7) == DOCA_ERROR_INVALID_VALUE);
  EXPECT(doca_log_global_level_get() == DOCA_LOG_LEVEL_DEBUG);
  EXPECT(doca_log(5, source, 1, "x") == DOCA_ERROR_INVALID_VALUE);
  EXPECT(doca_log(DOCA_LOG_LEVEL_ERROR, source, 1, NULL) == DOCA_ERROR_INVALID_VALUE);
  EXPECT(doca_log(DOCA_LOG_LEVEL_ERROR, 999, 1, "x") == DOCA_ERROR_INVALID_VALUE);
  EXPECT(doca_log(DOCA_LOG_LEVEL_ERROR, -1, 1, "x") == DOCA_ERROR_INVALID_VALUE);
  EXPECT(doca_log_source_destroy(source) == DOCA_SUCCESS);
  EXPECT(doca_log_source_destroy(source) == DOCA_ERROR_INVALID_VALUE);
  EXPECT(doca_log(DOCA_LOG_LEVEL_ERROR, source, 1, "x") == DOCA_ERROR_INVALID_VALUE);
  EXPECT(doca_log_source_destroy(other) == DOCA_SUCCESS);
}

static void log_of_2_5(void) {
  struct doca_log_backend *backend = NULL;
  int source = 0;
  EXPECT(doca_log_backend_create_with_file_sdk(stderr, &backend) == DOCA_SUCCESS);
  EXPECT(doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_WARNING) == DOCA_SUCCESS);
  EXPECT(doca_log_backend_set_sdk_level(NULL, DOCA_LOG_LEVEL_WARNING) == DOCA_ERROR_INVALID_VALUE);
  EXPECT(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_INFO) == DOCA_SUCCESS);
  EXPECT(doca_log_level_get_global_lower_limit() == DOCA_LOG_LEVEL_INFO);
  EXPECT(doca_log_register_source("NEWER", &source) == DOCA_SUCCESS);
  EXPECT(doca_log(DOCA_LOG_LEVEL_INFO, source, "file.c", 21, "main", "%d and %s", 7, "eight") == DOCA_SUCCESS);
  EXPECT(doca_log_source_destroy(source) == DOCA_ERROR_INVALID_VALUE);
  EXPECT(doca_log_unregister_source(source) == DOCA_SUCCESS);
  for (int i = 0; i < 5000; ++i) {
    EXPECT(doca_log_register_source("NEWER", &source) == DOCA_SUCCESS);
    EXPECT(doca_log_unregister_source(source) == DOCA_SUCCESS);
  }
}

/* Nothing waits in a buffer, although standard output is no terminal here. */
static void log_is_written_at_once(void) {
  int source = 0;
  struct stat before, after;
  fflush(stdout);
  const int kept = dup(STDOUT_FILENO);
  FILE *file = tmpfile();
  EXPECT(kept >= 0 && file && dup2(fileno(file), STDOUT_FILENO) >= 0);
  EXPECT(doca_log_source_register("AT ONCE", &source) == DOCA_SUCCESS);
  EXPECT(fstat(fileno(file), &before) == 0);
  EXPECT(doca_log(DOCA_LOG_LEVEL_INFO, source, 31, "a line") == DOCA_SUCCESS);
  EXPECT(fstat(fileno(file), &after) == 0);
  fflush(stdout);
  dup2(kept, STDOUT_FILENO);
  close(kept);
  fclose(file);
  EXPECT(after.st_size > before.st_size);
  EXPECT(doca_log_source_destroy(source) == DOCA_SUCCESS);
}

static void internal(void) {
  unsigned char *memory = priv_doca_zalloc(4096);
  EXPECT(memory != NULL);
  for (size_t i = 0; i < 4096; ++i) EXPECT(memory[i] == 0);
  priv_doca_free(memory);
  priv_doca_free(NULL);
  char text[5] = "xxxx";
  EXPECT(priv_doca_strlcpy(text, "abcdefg", sizeof text) == 7);
  EXPECT(strcmp(text, "abcd") == 0);
  EXPECT(priv_doca_strlcpy(text, "z", sizeof text) == 1);
  EXPECT(strcmp(text, "z") == 0);
  EXPECT(priv_doca_strlcpy(text, "abc", 0) == 3);
  EXPECT(strcmp(text, "z") == 0);
}

static doca_error_t leave(void *param, void *config) {
  (void)param;
  (void)config;
  return doca_argp_destroy();
}

/* A callback that ends the parser: the flags behind it are not read any more. */
static void arguments_that_end(void) {
  struct doca_argp_param *param = NULL;
  char *words[] = {"program", "--leave", "--other"};
  EXPECT(doca_argp_init("program", NULL) == DOCA_SUCCESS);
  EXPECT(doca_argp_param_create(&param) == DOCA_SUCCESS);
  doca_argp_param_set_long_name(param, "leave");
  doca_argp_param_set_description(param, "Ends the parser");
  doca_argp_param_set_type(param, DOCA_ARGP_TYPE_BOOLEAN);
  doca_argp_param_set_callback(param, leave);
  EXPECT(doca_argp_register_param(param) == DOCA_SUCCESS);
  EXPECT(doca_argp_start(3, words) == DOCA_ERROR_BAD_STATE);
  EXPECT(doca_argp_destroy() == DOCA_ERROR_BAD_STATE);
}

int main(void) {
  versions();
  EXPECT(doca_log_create_standard_backend() == DOCA_SUCCESS);
  log_of_2_2();
  log_of_2_5();
  log_is_written_at_once();
  internal();
  arguments_that_end();
  EXPECT(strncmp(doca_version_runtime(), "2.", 2) == 0);
  if (!wrong) printf("all as documented\n");
  return wrong;
}

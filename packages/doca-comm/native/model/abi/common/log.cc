// The log of libdoca_common, for programs that print their own messages with it. The model itself writes nothing there.
#include <time.h>

#include <array>
#include <atomic>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "doca_log.h"

namespace {

// A registered source. No lock guards them: a child of fork() may log, too.
struct Source {
  std::atomic<const char*> name{nullptr};  // stays when it is unregistered: another thread may be printing it
  std::atomic<bool> used{false};
};

class Sources {
 public:
  // The identifier, or 0 if there is no room.
  int add(const char* name) {
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      Source& source = sources_[i];
      if (source.used.exchange(true)) continue;
      const char* before = source.name;
      if (!before || std::strcmp(before, name) != 0) source.name = strdup(name);
      if (source.name) return static_cast<int>(i) + 1;
      source.used = false;
      break;
    }
    return 0;
  }
  bool remove(int id) { return has(id) && sources_[index(id)].used.exchange(false); }
  // nullptr if there is none.
  const char* name_of(int id) const {
    return has(id) && sources_[index(id)].used ? sources_[index(id)].name.load() : nullptr;
  }

 private:
  bool has(int id) const { return id > 0 && index(id) < sources_.size(); }
  static std::size_t index(int id) { return static_cast<std::size_t>(id) - 1; }
  std::array<Source, 1024> sources_;
};

constinit Sources older, newer;  // of programs of 2.2, and of 2.5
// The identifiers of the newer ones begin here: doca_log() tells the two conventions apart by the source.
constexpr int kNewer = 1 << 24;

constinit std::atomic<std::uint32_t> lower_limit{DOCA_LOG_LEVEL_INFO};
// Without the standard backend everything goes to stderr, with it messages up to INFO go to stdout.
constinit std::atomic<bool> standard{false};

struct Level {
  std::uint32_t level;
  const char* name;
};
constexpr Level kLevels[] = {{DOCA_LOG_LEVEL_CRIT, "CRT"},    {DOCA_LOG_LEVEL_ERROR, "ERR"},
                             {DOCA_LOG_LEVEL_WARNING, "WRN"}, {DOCA_LOG_LEVEL_INFO, "INF"},
                             {DOCA_LOG_LEVEL_DEBUG, "DBG"},   {DOCA_LOG_LEVEL_TRACE, "TRC"}};

const char* name_of(std::uint32_t level) {
  for (const Level& each : kLevels) {
    if (each.level == level) return each.name;
  }
  return nullptr;
}

bool is_limit(std::uint32_t level) { return level == DOCA_LOG_LEVEL_DISABLE || name_of(level); }

using LogText = std::unique_ptr<char, void (*)(void*)>;

doca_error_t print(std::uint32_t level, const char* source, int line, const char* format, va_list arguments) {
  if (!format || !name_of(level)) return DOCA_ERROR_INVALID_VALUE;
  if (level > lower_limit) return DOCA_SUCCESS;
  char* message = nullptr;
  if (vasprintf(&message, format, arguments) < 0) return DOCA_ERROR_NO_MEMORY;
  const LogText text(message, std::free);
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  localtime_r(&now.tv_sec, &parts);
  FILE* const stream = standard && level >= DOCA_LOG_LEVEL_INFO ? stdout : stderr;
  // One call, so that lines of two threads do not mix.
  std::fprintf(stream, "[%02d:%02d:%02d:%06ld][DOCA][%s][%s:%d] %s\n", parts.tm_hour, parts.tm_min, parts.tm_sec,
               now.tv_nsec / 1000, name_of(level), source, line, message);
  // As the vendor's: who reads a pipe sees each message at once, and a killed program has written all of them.
  std::fflush(stream);
  return DOCA_SUCCESS;
}

doca_error_t add_source(Sources& sources, int first, const char* name, int* source) {
  if (!name || !source) return DOCA_ERROR_INVALID_VALUE;
  const int id = sources.add(name);
  if (id == 0) return DOCA_ERROR_NO_MEMORY;
  *source = first + id;
  return DOCA_SUCCESS;
}

}  // namespace

// A backend for the messages of the library itself, which has none.
struct doca_log_backend {
  std::atomic<std::uint32_t> level{DOCA_LOG_LEVEL_INFO};
};

namespace {

constinit doca_log_backend only;

}  // namespace

extern "C" {

doca_error_t doca_log_source_register(const char* source_name, int* source) {
  return add_source(older, 0, source_name, source);
}
doca_error_t doca_log_source_destroy(int source) {
  return older.remove(source) ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}
doca_error_t doca_log_register_source(const char* source_name, int* source) {
  return add_source(newer, kNewer, source_name, source);
}
doca_error_t doca_log_unregister_source(int source) {
  return source > kNewer && newer.remove(source - kNewer) ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_log_create_standard_backend(void) {
  standard = true;
  return DOCA_SUCCESS;
}
doca_error_t doca_log_backend_create_standard(void) { return doca_log_create_standard_backend(); }

doca_error_t doca_log_global_level_set(std::uint32_t level) {
  if (!is_limit(level)) return DOCA_ERROR_INVALID_VALUE;
  lower_limit = level;
  return DOCA_SUCCESS;
}
std::uint32_t doca_log_global_level_get(void) { return lower_limit; }
doca_error_t doca_log_level_set_global_lower_limit(std::uint32_t level) { return doca_log_global_level_set(level); }
std::uint32_t doca_log_level_get_global_lower_limit(void) { return lower_limit; }

doca_error_t doca_log_backend_create_with_file_sdk(FILE* fptr, doca_log_backend** backend) {
  if (!fptr || !backend) return DOCA_ERROR_INVALID_VALUE;
  *backend = &only;
  return DOCA_SUCCESS;
}
doca_error_t doca_log_backend_set_sdk_level(doca_log_backend* backend, std::uint32_t level) {
  if (backend != &only || !is_limit(level)) return DOCA_ERROR_INVALID_VALUE;
  backend->level = level;
  return DOCA_SUCCESS;
}

doca_error_t doca_log(std::uint32_t level, int source, ...) {
  va_list arguments;
  va_start(arguments, source);
  doca_error_t result = DOCA_ERROR_INVALID_VALUE;
  if (const char* older_name = older.name_of(source)) {
    const int line = va_arg(arguments, int);
    const char* format = va_arg(arguments, const char*);
    result = print(level, older_name, line, format, arguments);
  } else if (const char* newer_name = source > kNewer ? newer.name_of(source - kNewer) : nullptr) {
    static_cast<void>(va_arg(arguments, const char*));  // the file: the source's name is shorter
    const int line = va_arg(arguments, int);
    static_cast<void>(va_arg(arguments, const char*));
    const char* format = va_arg(arguments, const char*);
    result = print(level, newer_name, line, format, arguments);
  }
  va_end(arguments);
  return result;
}

}  // extern "C"

#include "host/error.h"

#include <cerrno>
#include <utility>

namespace verbs::soft::host {

namespace {
thread_local std::string text_of_thread;
}

int fail(int error, std::string text) {
  text_of_thread = std::move(text);
  errno = error;
  return error;
}

const std::string& last_error() { return text_of_thread; }
void clear_last_error() { text_of_thread.clear(); }

}  // namespace verbs::soft::host

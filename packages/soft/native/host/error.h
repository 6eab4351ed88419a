// The text of a failed call: beside errno, it says what happened and what helps.
#pragma once

#include <string>

namespace verbs::soft::host {

// Remembers `text` as this thread's last error and sets errno. Returns `error`.
int fail(int error, std::string text);

// The calling thread's last error text; empty if nothing failed yet. Valid until the thread's next failure.
const std::string& last_error();
void clear_last_error();

}  // namespace verbs::soft::host

// How a benchmark ends when something is wrong: one line on standard error, exit code 1.
#pragma once

// `format` as for printf(), without a line end.
_Noreturn void fail(const char* format, ...) __attribute__((format(printf, 1, 2)));

// As fail(), followed by the text of `error`, an errno value.
_Noreturn void fail_with(int error, const char* what);

#include <cstddef>

#include "doca_error.h"

namespace {

struct Text {
  const char* name;
  const char* description;
};

constexpr Text kTexts[] = {
    {"DOCA_SUCCESS", "Success"},
    {"DOCA_ERROR_UNKNOWN", "Unknown error"},
    {"DOCA_ERROR_NOT_PERMITTED", "Operation not permitted"},
    {"DOCA_ERROR_IN_USE", "Resource already in use"},
    {"DOCA_ERROR_NOT_SUPPORTED", "Operation not supported"},
    {"DOCA_ERROR_AGAIN", "Resource temporarily unavailable, try again"},
    {"DOCA_ERROR_INVALID_VALUE", "Invalid input"},
    {"DOCA_ERROR_NO_MEMORY", "Memory allocation failure"},
    {"DOCA_ERROR_INITIALIZATION", "Resource initialization failure"},
    {"DOCA_ERROR_TIME_OUT", "Timer expired waiting for resource"},
    {"DOCA_ERROR_SHUTDOWN", "Shut down in process or completed"},
    {"DOCA_ERROR_CONNECTION_RESET", "Connection reset by peer"},
    {"DOCA_ERROR_CONNECTION_ABORTED", "Connection aborted"},
    {"DOCA_ERROR_CONNECTION_INPROGRESS", "Connection in progress"},
    {"DOCA_ERROR_NOT_CONNECTED", "Not connected"},
    {"DOCA_ERROR_NO_LOCK", "Unable to acquire required lock"},
    {"DOCA_ERROR_NOT_FOUND", "Resource not found"},
    {"DOCA_ERROR_IO_FAILED", "Input/output operation failed"},
    {"DOCA_ERROR_BAD_STATE", "Bad state"},
    {"DOCA_ERROR_UNSUPPORTED_VERSION", "Unsupported version"},
    {"DOCA_ERROR_OPERATING_SYSTEM", "Operating system call failure"},
    {"DOCA_ERROR_DRIVER", "Driver call failure"},
    {"DOCA_ERROR_UNEXPECTED", "Unexpected scenario was detected"},
    {"DOCA_ERROR_ALREADY_EXIST", "Resource already exists"},
    {"DOCA_ERROR_FULL", "Resource is full"},
    {"DOCA_ERROR_EMPTY", "Resource is empty"},
    {"DOCA_ERROR_IN_PROGRESS", "Operation is in progress"},
    {"DOCA_ERROR_TOO_BIG", "Requested operation is too big"},
    {"DOCA_ERROR_AUTHENTICATION", "Authentication failure"},
    {"DOCA_ERROR_BAD_CONFIG", "Configuration is not valid"},
    {"DOCA_ERROR_SKIPPED", "Result is valid, but some data was skipped"},
    {"DOCA_ERROR_DEVICE_FATAL_ERROR", "Device fatal error"},
};

constexpr Text kUnknown{"unrecognized error code", "unrecognized error code"};

const Text& text_of(doca_error_t error) {
  const auto number = static_cast<std::size_t>(error);
  return number < sizeof kTexts / sizeof *kTexts ? kTexts[number] : kUnknown;
}

}  // namespace

extern "C" {

const char* doca_error_get_name(doca_error_t error) { return text_of(error).name; }
const char* doca_error_get_descr(doca_error_t error) { return text_of(error).description; }
const char* doca_get_error_name(doca_error_t error) { return text_of(error).name; }
const char* doca_get_error_string(doca_error_t error) { return text_of(error).description; }

}  // extern "C"

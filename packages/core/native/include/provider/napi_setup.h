// Includes node-addon-api with the settings that all addons share.
#pragma once

#ifndef NAPI_VERSION
#define NAPI_VERSION 9
#endif
#define NODE_ADDON_API_DISABLE_DEPRECATED
// Errors of Node-API are C++ exceptions, and every C++ exception, std::bad_alloc too, becomes a JavaScript one.
#ifndef NODE_ADDON_API_CPP_EXCEPTIONS_ALL
#define NODE_ADDON_API_CPP_EXCEPTIONS_ALL
#endif
#ifndef NAPI_CPP_EXCEPTIONS
#define NAPI_CPP_EXCEPTIONS
#endif
// A worker that is being terminated takes no exception any more, which must not end the process.
#ifndef NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS
#define NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS
#endif
// A finalizer may run while JavaScript must not: the compiler rejects one that could call into it.
#define NODE_ADDON_API_REQUIRE_BASIC_FINALIZERS
#include <napi.h>

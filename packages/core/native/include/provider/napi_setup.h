// Includes node-addon-api with the settings that all of its users share.
#pragma once

#ifndef NAPI_VERSION
#define NAPI_VERSION 9
#endif
#define NODE_ADDON_API_DISABLE_DEPRECATED
// A finalizer may run while JavaScript must not: the compiler rejects one that could call into it.
#define NODE_ADDON_API_REQUIRE_BASIC_FINALIZERS
#include <napi.h>

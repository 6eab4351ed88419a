// The one place that includes Node-API, so that every file sees it with the same settings.
#pragma once

#ifndef NAPI_VERSION
#define NAPI_VERSION 9
#endif
#define NODE_ADDON_API_DISABLE_DEPRECATED
// Finalizers may run while JavaScript must not: the compiler then refuses one that could call into it.
#define NODE_ADDON_API_REQUIRE_BASIC_FINALIZERS
#include <napi.h>

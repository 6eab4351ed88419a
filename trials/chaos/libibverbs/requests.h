// Calls that need what the process lacks just now: descriptors or memory.
#pragma once

// Prints how often each call ended how, as a JSON object: outcomes, and what was strange.
void print_requests(const char *device, int rounds, int megabytes);

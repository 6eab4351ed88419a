// Takes the reasons of refusals and failures (nic/base/reasons.h) out of the process, as JSON: into the report that
// other processes ask for, and line by line into the file of VERBS_SOFT_WHY, for `verbs why`.
#pragma once

#include <string>

#include "host/publication/publisher.h"
#include "nic/base/reasons.h"

namespace verbs::soft::host {

std::string gid_name(const wire::Gid& gid);

void write_reason(Json& json, const std::string& device, const nic::ReasonEvent& event);

// Appends the event to the file, if there is one: an existing regular file of this user, for no other to write to. Each
// line is one write, and the file is opened for it, so that it outlives an abort, and programs that close all
// descriptors. Of a reason that repeats itself the first lines are written, and then those whose count is a power of
// two. On standard error ("-") a peer whose packets come to no queue pair is told once for each reason. Leaves errno as
// it is.
void append_reason(const std::string& device, const nic::ReasonEvent& event);

// The same of a device that could not be opened, with the text of that error.
void append_open_failure(const std::string& device, int error, const std::string& text);

}  // namespace verbs::soft::host

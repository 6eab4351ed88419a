// The machine that this process is on: a folder that it shares with other programs of a `verbs run` (machine/folder.h).
#pragma once

#include <cstddef>
#include <string>

namespace verbs::soft::host {

// The path of the folder; empty: the process is on no such machine.
const std::string& machine_folder();

// Leaves word that a program of the machine uses the software NIC. Only the first call of a process does something.
void note_use();

// Whether a file may be that long: beyond the process's limit, writing would end it by SIGXFSZ.
bool may_be_long(std::size_t size);

}  // namespace verbs::soft::host

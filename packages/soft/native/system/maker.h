// Makes the tree of the configuration in the environment, where no launcher has.
#pragma once

#include <string_view>

namespace verbs::soft::system {

// As `name` in the machine's folder "configurations". Only when the process begins.
void make_tree_for(std::string_view name);

}  // namespace verbs::soft::system

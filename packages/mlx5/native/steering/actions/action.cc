#include "steering/actions/action.h"

#include <algorithm>

namespace verbs::mlx5::steering {

namespace {

int stage_of(const Action& action) {
  struct Stage {
    int operator()(const ReformatAction& reformat) const { return is_encap(reformat.reformat->type()) ? 8 : 0; }
    int operator()(const PopVlan&) const { return 1; }
    int operator()(const CountAction&) const { return 2; }
    int operator()(const PushVlan&) const { return 3; }
    int operator()(const ModifyAction&) const { return 4; }
    int operator()(const SetTag&) const { return 5; }
    int operator()(const MeterAction&) const { return 6; }
    int operator()(const FirstHitAction&) const { return 7; }
    int operator()(const Destination&) const { return 9; }
  };
  return std::visit(Stage{}, action);
}

}  // namespace

ActionList::ActionList(std::vector<Action> actions) : steps_(std::move(actions)) {
  std::stable_sort(steps_.begin(), steps_.end(),
                   [](const Action& a, const Action& b) { return stage_of(a) < stage_of(b); });
  if (!steps_.empty() && std::holds_alternative<Destination>(steps_.back())) {
    destination_ = std::get<Destination>(steps_.back());
  }
  std::erase_if(steps_, [](const Action& action) { return std::holds_alternative<Destination>(action); });
}

}  // namespace verbs::mlx5::steering

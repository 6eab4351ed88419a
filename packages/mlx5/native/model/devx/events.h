// Events of devx objects: channels, and what they are subscribed to.
#pragma once

#include <cstdint>
#include <span>

#include "model/device/device.h"

namespace verbs::mlx5::model {

class DevxObject;

// The events that the model raises, by their numbers in the event queue.
enum class DevxEvent : std::uint16_t { kCqError = 0x04 };

inline constexpr std::size_t kEventData = 28;  // bytes of an event queue's entry that belong to its type

// Delivers an event to all that are subscribed to it.
void raise_devx_event(const DevxObject& object, DevxEvent event, std::span<const std::uint8_t, kEventData> data);
// The subscriptions to an object end with it.
void forget_subscriptions(const DevxObject& object);
void forget_event_channels(Context& context);
// The channels of answers to queries.
void forget_completions(Context& context);

}  // namespace verbs::mlx5::model

// A message as the datagram that carries it.
#pragma once

#include "cm/mad.h"

namespace verbs::soft::cm {

template <typename Message>
Mad make_mad(std::uint64_t transaction, Attribute attribute, const Message& message) {
  Mad mad{};
  MadHeader{transaction, attribute}.emit(&mad);
  message.emit(&mad);
  return mad;
}

}  // namespace verbs::soft::cm

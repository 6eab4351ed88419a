// The faults of the matrix: plans in the words of the configuration.
#pragma once

#include <string>
#include <vector>

#include "test/faults/operation.h"

namespace verbs::soft::test::faults {

struct FaultCase {
  enum class For { kAll, kReliable, kReads, kAtomics };

  const char* name;
  // On the requester's link. {last} stands for the opcode of a message's last packet.
  const char* plan;
  For operations = For::kAll;
  // A reliable transfer may run out of retries.
  bool may_end = false;
  // Nothing gets through: a reliable transfer must run out of retries.
  bool dead = false;
};

// A rule that drops for ever may keep step with the retries and drop the same packet in each; so rules have an end
// below the eight tries of a packet. By chance, eight tries in a row fail only where the loss is heavy.
inline const std::vector<FaultCase>& fault_cases() {
  using For = FaultCase::For;
  static const std::vector<FaultCase> all = {
      {"none", ""},
      {"drop_1", "drop=0.01,direction=both"},
      {"drop_5", "drop=0.05,direction=both"},
      {"drop_30", "drop=0.3,direction=both", For::kAll, true},
      {"first_lost", "fault=drop:nth=1"},
      {"second_lost", "fault=drop:nth=2"},
      {"every_seventh_lost", "fault=drop:every=7:count=6"},
      {"burst_lost", "fault=drop:nth=3:count=6"},
      {"last_lost", "fault=drop:opcode={last}:nth=1"},
      {"last_lost_again", "fault=drop:opcode={last}:count=3"},
      {"retransmission_lost", "fault=drop:psn=0xfffff2:count=3"},
      {"ack_lost", "fault=drop:aeth=ack:direction=ingress:nth=1", For::kReliable},
      {"acks_lost", "fault=drop:aeth=ack:direction=ingress:count=4", For::kReliable},
      {"every_third_ack_lost", "fault=drop:aeth=ack:direction=ingress:every=3:count=6", For::kReliable},
      {"nak_lost", "fault=drop:nth=2,fault=drop:aeth=nak:direction=ingress:nth=1", For::kReliable},
      {"read_first_lost", "fault=drop:opcode=rc_read_response_first:direction=ingress:nth=1", For::kReads},
      {"read_middle_lost", "fault=drop:opcode=rc_read_response_middle:direction=ingress:nth=2", For::kReads},
      {"read_last_lost", "fault=drop:opcode=rc_read_response_last:direction=ingress:nth=1:count=2", For::kReads},
      {"atomic_answer_lost", "fault=drop:opcode=rc_atomic_acknowledge:direction=ingress:every=2:count=6",
       For::kAtomics},
      {"duplicate", "duplicate=0.2,direction=both"},
      {"duplicate_all", "duplicate=1,direction=both"},
      {"reorder", "reorder=0.1,direction=both"},
      {"reorder_much", "reorder=0.5,direction=both"},
      {"corrupt", "corrupt=0.05,direction=both"},
      {"truncate", "truncate=0.05,direction=both"},
      {"delay", "delay=100,direction=both"},
      {"jitter", "delay=20,jitter=80,direction=both"},
      {"slow", "bytes_per_second=50000000,direction=both"},
      {"late_duplicates", "fault=duplicate:delay=300:probability=0.1:direction=both"},
      {"storm", "drop=0.04,duplicate=0.1,reorder=0.1,corrupt=0.02,truncate=0.02,jitter=30,direction=both", For::kAll,
       true},
      {"dead", "drop=1,direction=both", For::kAll, true, true},
      {"deaf", "drop=1,direction=ingress", For::kReliable, true, true},
  };
  return all;
}

inline bool applies(const FaultCase& fault, const Operation& operation) {
  switch (fault.operations) {
    case FaultCase::For::kReliable:
      return reliable(operation);
    case FaultCase::For::kReads:
      return operation.type == IBV_QPT_RC && operation.opcodes.front() == IBV_WR_RDMA_READ;
    case FaultCase::For::kAtomics:
      return operation.type == IBV_QPT_RC && is_atomic(operation.opcodes.front());
    default:
      return true;
  }
}

}  // namespace verbs::soft::test::faults

import { members, type Members } from './members.js';

enum FlowAttrTypeValue {
  /** `IBV_FLOW_ATTR_NORMAL`: the packets that its specs describe. */
  NORMAL = 0,
  /** `IBV_FLOW_ATTR_ALL_DEFAULT`: all that no other flow takes; has no specs. */
  ALL_DEFAULT = 1,
  /** `IBV_FLOW_ATTR_MC_DEFAULT`: all multicast that no other flow takes; has no specs. */
  MC_DEFAULT = 2,
  /** `IBV_FLOW_ATTR_SNIFFER`: a copy of everything on the port. */
  SNIFFER = 3,
}
/** `enum ibv_flow_attr_type`: which packets a flow takes, before its specs choose among them. */
export const FlowAttrType: Members<typeof FlowAttrTypeValue> = members(FlowAttrTypeValue);
/** A value of {@link FlowAttrType}. A number that comes from C is one as well; another enumeration's value is not. */
export type FlowAttrType = FlowAttrTypeValue;

enum FlowFlagsValue {
  /** `IBV_FLOW_ATTR_FLAGS_DONT_TRAP`: a packet goes on to flows of lower priority, too. */
  DONT_TRAP = 1 << 1,
  /** `IBV_FLOW_ATTR_FLAGS_EGRESS`: sent packets, not received ones. */
  EGRESS = 1 << 2,
}
/** `enum ibv_flow_flags`, to be or-ed. */
export const FlowFlags: Members<typeof FlowFlagsValue> = members(FlowFlagsValue);
/** Or-ed values of {@link FlowFlags}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type FlowFlags = FlowFlagsValue | 0;

enum CounterDescriptionValue {
  /** `IBV_COUNTER_PACKETS`. */
  PACKETS = 0,
  /** `IBV_COUNTER_BYTES`. */
  BYTES = 1,
}
/** `enum ibv_counter_description`: the unit of a flow's counter. */
export const CounterDescription: Members<typeof CounterDescriptionValue> = members(CounterDescriptionValue);
/** A value of {@link CounterDescription}. A number that comes from C is one as well; another enumeration's value is not. */
export type CounterDescription = CounterDescriptionValue;

enum ReadCountersFlagsValue {
  /** `IBV_READ_COUNTERS_ATTR_PREFER_CACHED`: values of a moment ago will do, where the device keeps some. */
  ATTR_PREFER_CACHED = 1,
}
/** `enum ibv_read_counters_flags`. */
export const ReadCountersFlags: Members<typeof ReadCountersFlagsValue> = members(ReadCountersFlagsValue);
/** Or-ed values of {@link ReadCountersFlags}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type ReadCountersFlags = ReadCountersFlagsValue | 0;

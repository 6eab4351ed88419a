import { members, type Members } from './members.js';

enum EventTypeValue {
  /** `IBV_EVENT_CQ_ERR`: a completion queue overflowed. Completions are lost: polls of it fail, and queue pairs that receive there. */
  CQ_ERR = 0,
  /** `IBV_EVENT_QP_FATAL`: a queue pair is in ERR, for an error that no completion can report. */
  QP_FATAL = 1,
  /** `IBV_EVENT_QP_REQ_ERR`: the peer sent an invalid request; the queue pair is in ERR. */
  QP_REQ_ERR = 2,
  /** `IBV_EVENT_QP_ACCESS_ERR`: the peer violated access rights; the queue pair is in ERR. */
  QP_ACCESS_ERR = 3,
  /** `IBV_EVENT_COMM_EST`: the first packet came in while the queue pair was in RTR. */
  COMM_EST = 4,
  /** `IBV_EVENT_SQ_DRAINED`: in SQD, all requests that had begun are done. Asked for by `enSqdAsyncNotify`. */
  SQ_DRAINED = 5,
  /** `IBV_EVENT_PATH_MIG`: a queue pair changed to its alternate path. */
  PATH_MIG = 6,
  /** `IBV_EVENT_PATH_MIG_ERR`: it could not. */
  PATH_MIG_ERR = 7,
  /** `IBV_EVENT_DEVICE_FATAL`: the device failed: close everything of it. */
  DEVICE_FATAL = 8,
  /** `IBV_EVENT_PORT_ACTIVE`: a port works. */
  PORT_ACTIVE = 9,
  /** `IBV_EVENT_PORT_ERR`: a port lost its link. */
  PORT_ERR = 10,
  /** `IBV_EVENT_LID_CHANGE`: a port has another LID. */
  LID_CHANGE = 11,
  /** `IBV_EVENT_PKEY_CHANGE`: a port's table of partition keys changed. */
  PKEY_CHANGE = 12,
  /** `IBV_EVENT_SM_CHANGE`: a port has another subnet manager. */
  SM_CHANGE = 13,
  /** `IBV_EVENT_SRQ_ERR`: a shared receive queue failed; its queue pairs take no more messages. */
  SRQ_ERR = 14,
  /**
   * `IBV_EVENT_SRQ_LIMIT_REACHED`: a shared receive queue has fewer requests than its `srqLimit`: post some, arm again.
   */
  SRQ_LIMIT_REACHED = 15,
  /**
   * `IBV_EVENT_QP_LAST_WQE_REACHED`: a failed queue pair took its last request of a shared receive queue; it may be
   * closed.
   */
  QP_LAST_WQE_REACHED = 16,
  /** `IBV_EVENT_CLIENT_REREGISTER`: the subnet manager lost its registrations, for instance of multicast groups. */
  CLIENT_REREGISTER = 17,
  /** `IBV_EVENT_GID_CHANGE`: a port's GID table changed. */
  GID_CHANGE = 18,
  /** `IBV_EVENT_WQ_FATAL`: a receive work queue failed. */
  WQ_FATAL = 19,
  /** `IBV_EVENT_DEVICE_SPEED_CHANGE`: ports of the device have another speed; see `queryPortSpeed`. Since release 62. */
  DEVICE_SPEED_CHANGE = 20,
}
/** `enum ibv_event_type`: the events of `ctx.events` and `ctx.asyncEvents`. */
export const EventType: Members<typeof EventTypeValue> = members(EventTypeValue);
/** A value of {@link EventType}. A number that comes from C is one as well; another enumeration's value is not. */
export type EventType = EventTypeValue;

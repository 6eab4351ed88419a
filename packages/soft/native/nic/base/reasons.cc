#include "nic/base/reasons.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string_view>

namespace verbs::soft::nic {
namespace {

// Formats of a value: none (decimal), x (hexadecimal), access, attributes, state, type, operation, mtu (bytes), wait
// (ibv_qp_attr.timeout).
constexpr ReasonInfo kReasonTable[] = {
    {Reason::kNone, "none", "nothing was wrong", ""},

    {Reason::kDropMalformed, "drop_malformed", "the packet has no form that RoCE v2 knows",
     "another program sends to UDP port 4791, or a fault of the link has damaged it"},
    {Reason::kDropDestination, "drop_destination", "the packet is for an address that is none of this port's GIDs",
     "compare the dgid of the sender with the GIDs of this port (verbs gids)"},
    {Reason::kDropPortDown, "drop_port_down", "port {port} is down, or has lost the GID of the packet",
     "the link came down by a call, by `link=down` in the configuration, or the address was removed"},
    {Reason::kDropTunnel, "drop_tunnel",
     "the packet came by another way than the queue pair has agreed on with its peer",
     "both ends need the same tunnel, or none"},
    {Reason::kDropUnknownQp, "drop_unknown_qp", "no queue pair here has the number {number:x}",
     "compare the number that the sender has (dest_qp_num, remote_qpn) with qp_num here: did that program end, or "
     "destroy it?"},
    {Reason::kDropPkey, "drop_pkey", "the packet has the partition key {pkey:x}, and this port has ffff only",
     "use pkey_index 0 at both ends"},
    {Reason::kDropIcrc, "drop_icrc", "the checksum (ICRC) of the packet is wrong",
     "the packet was damaged on its way: by a fault that is configured, or by a peer that computes it otherwise"},
    {Reason::kDropPort, "drop_port", "the queue pair is at port {of_queue_pair}, and the packet came to port {port}",
     "give the peer the GID of the port that the queue pair was initialized with"},
    {Reason::kDropTransport, "drop_transport",
     "the queue pair is of type {type:type}, and the packet has opcode {opcode:x}, of another type",
     "both ends need queue pairs of the same type"},
    {Reason::kDropState, "drop_state", "the queue pair is in {state:state}, where it takes no such packet",
     "requests are taken from RTR on, their answers from RTS on: bring the queue pair there before the peer sends"},
    {Reason::kDropPeer, "drop_peer", "the packet is not from the peer that the queue pair is connected to",
     "compare dgid of the address vector (ah_attr.grh.dgid) with the GID that the peer sends from (sgid_index there)"},
    {Reason::kDropQkey, "drop_qkey", "the datagram has the Q_Key {sent:x}, and the queue pair has {has:x}",
     "give the sender the Q_Key of this queue pair (remote_qkey); a key with the top bit set stands for the sender's "
     "own"},
    {Reason::kDropNoReceive, "drop_no_receive", "no receive request is posted for the message of {bytes} bytes",
     "post receive requests before the peer sends, and enough of them: datagrams and UC messages are not repeated"},
    {Reason::kDropNoRoom, "drop_no_room",
     "the receive request has room for {room} bytes, and a datagram of {bytes} bytes needs {needed}: 40 for the global "
     "route come before it",
     "post receive requests that are 40 bytes longer than the longest datagram"},
    {Reason::kDropLongDatagram, "drop_long_datagram",
     "the datagram has {bytes} bytes, and the active MTU of port {port} is {mtu}", "give both ports the same MTU"},
    {Reason::kDropLostMessage, "drop_lost_message",
     "a packet before this one is missing (expected was {expected:x}, this one is {psn:x}), so the message is lost",
     "UC repeats nothing: what is lost on the way, or while the receiver was not ready, does not come again"},
    {Reason::kDropSourcePort, "drop_source_port",
     "the packet is from UDP port {port}, where no peer sends from that this device hears",
     "software NICs send from port 4791; the kernel's soft-RoCE and adapters are heard if they are on another host, "
     "and "
     "`foreign=` of the configuration does not leave them out"},
    {Reason::kDropGroupQpn, "drop_group_qpn",
     "the datagram is for a multicast group, and names queue pair {number:x} instead of 0xffffff",
     "give the sender 0xffffff as remote_qpn: a group is sent to by no number of its own"},
    {Reason::kDropFailed, "drop_failed", "the queue pair is in ERR, where it takes no packet",
     "its first failure has the cause; to go on, reset both ends and connect them again"},

    {Reason::kQpRight, "qp_right", "access of the queue pair lacks {needed:access}: it is {has:access}",
     "give qp_access_flags that right where the queue pair goes to INIT (or later, in RTR and RTS)"},
    {Reason::kNoReadsTaken, "no_reads_taken",
     "max_dest_rd_atomic of the queue pair is 0: it takes no READ and no atomic",
     "give it a larger max_dest_rd_atomic where it goes to RTR"},
    {Reason::kUnknownRkey, "unknown_rkey", "no memory region or window has the R_Key {rkey:x}",
     "the peer needs rkey (not lkey) of a region that is still registered; a new registration has a new key"},
    {Reason::kRkeyOfOtherPd, "rkey_of_other_pd", "the region of R_Key {rkey:x} is in another protection domain",
     "register the memory in the protection domain of the queue pair"},
    {Reason::kRegionRight, "region_right",
     "access of the region of R_Key {rkey:x} lacks {needed:access}: it is {has:access}",
     "register the memory with that right; remote writing needs LOCAL_WRITE, too"},
    {Reason::kBeyondRegion, "beyond_region",
     "the request is for {length} bytes at {address:x}, and {outside} of them are outside the region of R_Key {rkey:x}",
     "compare the address and the length of the request with those of the registration there"},
    {Reason::kClosedWindow, "closed_window", "the memory window of R_Key {rkey:x} is not open to this queue pair",
     "bind it first; a type 2 window is for the queue pair that bound it, and its key changes with every bind"},
    {Reason::kMemoryGone, "memory_gone", "the memory at {address:x} is not mapped any more, or not with that right",
     "keep the memory of a region mapped until it is deregistered"},
    {Reason::kMisaligned, "misaligned", "the address {address:x} of the atomic is no multiple of 8",
     "atomics work on 8 bytes at an address that is a multiple of 8"},
    {Reason::kShortReceive, "short_receive", "a receive request of {room} bytes is too short for a message of {bytes}",
     "post receive requests as long as the longest message"},
    {Reason::kMessageOrder, "message_order", "the packet (opcode {opcode:x}) does not continue the message in progress",
     "another program sends to this queue pair, or one with old sequence numbers: reset both ends"},
    {Reason::kPacketLength, "packet_length",
     "the packets have {bytes} bytes of payload, and the path MTU of this queue pair is {mtu}",
     "give both ends one path MTU: path_mtu, which the interface at an end lowers if its packets are shorter (ip "
     "link)"},
    {Reason::kMessageLength, "message_length", "the packets of the WRITE have other lengths than its header says",
     "both ends need the same path_mtu"},
    {Reason::kRequestForm, "request_form", "a field of the request has a value that is not allowed",
     "the sender is another implementation, or its packet was made by hand"},
    {Reason::kUnknownSrq, "unknown_srq", "no shared receive queue of this XRC domain has the number {number:x}",
     "give the sender the number that ibv_get_srq_num() returns here"},
    {Reason::kNotInvalidated, "not_invalidated",
     "no memory window that this queue pair may invalidate has the key {rkey:x}",
     "SEND_WITH_INV is for type 2 windows that this queue pair has bound"},
    {Reason::kSrqDestroyed, "srq_destroyed", "the shared receive queue was destroyed within a message",
     "destroy it when no peer sends any more"},
    {Reason::kCqOverrun, "cq_overrun", "the completion queue is full: it has {capacity} entries",
     "create it with as many entries as all its queues have requests, or poll it more often"},
    {Reason::kTagHeader, "tag_header",
     "the tag matching header of a message with operation {opcode} and {bytes} bytes is wrong",
     "it begins with struct ibv_tmh; a rendezvous (IBV_TMH_RNDV) has struct ibv_rvh next, and max_rndv_hdr_size bytes "
     "at "
     "most"},

    {Reason::kUnknownLkey, "unknown_lkey", "no memory region has the L_Key {lkey:x} of element {index} of the list",
     "look at lkey: the region must be registered until the request is complete"},
    {Reason::kLkeyOfOtherPd, "lkey_of_other_pd",
     "the region of L_Key {lkey:x} (element {index} of the list) is in another protection domain",
     "register the memory in the protection domain of the queue pair, or of its shared receive queue"},
    {Reason::kLocalRight, "local_right",
     "the region of L_Key {lkey:x} (element {index} of the list) lacks LOCAL_WRITE, and data arrives there",
     "register the memory of receive requests, READs and atomics with LOCAL_WRITE"},
    {Reason::kBeyondLocalRegion, "beyond_local_region",
     "element {index} of the list has {length} bytes, and {outside} of them are outside the region of L_Key {lkey:x}",
     "compare addr and length of the element with those of the registration"},
    {Reason::kLongMessage, "long_message", "the message has {bytes} bytes, and the longest of the device is {most}",
     "send it in parts"},
    {Reason::kLongDatagram, "long_datagram", "the datagram has {bytes} bytes, and the active MTU of the port is {mtu}",
     "a datagram is one packet: send parts, or use a connection (RC)"},
    {Reason::kFrameLength, "frame_length", "the frame has {bytes} bytes, and the port sends {least} to {most}",
     "a frame begins with its Ethernet header; the longest is the MTU with 18 bytes more"},
    {Reason::kOperationMissing, "operation_missing", "a queue pair of type {type:type} has no {operation:operation}",
     "UD has SEND only; READ and atomics need RC or XRC"},
    {Reason::kHandleOfOtherPd, "handle_of_other_pd", "the address handle is of another protection domain",
     "create it in the protection domain of the queue pair"},
    {Reason::kNoReadsAsked, "no_reads_asked", "max_rd_atomic of the queue pair is 0: it sends no READ and no atomic",
     "give it a larger max_rd_atomic where it goes to RTS"},
    {Reason::kWindowNotBound, "window_not_bound", "the memory window of key {rkey:x} cannot be bound so",
     "the region needs MW_BIND (and LOCAL_WRITE for remote writing) and must hold the range; a type 2 window must be "
     "invalidated before"},
    {Reason::kWindowNotInvalidated, "window_not_invalidated",
     "no memory window that this queue pair may invalidate has the key {rkey:x}",
     "LOCAL_INV is for type 2 windows that this queue pair has bound"},
    {Reason::kPeerRefused, "peer_refused", "the peer refused the {operation:operation}",
     "the peer's end knows more: run it under `verbs why` as well"},
    {Reason::kNoReceiveAtPeer, "no_receive_at_peer",
     "the peer had no receive request posted, and the repetitions are used up (rnr_retry is {retries})",
     "post receive requests before the peer sends; rnr_retry 7 waits for ever"},
    {Reason::kNoAnswer, "no_answer",
     "the peer did not answer, and the repetitions are used up (retry_cnt is {retries}, each after {wait:wait})",
     "is the peer alive, and its queue pair in RTR or RTS? Compare dest_qp_num, GIDs and PSNs of both ends; a firewall "
     "may stop UDP port 4791"},
    {Reason::kBadResponse, "bad_response", "the peer answered what was not asked",
     "another program is at the other end, or a queue pair with old sequence numbers: reset both ends"},
    {Reason::kFlushed, "flushed", "the request was posted to a queue pair that has failed, or was on it when it failed",
     "the first failure has the cause"},

    {Reason::kSendState, "send_state", "the queue pair is in {state:state} and takes send requests from RTS on",
     "bring it to RTS first: INIT, RTR, RTS by ibv_modify_qp"},
    {Reason::kReceiveState, "receive_state",
     "the queue pair is in {state:state} and takes receive requests from INIT on", "bring it to INIT first"},
    {Reason::kQueueFull, "queue_full", "the queue is full: it has room for {capacity} requests",
     "poll completions before posting on; requests without a completion give their room back with the next one that "
     "has "
     "one"},
    {Reason::kTooManySges, "too_many_sges",
     "the request has {given} scatter/gather elements, and the queue takes {most}",
     "create the queue with a larger max_send_sge, max_recv_sge or max_sge"},
    {Reason::kUnknownOperation, "unknown_operation", "no queue pair has the opcode {opcode}", "look at wr.opcode"},
    {Reason::kNeverInline, "never_inline", "IBV_SEND_INLINE does not go with {operation:operation}",
     "READ and atomics bring data to this side: leave the flag out"},
    {Reason::kLongInline, "long_inline",
     "the message has {bytes} bytes and IBV_SEND_INLINE, and the queue pair takes {most}",
     "leave the flag out, or create the queue pair with a larger max_inline_data"},
    {Reason::kInlineUnmapped, "inline_unmapped", "the inline data at {address:x} is not mapped",
     "look at sg_list[].addr"},
    {Reason::kNoAddressHandle, "no_address_handle", "the datagram has no address handle, or one that is destroyed",
     "set wr.ud.ah, and keep the handle until the completion"},
    {Reason::kAtomicLength, "atomic_length", "the {operation:operation} is for 8 bytes, and the list has {bytes}",
     "give one element of 8 bytes"},
    {Reason::kPostForm, "post_form", "a field of the {operation:operation} request has a value that is not allowed",
     "BIND_MW needs a type 2 window and no list, FLUSH a known type and level, IBV_SEND_IP_CSUM a device that has it"},
    {Reason::kReceivesFromSrq, "receives_from_srq", "the queue pair takes its receive requests from a shared queue",
     "post them by ibv_post_srq_recv"},
    {Reason::kReceivesNothing, "receives_nothing", "an XRC initiator (XRC_SEND) receives nothing",
     "post receive requests to the shared receive queue of the target"},

    {Reason::kOperationNotAsked, "operation_not_asked",
     "the queue pair was created without an operation that is between ibv_wr_start and ibv_wr_complete",
     "name the operation in send_ops_flags of ibv_create_qp_ex"},
    {Reason::kBatchForm, "batch_form", "a call between ibv_wr_start and ibv_wr_complete does not fit the request",
     "each setter needs a request before it, of a queue pair whose type has it, and no more elements or inline bytes "
     "than "
     "cap has"},
    {Reason::kSendsOfTagMatching, "sends_of_tag_matching",
     "the send queue is the device's own, since the receive requests come from a shared queue of type TM",
     "send on another queue pair to the same peer"},
    {Reason::kNoTagMatching, "no_tag_matching", "the shared receive queue has no tagged buffers",
     "create it by ibv_create_srq_ex with IBV_SRQT_TM, IBV_SRQ_INIT_ATTR_TM and a CQ"},
    {Reason::kTagOperation, "tag_operation", "there is no operation {opcode} on tagged buffers with flags {flags:x}",
     "opcode is IBV_WR_TAG_ADD, _DEL or _SYNC, flags IBV_OPS_SIGNALED and IBV_OPS_TM_SYNC"},
    {Reason::kTagListFull, "tag_list_full", "the list is full: it has room for {capacity} tagged buffers",
     "keep further ones in the program until messages have taken some, or create the queue with a larger max_num_tags"},
    {Reason::kTagHandle, "tag_handle", "no tagged buffer of the queue ever had the handle {handle:x}",
     "give tm.handle as IBV_WR_TAG_ADD has set it"},
    {Reason::kHandlePort, "handle_port", "the address handle is of port {handle}, and the queue pair of port {own}",
     "create the handle with the port_num of the queue pair"},
    {Reason::kOtherState, "other_state", "cur_qp_state says {given:state}, and the queue pair is in {state:state}",
     "look at the state of the queue pair (ibv_query_qp)"},
    {Reason::kNoTransition, "no_transition",
     "a queue pair of type {type:type} has no step from {from:state} to {to:state}",
     "the way is RESET, INIT, RTR, RTS, each once: for another peer (a second connect) move it to RESET first"},
    {Reason::kMissingAttributes, "missing_attributes",
     "the step from {from:state} to {to:state} of {type:type} needs {missing:attributes}, too",
     "set the field and its bit in attr_mask"},
    {Reason::kExtraAttributes, "extra_attributes",
     "the step from {from:state} to {to:state} of {type:type} does not take {extra:attributes}",
     "leave that bit out of attr_mask"},
    {Reason::kDraining, "draining", "the send queue drains (SQD), and has not ended", "wait for IBV_EVENT_SQ_DRAINED"},
    {Reason::kNoSuchPort, "no_such_port",
     "{attribute:attributes} names port {port}, and the last port of the device is {ports}", "ports count from 1"},
    {Reason::kPkeyIndex, "pkey_index", "pkey_index is {index}, and the port has one partition key, of index 0",
     "use 0"},
    {Reason::kLargeMtu, "large_mtu", "path_mtu is {given:mtu}, and the active MTU of the port is {active:mtu}",
     "use active_mtu of ibv_query_port at most, at both ends the same"},
    {Reason::kLargeAttribute, "large_attribute", "the value {given} of {attribute:attributes} is above {most}",
     "look at ibv_modify_qp(3) and the limits of ibv_query_device"},
    {Reason::kNoAlternatePath, "no_alternate_path", "RoCE has no alternate path",
     "leave IBV_QP_ALT_PATH out of attr_mask"},
    {Reason::kNoRateLimit, "no_rate_limit", "the device has no packet pacing",
     "leave IBV_QP_RATE_LIMIT out of attr_mask"},
    {Reason::kNoGrh, "no_grh",
     "the address has no global route (ah_attr.is_global is 0), and every path of RoCE has one",
     "set is_global to 1 and fill in grh, with the GID of the peer as dgid"},
    {Reason::kGidIndex, "gid_index",
     "sgid_index is {index}, and that entry of the port's table is empty or for RoCE v1",
     "look at the GID table (verbs gids, show_gids) for one of RoCE v2"},
    {Reason::kAddressForm, "address_form", "the flow label has more than 20 bits, or dlid is not 0",
     "the device is strict"},
    {Reason::kNoDestination, "no_destination", "the GID of the peer (ah_attr.grh.dgid) is all zero",
     "fill in grh.dgid with the GID of the peer"},
    {Reason::kIpVersions, "ip_versions", "one of the GIDs is IPv4 and the other IPv6: entry {index} and the peer's",
     "choose the sgid_index of a GID of the peer's kind"},
    {Reason::kGroupAsPeer, "group_as_peer", "the GID of the peer (ah_attr.grh.dgid) is a multicast group",
     "a connection has one peer"},
    {Reason::kUnreachable, "unreachable", "the network has no route to the GID of the peer",
     "look at `ip route get` of its address"},
    {Reason::kOtherGid, "other_gid",
     "entry {index} of the GID table (sgid_index) does not reach the peer, and entry {reaches} does",
     "give that entry as sgid_index (`ibv_rc_pingpong -g`, `ib_write_bw -x`): a loopback address reaches its own host "
     "only"},
    {Reason::kAddressTaken, "address_taken",
     "the address of the GID cannot be bound: another user's process may have it",
     "`verbs doctor` says who has UDP port 4791; choose another sgid_index"},

    {Reason::kQpType, "qp_type", "the device has no queue pairs of type {type:type}",
     "look at supported_qpts and raw_packet_caps of ibv_query_device_ex, and at the README of @verbs/soft"},
    {Reason::kQpParts, "qp_parts", "the protection domain or a completion queue is missing",
     "give pd, send_cq and recv_cq"},
    {Reason::kQpLimit, "qp_limit",
     "cap asks for more than the device has: {send_wr} and {recv_wr} requests, {sge} elements, {inline} bytes inline",
     "look at max_qp_wr, max_sge of ibv_query_device; 512 bytes go inline"},
    {Reason::kTagMatchingQp, "tag_matching_qp",
     "a shared receive queue of type TM is for RC queue pairs of its protection domain that have no send requests, not "
     "for "
     "{type:type} with {send_wr}",
     "set max_send_wr to 0: the send queue is the device's own"},
    {Reason::kRawPrivilege, "raw_privilege", "queue pairs of type RAW_PACKET are for programs with CAP_NET_RAW",
     "run the program as root, or give it that capability"},

    {Reason::kCqEntries, "cq_entries", "cqe is {given}, and a completion queue has 1 to {most} entries",
     "give as many as the queues have requests that complete to it"},
    {Reason::kCompVector, "comp_vector", "comp_vector is {given}, and the context has {vectors}, from 0", "use 0"},
    {Reason::kSrqLimit, "srq_limit",
     "the queue is to have {wr} requests of {sge} elements, and the device has {most_wr} of {most_sge} at most",
     "look at max_srq_wr and max_srq_sge of ibv_query_device"},
    {Reason::kSrqParts, "srq_parts", "an attribute of the shared receive queue is missing, or of another context",
     "each type needs pd; XRC needs xrcd and cq, TM needs cq and tm_cap, with their bits in comp_mask"},
    {Reason::kTagLimit, "tag_limit",
     "the queue is to have {tags} tagged buffers and {ops} operations, and the device has 1 to {most_tags} and 1 to "
     "{most_ops}",
     "look at tm_caps of ibv_query_device_ex"},
    {Reason::kObjectLimit, "object_limit", "the device has room for {limit} objects of that kind, and all exist",
     "destroy those that are not used any more"},

    {Reason::kGroupType, "group_type", "the queue pair is of type {type:type}, and groups are for datagrams",
     "attach a queue pair of type UD"},
    {Reason::kNoGroup, "no_group", "the GID is no multicast group",
     "the first byte of a group is ff; an IPv4 group is ::ffff:224.0.0.0 to ::ffff:239.255.255.255"},
    {Reason::kNotAttached, "not_attached", "the queue pair is not in that group",
     "detach the GID that was attached, once, from the same queue pair"},

    {Reason::kUnknownAccess, "unknown_access",
     "the device has no memory with access {access:access}, or none of that length there",
     "look at access and length of ibv_reg_mr"},
    {Reason::kRemoteWithoutLocal, "remote_without_local",
     "access {access:access} lets the peer write, and lacks LOCAL_WRITE", "give IBV_ACCESS_LOCAL_WRITE, too"},
    {Reason::kUnmapped, "unmapped", "the {length} bytes at {address:x} are not all mapped, or not with that access",
     "register memory that the program has, and may write to where access has writing"},

    {Reason::kFlowQueuePair, "flow_queue_pair", "the queue pair is of type {type:type}, and flows are of frames",
     "create the flow with a queue pair of type RAW_PACKET"},
    {Reason::kFlowAttributes, "flow_attributes",
     "the flow asks for comp_mask {comp_mask:x}, type {kind}, flags {flags:x} and {specs} specifications, which do not "
     "go together",
     "look at ibv_create_flow(3): no comp_mask, at most 10 specifications, none for a default flow"},
    {Reason::kFlowPort, "flow_port", "the flow is for port {port}, and the device has {ports}",
     "ports are numbered from 1"},
    {Reason::kFlowForm, "flow_form",
     "the device has no flow of type {kind} with flags {flags:x}: it steers received frames, each as one flow says",
     "leave out IBV_FLOW_ATTR_SNIFFER and IBV_FLOW_ATTR_FLAGS_EGRESS"},
    {Reason::kFlowSpecification, "flow_specification",
     "specification {index} is of type {kind:x} and {size} bytes, which is none that the device matches",
     "there are ETH, IPV4, IPV4_EXT (without flags), IPV6, TCP, UDP and VXLAN_TUNNEL, and the actions TAG and DROP, "
     "each "
     "with the size of its structure"},
    {Reason::kFlowTag, "flow_tag", "the tag {tag:x} has more than 24 bits", "choose a smaller tag_id"},
    {Reason::kFlowConflict, "flow_conflict",
     "another flow of priority {priority} matches the same frames, and one of the two drops them or has another tag",
     "give one of them another priority, or both the same action"},

    {Reason::kInUse, "in_use", "it is in use by other objects (uses: {users})",
     "destroy those first: queue pairs, then shared receive queues and completion queues, then regions, windows and "
     "address handles, then their protection domain; a queue pair leaves its multicast groups before"},
    {Reason::kBoundWindows, "bound_windows", "{windows} memory windows are bound to the region",
     "invalidate or deallocate them first"},
    {Reason::kCqHolds, "cq_holds", "the queue holds {holds} completions, and is to have {given} entries",
     "poll it before it becomes smaller"},
    {Reason::kDmRoom, "dm_room", "the device has {left} bytes of device memory left, and {length} are asked for",
     "look at max_dm_size of ibv_query_device_ex, and free what is not used any more; `max_dm_size=` configures it"},
    {Reason::kDmForm, "dm_form",
     "length is {length} and log_align_req {align}: the first is to be 1 at least, the second {most} at most",
     "look at ibv_alloc_dm_attr"},
    {Reason::kWindowType, "window_type", "there are no memory windows of type {given}",
     "give IBV_MW_TYPE_1 or IBV_MW_TYPE_2"},
    {Reason::kNoPort, "no_port", "there is no port {port}, and the last port of the device is {ports}",
     "ports count from 1"},
    {Reason::kNoEntry, "no_entry", "the table of port {port} ends before entry {index}: its length is {entries}",
     "look at gid_tbl_len and pkey_tbl_len of ibv_query_port"},
};
static_assert(std::size(kReasonTable) == kReasons, "a reason is missing in the table");
consteval bool is_in_order() {
  for (std::size_t i = 0; i < std::size(kReasonTable); ++i) {
    if (kReasonTable[i].reason != static_cast<Reason>(i)) return false;
  }
  return true;
}
static_assert(is_in_order(), "the table is in the order of the numbers");

struct BitName {
  std::uint64_t bit;
  const char* name;
};

constexpr BitName kAccess[] = {
    {IBV_ACCESS_LOCAL_WRITE, "LOCAL_WRITE"},
    {IBV_ACCESS_REMOTE_WRITE, "REMOTE_WRITE"},
    {IBV_ACCESS_REMOTE_READ, "REMOTE_READ"},
    {IBV_ACCESS_REMOTE_ATOMIC, "REMOTE_ATOMIC"},
    {IBV_ACCESS_MW_BIND, "MW_BIND"},
    {IBV_ACCESS_ZERO_BASED, "ZERO_BASED"},
    {IBV_ACCESS_ON_DEMAND, "ON_DEMAND"},
    {IBV_ACCESS_HUGETLB, "HUGETLB"},
    {1u << 8, "FLUSH_GLOBAL"},
    {1u << 9, "FLUSH_PERSISTENT"},
    {IBV_ACCESS_RELAXED_ORDERING, "RELAXED_ORDERING"},
};

// With the field that is set where it has another name.
constexpr BitName kAttributes[] = {
    {IBV_QP_STATE, "IBV_QP_STATE"},
    {IBV_QP_CUR_STATE, "IBV_QP_CUR_STATE"},
    {IBV_QP_EN_SQD_ASYNC_NOTIFY, "IBV_QP_EN_SQD_ASYNC_NOTIFY"},
    {IBV_QP_ACCESS_FLAGS, "IBV_QP_ACCESS_FLAGS (qp_access_flags)"},
    {IBV_QP_PKEY_INDEX, "IBV_QP_PKEY_INDEX"},
    {IBV_QP_PORT, "IBV_QP_PORT (port_num)"},
    {IBV_QP_QKEY, "IBV_QP_QKEY"},
    {IBV_QP_AV, "IBV_QP_AV (ah_attr)"},
    {IBV_QP_PATH_MTU, "IBV_QP_PATH_MTU"},
    {IBV_QP_TIMEOUT, "IBV_QP_TIMEOUT"},
    {IBV_QP_RETRY_CNT, "IBV_QP_RETRY_CNT"},
    {IBV_QP_RNR_RETRY, "IBV_QP_RNR_RETRY"},
    {IBV_QP_RQ_PSN, "IBV_QP_RQ_PSN"},
    {IBV_QP_MAX_QP_RD_ATOMIC, "IBV_QP_MAX_QP_RD_ATOMIC (max_rd_atomic)"},
    {IBV_QP_ALT_PATH, "IBV_QP_ALT_PATH"},
    {IBV_QP_MIN_RNR_TIMER, "IBV_QP_MIN_RNR_TIMER"},
    {IBV_QP_SQ_PSN, "IBV_QP_SQ_PSN"},
    {IBV_QP_MAX_DEST_RD_ATOMIC, "IBV_QP_MAX_DEST_RD_ATOMIC"},
    {IBV_QP_PATH_MIG_STATE, "IBV_QP_PATH_MIG_STATE"},
    {IBV_QP_CAP, "IBV_QP_CAP"},
    {IBV_QP_DEST_QPN, "IBV_QP_DEST_QPN (dest_qp_num)"},
    {IBV_QP_RATE_LIMIT, "IBV_QP_RATE_LIMIT"},
};

template <std::size_t kSize>
std::string bit_names(const BitName (&names)[kSize], std::uint64_t bits, const char* none) {
  std::string text;
  const auto add = [&text](const char* name) { text += (text.empty() ? "" : ", ") + std::string(name); };
  for (const auto& [bit, name] : names) {
    if ((bits & bit) != 0) add(name);
    bits &= ~bit;
  }
  char rest[24];
  std::snprintf(rest, sizeof rest, "0x%llx", static_cast<unsigned long long>(bits));
  if (bits != 0) add(rest);
  return text.empty() ? none : text;
}

const char* operation_name(std::uint64_t opcode) {
  constexpr const char* kNames[] = {"RDMA_WRITE",
                                    "RDMA_WRITE_WITH_IMM",
                                    "SEND",
                                    "SEND_WITH_IMM",
                                    "RDMA_READ",
                                    "ATOMIC_CMP_AND_SWP",
                                    "ATOMIC_FETCH_AND_ADD",
                                    "LOCAL_INV",
                                    "BIND_MW",
                                    "SEND_WITH_INV",
                                    "TSO",
                                    "DRIVER1",
                                    "operation",
                                    "operation",
                                    "FLUSH",
                                    "ATOMIC_WRITE"};
  return opcode < std::size(kNames) ? kNames[opcode] : "operation";
}

std::string printed(const char* format, std::uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, format, static_cast<unsigned long long>(value));
  return text;
}

// ibv_qp_attr.timeout: 4.096 us times a power of two.
std::string wait_text(std::uint64_t code) {
  if (code == 0) return "no time limit";
  const double us = 4.096 * static_cast<double>(1ull << std::min<std::uint64_t>(code, 31));
  char text[32];
  std::snprintf(text, sizeof text, us < 1e6 ? "%.3g ms" : "%.3g s", us < 1e6 ? us / 1e3 : us / 1e6);
  return text;
}

std::string text_of(std::string_view format, std::uint64_t value) {
  if (format == "x") return printed("0x%llx", value);
  if (format == "access") return bit_names(kAccess, value, "none at all");
  if (format == "attributes") return bit_names(kAttributes, value, "nothing");
  if (format == "state") return name_of(static_cast<ibv_qp_state>(value));
  if (format == "type") return name_of(static_cast<ibv_qp_type>(value));
  if (format == "operation") return operation_name(value);
  if (format == "mtu") {
    return value >= 1 && value <= 5 ? std::to_string(128u << value) : "code " + std::to_string(value);
  }
  if (format == "wait") return wait_text(value);
  return std::to_string(value);
}

// Calls literal(text) and value(name, text) for the parts of a sentence, in their order.
template <typename Literal, typename Value>
void for_each_part(const Why& why, const Literal& literal, const Value& value) {
  std::string_view rest = info_of(why.reason).sentence;
  for (const std::uint64_t number : why.values) {
    const std::size_t open = rest.find('{');
    if (open == std::string_view::npos) break;
    const std::size_t close = rest.find('}', open);
    literal(rest.substr(0, open));
    std::string_view name = rest.substr(open + 1, close - open - 1), format;
    if (const std::size_t colon = name.find(':'); colon != std::string_view::npos) {
      format = name.substr(colon + 1);
      name = name.substr(0, colon);
    }
    value(name, text_of(format, number));
    rest = rest.substr(close + 1);
  }
  literal(rest);
}

}  // namespace

const ReasonInfo& info_of(Reason reason) {
  const auto index = static_cast<std::size_t>(reason);
  return kReasonTable[index < kReasons ? index : 0];
}

std::string sentence_of(const Why& why) {
  std::string text;
  for_each_part(
      why, [&](std::string_view part) { text += part; }, [&](auto, const std::string& part) { text += part; });
  return text;
}

std::vector<std::pair<std::string, std::string>> values_of(const Why& why) {
  std::vector<std::pair<std::string, std::string>> values;
  for_each_part(
      why, [](auto) {}, [&](std::string_view name, const std::string& text) { values.emplace_back(name, text); });
  return values;
}

const char* call_of(const ReasonEvent& event) {
  switch (event.place) {
    case Place::kCompletion:
      return "ibv_poll_cq";
    case Place::kModifyQp:
      return "ibv_modify_qp";
    case Place::kPostSend:
      return "ibv_post_send";
    case Place::kPostRecv:
      return "ibv_post_recv";
    case Place::kPostSrqRecv:
      return "ibv_post_srq_recv";
    case Place::kPostSrqOps:
      return "ibv_post_srq_ops";
    case Place::kCreateQp:
      return "ibv_create_qp";
    case Place::kCreateAh:
      return "ibv_create_ah";
    case Place::kWrComplete:
      return "ibv_wr_complete";
    case Place::kRegMr:
      return "ibv_reg_mr";
    case Place::kCreateFlow:
      return "ibv_create_flow";
    case Place::kCreateCq:
      return "ibv_create_cq";
    case Place::kCreateSrq:
      return "ibv_create_srq";
    case Place::kAttachMcast:
      return "ibv_attach_mcast";
    case Place::kDetachMcast:
      return "ibv_detach_mcast";
    case Place::kResolveAddr:
      return "rdma_resolve_addr";
    case Place::kDeallocPd:
      return "ibv_dealloc_pd";
    case Place::kDeallocTd:
      return "ibv_dealloc_td";
    case Place::kDeregMr:
      return "ibv_dereg_mr";
    case Place::kFreeDm:
      return "ibv_free_dm";
    case Place::kDestroyCompChannel:
      return "ibv_destroy_comp_channel";
    case Place::kDestroyCq:
      return "ibv_destroy_cq";
    case Place::kDestroyCompCntr:
      return "ibv_destroy_comp_cntr";
    case Place::kDestroyQp:
      return "ibv_destroy_qp";
    case Place::kDestroySrq:
      return "ibv_destroy_srq";
    case Place::kDestroyWq:
      return "ibv_destroy_wq";
    case Place::kDestroyIndTable:
      return "ibv_destroy_rwq_ind_table";
    case Place::kCloseXrcd:
      return "ibv_close_xrcd";
    case Place::kResizeCq:
      return "ibv_resize_cq";
    case Place::kAllocDm:
      return "ibv_alloc_dm";
    case Place::kAllocMw:
      return "ibv_alloc_mw";
    case Place::kQueryPort:
      return "ibv_query_port";
    case Place::kQueryGid:
      return "ibv_query_gid";
    case Place::kQueryPkey:
      return "ibv_query_pkey";
    default:
      return nullptr;
  }
}

const char* name_of(ibv_qp_type type) {
  switch (type) {
    case IBV_QPT_RC:
      return "RC";
    case IBV_QPT_UC:
      return "UC";
    case IBV_QPT_UD:
      return "UD";
    case IBV_QPT_XRC_SEND:
      return "XRC_SEND";
    case IBV_QPT_XRC_RECV:
      return "XRC_RECV";
    case IBV_QPT_RAW_PACKET:
      return "RAW_PACKET";
    case IBV_QPT_DRIVER:
      return "DRIVER";
    default:
      return "unknown";
  }
}

const char* name_of(ibv_qp_state state) {
  constexpr const char* kNames[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};
  return static_cast<std::size_t>(state) < std::size(kNames) ? kNames[state] : "UNKNOWN";
}

const char* name_of(ibv_wc_status status) {
  constexpr const char* kNames[] = {"SUCCESS",
                                    "LOC_LEN_ERR",
                                    "LOC_QP_OP_ERR",
                                    "LOC_EEC_OP_ERR",
                                    "LOC_PROT_ERR",
                                    "WR_FLUSH_ERR",
                                    "MW_BIND_ERR",
                                    "BAD_RESP_ERR",
                                    "LOC_ACCESS_ERR",
                                    "REM_INV_REQ_ERR",
                                    "REM_ACCESS_ERR",
                                    "REM_OP_ERR",
                                    "RETRY_EXC_ERR",
                                    "RNR_RETRY_EXC_ERR",
                                    "LOC_RDD_VIOL_ERR",
                                    "REM_INV_RD_REQ_ERR",
                                    "REM_ABORT_ERR",
                                    "INV_EECN_ERR",
                                    "INV_EEC_STATE_ERR",
                                    "FATAL_ERR",
                                    "RESP_TIMEOUT_ERR",
                                    "GENERAL_ERR",
                                    "TM_ERR",
                                    "TM_RNDV_INCOMPLETE"};
  return static_cast<std::size_t>(status) < std::size(kNames) ? kNames[status] : "GENERAL_ERR";
}

const char* nak_name(std::uint8_t syndrome) {
  constexpr const char* kNames[] = {"PSN sequence error", "invalid request", "remote access error",
                                    "remote operational error"};
  const unsigned code = syndrome & 0x1fu;
  return (syndrome & 0x60) == 0x60 && code < std::size(kNames) ? kNames[code] : "";
}

}  // namespace verbs::soft::nic

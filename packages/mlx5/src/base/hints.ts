import type { Hints } from '@verbs/core/provider';

const MATCH = 'see that the value has no bit outside of the mask, and that mask and value have 1 to 640 bytes';
const FLOW_IN_USE = 'an object outside of this package still uses it: close that first';
const NO_LEVEL = 'the device has no software steering for this domain: use level 0 and ActionFlags.ROOT_LEVEL';
const ROOT = 'a node without a parent has neither bwShare nor maxAvgBw';
const UMEM = 'size must be above 0, access fit the memory, and a region have memory of this process';
const COMMAND = 'the device rejected the command: see its status and syndrome';

/** Remedies by C function and error code. */
export const hints: Hints = {
  mlx5dv_open_device: {
    EPERM: 'this user may not open the device: see the permissions of /dev/infiniband; devx needs CAP_NET_RAW as well',
    EACCES: 'this user may not open the device: see the permissions of /dev/infiniband',
    EINVAL: 'the attributes do not fit: flags are those of ContextAttrFlags',
  },
  mlx5dv_query_device: { EOPNOTSUPP: 'this is no mlx5 device: see isSupported(device)' },
  mlx5dv_create_flow_matcher: {
    EINVAL:
      'give either ftType or FlowFlags.EGRESS in flags, not both; FDB needs switchdev mode; the mask has 1 to 640 ' +
      'bytes; RDMA_TRANSPORT_* need ibPort',
    EOPNOTSUPP: 'type must be FlowAttrType.NORMAL, compMask one of FlowMatcherMask, and ibPort is for RDMA_TRANSPORT_*',
  },
  mlx5dv_create_flow: {
    EINVAL:
      `${MATCH}; a destination must be a RAW_PACKET queue pair; at most 2 flow actions, of different kinds; a tag has ` +
      '24 bits; NIC_RX needs a destination',
    EEXIST: 'another flow with the same match has contradicting actions: close it, or match differently',
    ENOMEM: 'priorities are 0 to 15, or the table is full',
    ENOSPC: 'the table is full',
    EPERM: 'flows need CAP_NET_RAW: run as root, or setcap cap_net_raw+ep on the node binary',
    EOPNOTSUPP:
      'at most 8 actions with one destination and one counter; the library rejects FlowActionType.IBV_COUNTER; ' +
      'DEFAULT_MISS is for NIC_RX',
  },
  mlx5dv_create_flow_action_modify_header: {
    EINVAL: 'an entry has 8 bytes; see that the fields, offsets and lengths exist, and that ftType does',
    EOPNOTSUPP: 'modify header is for NIC_RX, NIC_TX, FDB and RDMA_TX, with at most max_modify_header_actions entries',
  },
  mlx5dv_create_steering_anchor: {
    EPERM: 'steering anchors need CAP_NET_RAW',
    EINVAL: 'see that ftType exists and that priority is 0 to 15',
  },
  mlx5dv_destroy_flow_matcher: { EBUSY: FLOW_IN_USE },
  ibv_destroy_flow_action: { EBUSY: FLOW_IN_USE },
  mlx5dv_dr_domain_destroy: { EBUSY: FLOW_IN_USE },
  mlx5dv_dr_domain_create: { EOPNOTSUPP: 'the device has no such domain: FDB needs switchdev mode' },
  mlx5dv_dr_table_create: {
    EOPNOTSUPP: NO_LEVEL,
    EINVAL: 'levels are 0 (the root table) to max_ft_level of the device',
  },
  mlx5dv_dr_matcher_create: {
    EINVAL: 'the mask has at most 0x200 bytes, a multiple of 4, and only fields of the parts in matchCriteriaEnable',
  },
  mlx5dv_dr_rule_create: {
    EINVAL: 'the value has the mask’s size, and no bit outside of the mask; actions belong to the same domain',
    EOPNOTSUPP: 'the actions cannot follow each other in this domain: decap first, destination last',
    EEXIST: 'there is a rule with the same match: see allowDuplicateRules()',
    EPERM: 'rules of root tables need CAP_NET_RAW',
  },
  mlx5dv_dr_action_create_packet_reformat: {
    EINVAL:
      'NIC_RX domains decapsulate and NIC_TX domains encapsulate; all types but L2_TUNNEL_TO_L2 need data; flags is 0 ' +
      'or ActionFlags.ROOT_LEVEL',
    EOPNOTSUPP: NO_LEVEL,
  },
  mlx5dv_dr_action_create_push_vlan: { EINVAL: 'the upper 16 bits of vlanHdr are 0x8100 or 0x88a8' },
  mlx5dv_dr_action_create_dest_ibv_qp: {
    EINVAL: 'qp must be of QpType.RAW_PACKET, and of the open device of the domain',
  },
  mlx5dv_dr_action_create_flow_counter: { EINVAL: 'obj is no flow counter: devx.allocFlowCounter(ctx) makes one' },
  mlx5dv_dr_action_create_dest_table: { EINVAL: 'the table must have a level above 0' },
  mlx5dv_sched_node_create: { EINVAL: ROOT },
  mlx5dv_sched_node_modify: { EINVAL: ROOT },
  mlx5dv_devx_obj_create: { EREMOTEIO: COMMAND, EINVAL: 'the kernel knows no such object command' },
  mlx5dv_devx_obj_query: { EREMOTEIO: COMMAND, EINVAL: 'the command does not fit the object' },
  mlx5dv_devx_obj_modify: { EREMOTEIO: COMMAND, EINVAL: 'the command does not fit the object' },
  mlx5dv_devx_general_cmd: { EREMOTEIO: COMMAND, EINVAL: 'the kernel allows no such general command' },
  mlx5dv_devx_umem_reg: { EINVAL: UMEM },
  mlx5dv_devx_umem_reg_ex: { EINVAL: UMEM },
};

import { types } from 'node:util';
import { type Context, VerbsError } from '@verbs/core';
import { errno, fields, inspection, Resource, u32 } from '@verbs/core/provider';
import { copyOf } from '../base/bytes.js';
import { made } from '../base/calls.js';
import { FlowActionPacketReformatType as Type, FlowTableType as Table } from '../base/enums.js';
import { forContext } from '../base/libraries.js';
import { type ModifyAction, modifyActions } from '../actions/modify-header.js';
import { native, type NativeHandle } from '../native/index.js';
import { bytesOf, reformatHint, refusedSize } from '../actions/reformat.js';

/**
 * `struct ibv_flow_action`: a change of packets, for flows. Made by {@link createFlowActionPacketReformat} and
 * {@link createFlowActionModifyHeader}; `close()` is `ibv_destroy_flow_action`, after the flows that use it have been
 * closed.
 */
export class FlowAction extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;
  /** See {@link FlowTableType}: only flows of such a table can use it. */
  readonly ftType: Table;
  /** The attributes of its creation. */
  readonly attr: Readonly<PacketReformatAttr> | Readonly<ModifyHeaderAttr>;

  /** @internal */
  constructor(context: Context, handle: NativeHandle, attr: PacketReformatAttr | ModifyHeaderAttr) {
    super('FlowAction', handle, 'ibv_destroy_flow_action', [context]);
    this.context = context;
    this.ftType = attr.ftType;
    this.attr = attr;
  }

  protected override describe() {
    const ftType = inspection.named(Table, this.ftType);
    if ('actions' in this.attr) return { ftType, modifyHeader: this.attr.actions };
    const { reformatType, data } = this.attr;
    return { ftType, reformatType: inspection.named(Type, reformatType), dataSize: data?.byteLength ?? 0 };
  }
}

/** The attributes of {@link createFlowActionPacketReformat}. */
export interface PacketReformatAttr {
  /** {@link FlowActionPacketReformatType}. */
  reformatType: Type;
  /** {@link FlowTableType}: NIC_RX to decapsulate, NIC_TX to encapsulate. */
  ftType: Table;
  /**
   * The headers, copied, for instance from {@link headers}: all headers in front of an encapsulated packet (at most
   * max_encap_header_size bytes, an even number), or the Ethernet header that L3_TUNNEL_TO_L2 puts back: 14 bytes, or
   * 18 with a VLAN tag. L2_TUNNEL_TO_L2 needs none, and the kernel ignores it.
   */
  data?: Uint8Array;
}

const checkReformat = fields({ reformatType: u32(), ftType: u32(), data: bytesOf });

/**
 * `mlx5dv_create_flow_action_packet_reformat`: adds headers to packets or removes them.
 *
 * Decapsulation (L2_TUNNEL_TO_L2, L3_TUNNEL_TO_L2) is for NIC_RX, encapsulation (L2_TO_L2_TUNNEL, L2_TO_L3_TUNNEL) for
 * NIC_TX. The device fills in the fields that depend on the packet: the outer lengths, the IPv4 header's checksum and the
 * UDP source port (see {@link calcEncapEntropy}).
 *
 * @throws VerbsError EOPNOTSUPP (the table does not allow the type, or the device lacks it), ENOENT (data is missing),
 *   EINVAL (a size that is too large, odd, or neither 14 nor 18), ENOMEM (too many)
 * @example
 * const encap = createFlowActionPacketReformat(ctx, {
 *   reformatType: FlowActionPacketReformatType.L2_TO_L2_TUNNEL,
 *   ftType: FlowTableType.NIC_TX,
 *   data: headers(
 *     ether({ src: '02:00:00:00:00:01', dst: '02:00:00:00:00:02' }),
 *     ipv4({ src: '10.1.0.1', dst: '10.1.0.2' }),
 *     udp(),
 *     vxlan({ vni: 42 }),
 *   ),
 * });
 */
export function createFlowActionPacketReformat(ctx: Context, attr: PacketReformatAttr): FlowAction {
  const syscall = 'mlx5dv_create_flow_action_packet_reformat';
  const { library, handle } = forContext(ctx, syscall);
  const { reformatType, ftType, data } = checkReformat(attr, 'attr');
  const detail = `of type ${reformatType} for table type ${ftType}, with ${data?.byteLength ?? 'no'} bytes of data`;
  // The kernel does not check this size; with another one, a device would cut packets in the wrong place.
  const refused = ftType === Table.NIC_RX ? refusedSize(reformatType, data) : undefined;
  if (refused !== undefined) throw new VerbsError(errno.EINVAL, syscall, { detail, hint: refused });
  const result = native.createFlowActionPacketReformat(library, handle, data, reformatType, ftType);
  const action = made(result, { library, syscall, detail, hint: reformatHint(result, reformatType, ftType, data) });
  return new FlowAction(ctx, action, { reformatType, ftType, ...(data && { data: copyOf(data) }) });
}

/** The attributes of {@link createFlowActionModifyHeader}. */
export interface ModifyHeaderAttr {
  /** {@link FlowTableType}: NIC_RX, NIC_TX, FDB or RDMA_TX. */
  ftType: Table;
  /** The changes, in this order; or their entries of 8 bytes in the device's byte order. */
  actions: readonly ModifyAction[] | BigUint64Array | Uint8Array;
}

const checkModifyHeader = fields({ ftType: u32(), actions: modifyActions });

/**
 * `mlx5dv_create_flow_action_modify_header`: sets, adds to and copies fields of packets. The device corrects the
 * checksums.
 *
 * @throws TypeError, RangeError for an entry, by its path
 * @throws VerbsError EINVAL (no multiple of 8 bytes, an unknown table type), EOPNOTSUPP (too many entries, another table)
 * @example
 * const action = createFlowActionModifyHeader(ctx, {
 *   ftType: FlowTableType.NIC_TX,
 *   actions: [{ set: 'dmac_47_16', value: 0x01005e00 }, { add: 'ipv4_ttl', value: -1 }],
 * });
 */
export function createFlowActionModifyHeader(ctx: Context, attr: ModifyHeaderAttr): FlowAction {
  const syscall = 'mlx5dv_create_flow_action_modify_header';
  const { library, handle } = forContext(ctx, syscall);
  const { ftType, actions } = checkModifyHeader(attr, 'attr');
  const detail = `of ${actions.byteLength / 8} entries for table type ${ftType}`;
  const kept = keptActions(attr.actions);
  const result = native.createFlowActionModifyHeader(library, handle, actions, ftType);
  return new FlowAction(ctx, made(result, { library, syscall, detail }), { ftType, actions: kept });
}

function keptActions(actions: ModifyHeaderAttr['actions']): ModifyHeaderAttr['actions'] {
  if (types.isUint8Array(actions)) return copyOf(actions);
  if (types.isBigUint64Array(actions)) return actions.slice();
  return Array.from(actions, (entry) => ({ ...entry }));
}

import type { Context } from '@verbs/core';
import {
  createFlow,
  createFlowActionPacketReformat,
  createFlowMatcher,
  FlowActionPacketReformatType,
  type FlowMatcher,
  FlowTableType,
  type MatchParams,
  type Mlx5Flow,
} from '@verbs/mlx5';
import type { EncapSpec } from './spec.js';
import { type IpVersion, outerHeaders } from './template.js';

const VERSIONS: readonly IpVersion[] = [4, 6];

/**
 * The flows that encapsulate what a device sends: one for each pair of MAC addresses that comes along, since the data
 * of an action is fixed and the outer addresses are those of the frame unless they are given.
 */
export class EncapRules {
  readonly #context: Context;
  readonly #spec: EncapSpec;
  readonly #matcher: FlowMatcher;
  readonly #known = new Set<string>();
  /** Holds the flows: a flow without a reference is collected and leaves the device. A flow holds its matcher and actions. */
  readonly #flows: Mlx5Flow[] = [];

  constructor(context: Context, spec: EncapSpec) {
    this.#context = context;
    this.#spec = spec;
    const matchMask = this.#match(new Uint8Array(12), 4);
    this.#matcher = createFlowMatcher(context, { ftType: FlowTableType.NIC_TX, matchMask });
  }

  /** Before the frame is sent: makes the flow for it, if it is the first of its kind. */
  prepare(frame: Uint8Array): void {
    const macs = frame.subarray(0, 12);
    const key = this.#fixed ? '' : Buffer.from(macs).toString('latin1');
    if (this.#known.has(key)) return;
    this.#known.add(key);
    if (this.#spec.carried === 'l2') this.#add(macs, undefined);
    else for (const version of VERSIONS) this.#add(macs, version);
  }

  /** Both outer addresses are given, so that one flow does for all frames. */
  get #fixed(): boolean {
    return this.#spec.dmac !== undefined && this.#spec.smac !== undefined;
  }

  #add(macs: Uint8Array, version: IpVersion | undefined): void {
    const { carried, dmac, smac } = this.#spec;
    const outer = { dst: dmac ?? macs.subarray(0, 6), src: smac ?? macs.subarray(6, 12) };
    const action = createFlowActionPacketReformat(this.#context, {
      reformatType:
        carried === 'l2' ? FlowActionPacketReformatType.L2_TO_L2_TUNNEL : FlowActionPacketReformatType.L2_TO_L3_TUNNEL,
      ftType: FlowTableType.NIC_TX,
      data: outerHeaders(this.#spec, outer, version),
    });
    this.#flows.push(createFlow(this.#matcher, this.#match(macs, version), [action]));
  }

  #match(macs: Uint8Array, version: IpVersion | undefined): MatchParams {
    return {
      outer: {
        ...(!this.#fixed && { dmac: macs.subarray(0, 6), smac: macs.subarray(6, 12) }),
        ...(this.#spec.carried === 'l3' && version !== undefined && { ipVersion: version }),
      },
    };
  }
}

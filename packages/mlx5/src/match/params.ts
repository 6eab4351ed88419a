import type { MacAddress } from '../base/addresses.js';
import type { HEADERS, MISC, MISC2, MISC3, MISC4, MISC5 } from './layout.js';

/** What a field must be: the value itself, which means all of its bits, or the bits of it that count. */
export type Match<T> =
  | T
  | {
      /** What the bits must be, default 0. */
      value?: T;
      /** The bits that count. */
      mask: T;
    };

/**
 * An address: '10.0.0.1', '2001:db8::1', 4 or 16 bytes. With '/24' behind it only so many bits count, as they do with
 * `{ value, mask: '255.255.255.0' }`.
 */
export type MatchIp = string | Uint8Array;

/** Numbers for numbers, booleans (or 0 and 1) for single bits, text or bytes for addresses. */
export type MatchFields<Layout> = {
  -readonly [Name in keyof Layout]?: Layout[Name] extends readonly [number, 48, 'mac']
    ? Match<MacAddress>
    : Layout[Name] extends readonly [number, 128, 'ip']
      ? Match<MatchIp>
      : Layout[Name] extends readonly [number, 1]
        ? Match<boolean | 0 | 1>
        : Match<number>;
};

/**
 * What a packet must look like, by the names of `struct mlx5_ifc_fte_match_param_bits` in camelCase. Of a packet in a
 * tunnel, `outer` is the tunnel's and `inner` what it carries.
 */
export interface MatchParams {
  /** Headers of layer 2 to 4 of the packet as it comes. */
  outer?: MatchFields<typeof HEADERS>;
  /** Second VLAN tags, GRE, VXLAN, GENEVE, RoCE, ESP. */
  misc?: MatchFields<typeof MISC>;
  /** Headers of layer 2 to 4 of what a tunnel carries. */
  inner?: MatchFields<typeof HEADERS>;
  /** MPLS, and the registers. */
  misc2?: MatchFields<typeof MISC2>;
  /** TCP numbers, VXLAN-GPE, ICMP, GTP-U. */
  misc3?: MatchFields<typeof MISC3>;
  /** Samples of the programmable parser. */
  misc4?: MatchFields<typeof MISC4>;
  /** Words of MACsec and of tunnel headers. */
  misc5?: MatchFields<typeof MISC5>;
}

/** Match parameters as the C functions take them. */
export interface EncodedMatch {
  /** For the matcher. */
  mask: Uint8Array;
  /** For the flow or rule, as long as the mask. */
  value: Uint8Array;
  /** Which parts the mask looks at: `match_criteria_enable`. */
  matchCriteriaEnable: number;
}

import type { MacAddress } from '../base/addresses.js';
import type { HEADERS, MISC, MISC2, MISC3, MISC4, MISC5 } from './layout.js';

/** The match of a field: a value, which compares all bits, or a value with a mask. */
export type Match<T> =
  | T
  | {
      /** The value of the bits, default 0. */
      value?: T;
      /** The bits to compare. */
      mask: T;
    };

/**
 * An address: '10.0.0.1', '2001:db8::1', 4 or 16 bytes. With '/24' behind it, the match compares 24 bits, as with
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
 * Match parameters, by the names of `struct mlx5_ifc_fte_match_param_bits` in camelCase. For a packet in a tunnel, `outer`
 * matches the tunnel's headers and `inner` the headers inside.
 */
export interface MatchParams {
  /** The outermost headers of layers 2 to 4. */
  outer?: MatchFields<typeof HEADERS>;
  /** Second VLAN tags, GRE, VXLAN, GENEVE, RoCE, ESP. */
  misc?: MatchFields<typeof MISC>;
  /** The headers of layers 2 to 4 inside a tunnel. */
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

/** Match parameters in the layout of the C functions. */
export interface EncodedMatch {
  /** For the matcher. */
  mask: Uint8Array;
  /** For the flow or rule, as long as the mask. */
  value: Uint8Array;
  /** The parts with bits in the mask: `match_criteria_enable`. */
  matchCriteriaEnable: number;
}

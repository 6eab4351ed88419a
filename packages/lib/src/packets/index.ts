/** RoCE v2 packets explained: network headers, tunnels, transport headers; usable in a browser except for `dissect` and `PacketScan`. */
export { type Dissection, dissect } from './dissect.js';
export { type Candidate, type Explanation, explain, type ExplainOptions } from './explain.js';
export type { Field, Layer } from './layer-reader.js';
export type { Ip } from './network-headers.js';
export { type Opcode, opcodeOf, type Role } from './opcodes.js';
export { syndromeText, type Transport } from './transport-headers.js';
export { PacketScan } from './scan.js';

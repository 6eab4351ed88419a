/** Ethernet frames through packet reformat actions of @verbs/mlx5: into a tunnel, and out of one. */
export type { Work } from './devices.js';
export type { Losses } from './losses.js';
export { reformat, type ReformatOptions, type Summary } from './reformat.js';
export { type DecapSpec, type EncapSpec, parseDecap, parseEncap, SpecError, type Tunnel, TUNNELS } from './spec.js';

/** `enum mlx5dv_dr_domain_type`. */
export const DomainType = { NIC_RX: 0, NIC_TX: 1, FDB: 2 } as const;
/** One of `DomainType`. */
export type DomainType = (typeof DomainType)[keyof typeof DomainType];

/** `enum mlx5dv_dr_domain_sync_flags`, to be or-ed. */
export const DomainSyncFlags = {
  /** Wait until the rules made so far are with the device. */
  SW: 1,
  /** Flush the device's cache of them. */
  HW: 2,
  /** Give memory of closed rules back. */
  MEM: 4,
} as const;

/** `enum mlx5dv_dr_action_flags`. */
export const ActionFlags = {
  /** For rules of the root table (level 0). */
  ROOT_LEVEL: 1,
} as const;

/** `enum mlx5dv_dr_matcher_layout_flags`, to be or-ed. */
export const MatcherLayoutFlags = { RESIZABLE: 1, NUM_RULE: 2 } as const;

/** `enum mlx5dv_dr_action_aso_first_hit_flags`. */
export const AsoFirstHitFlags = { SET: 1 } as const;

/** `enum mlx5dv_dr_action_aso_flow_meter_flags`: the colour that packets come in with. */
export const AsoFlowMeterFlags = { RED: 1, YELLOW: 2, GREEN: 4, UNDEFINED: 8 } as const;

/** `enum mlx5dv_dr_action_aso_ct_flags`: whose packets they are. */
export const AsoCtFlags = { DIRECTION_INITIATOR: 1, DIRECTION_RESPONDER: 2 } as const;

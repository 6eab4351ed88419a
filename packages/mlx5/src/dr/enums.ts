import { members, type Members } from '@verbs/core/provider';

enum DomainTypeValue {
  /** `MLX5DV_DR_DOMAIN_TYPE_NIC_RX`: packets that a port received. */
  NIC_RX = 0,
  /** `MLX5DV_DR_DOMAIN_TYPE_NIC_TX`: packets that queue pairs send. */
  NIC_TX = 1,
  /** `MLX5DV_DR_DOMAIN_TYPE_FDB`: packets between the functions of an adapter: the e-switch's forwarding database. */
  FDB = 2,
}
/** `enum mlx5dv_dr_domain_type`. */
export const DomainType: Members<typeof DomainTypeValue> = members(DomainTypeValue);
/** A value of {@link DomainType}. A number that comes from C is one as well; another enumeration's value is not. */
export type DomainType = DomainTypeValue;

enum DomainSyncFlagsValue {
  /** Wait until the rules made so far are with the device. */
  SW = 1,
  /** Flush the device's cache of them. */
  HW = 2,
  /** Give memory of closed rules back. */
  MEM = 4,
}
/** `enum mlx5dv_dr_domain_sync_flags`, to be or-ed. */
export const DomainSyncFlags: Members<typeof DomainSyncFlagsValue> = members(DomainSyncFlagsValue);
/** Or-ed values of {@link DomainSyncFlags}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type DomainSyncFlags = DomainSyncFlagsValue | 0;

enum ActionFlagsValue {
  /** For rules of the root table (level 0). */
  ROOT_LEVEL = 1,
}
/** `enum mlx5dv_dr_action_flags`. */
export const ActionFlags: Members<typeof ActionFlagsValue> = members(ActionFlagsValue);
/** Or-ed values of {@link ActionFlags}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type ActionFlags = ActionFlagsValue | 0;

enum MatcherLayoutFlagsValue {
  /** `MLX5DV_DR_MATCHER_LAYOUT_RESIZABLE`: the matcher's table grows with its rules. */
  RESIZABLE = 1,
  /** `MLX5DV_DR_MATCHER_LAYOUT_NUM_RULE`: it is made for `logNumOfRulesHint` rules. */
  NUM_RULE = 2,
}
/** `enum mlx5dv_dr_matcher_layout_flags`, to be or-ed. */
export const MatcherLayoutFlags: Members<typeof MatcherLayoutFlagsValue> = members(MatcherLayoutFlagsValue);
/** Or-ed values of {@link MatcherLayoutFlags}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type MatcherLayoutFlags = MatcherLayoutFlagsValue | 0;

enum AsoFirstHitFlagsValue {
  /** `MLX5DV_DR_ACTION_FLAGS_ASO_FIRST_HIT_SET`: the first packet sets the bit. */
  SET = 1,
}
/** `enum mlx5dv_dr_action_aso_first_hit_flags`. */
export const AsoFirstHitFlags: Members<typeof AsoFirstHitFlagsValue> = members(AsoFirstHitFlagsValue);
/** Or-ed values of {@link AsoFirstHitFlags}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type AsoFirstHitFlags = AsoFirstHitFlagsValue | 0;

enum AsoFlowMeterFlagsValue {
  /** `MLX5DV_DR_ACTION_FLAGS_ASO_FLOW_METER_RED`: over the limit. */
  RED = 1,
  /** `MLX5DV_DR_ACTION_FLAGS_ASO_FLOW_METER_YELLOW`: within the burst. */
  YELLOW = 2,
  /** `MLX5DV_DR_ACTION_FLAGS_ASO_FLOW_METER_GREEN`: within the rate. */
  GREEN = 4,
  /** `MLX5DV_DR_ACTION_FLAGS_ASO_FLOW_METER_UNDEFINED`: none yet. */
  UNDEFINED = 8,
}
/** `enum mlx5dv_dr_action_aso_flow_meter_flags`: the colour that packets come in with. */
export const AsoFlowMeterFlags: Members<typeof AsoFlowMeterFlagsValue> = members(AsoFlowMeterFlagsValue);
/** Or-ed values of {@link AsoFlowMeterFlags}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type AsoFlowMeterFlags = AsoFlowMeterFlagsValue | 0;

enum AsoCtFlagsValue {
  /** `MLX5DV_DR_ACTION_FLAGS_ASO_CT_DIRECTION_INITIATOR`: of the side that began the connection. */
  DIRECTION_INITIATOR = 1,
  /** `MLX5DV_DR_ACTION_FLAGS_ASO_CT_DIRECTION_RESPONDER`: of the side that answers. */
  DIRECTION_RESPONDER = 2,
}
/** `enum mlx5dv_dr_action_aso_ct_flags`: whose packets they are. */
export const AsoCtFlags: Members<typeof AsoCtFlagsValue> = members(AsoCtFlagsValue);
/** Or-ed values of {@link AsoCtFlags}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type AsoCtFlags = AsoCtFlagsValue | 0;

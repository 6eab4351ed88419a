export { type Block, blocks } from './blocks.js';
export { type CapturedPacket, type Direction, option, packetOf, packets } from './packets.js';
export { ENHANCED_PACKET, SECTION_HEADER } from './types.js';

export { type Block, type BlockOptions, blocks } from './blocks.js';
export { FileBytes } from './file-bytes.js';
export { type CapturedPacket, type Direction, option, packetOf, packets } from './packets.js';
export { ENHANCED_PACKET, INTERFACE, PACKET, SECTION_HEADER, SIMPLE_PACKET } from './types.js';

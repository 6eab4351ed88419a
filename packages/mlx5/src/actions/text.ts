import { enumName } from '@verbs/core';
import { FlowActionPacketReformatType } from '../base/enums.js';
import { parseHeaders } from '../headers/parse.js';

/** `L2_TO_L2_TUNNEL ether ipv4 udp vxlan`. */
export function reformatText(reformatType: number, data: Uint8Array | undefined): string {
  const names = data === undefined ? [] : parseHeaders(data).layers.map(({ name }) => name);
  return [enumName(FlowActionPacketReformatType, reformatType), ...names].join(' ');
}

export function tagText(tagValue = 0): string {
  return `tag 0x${tagValue.toString(16)}`;
}

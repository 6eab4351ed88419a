import {
  type Context,
  type DeviceAttrEx,
  type DeviceInfo,
  GidType,
  LinkLayer,
  type PortAttr,
  openDevice,
  readSysfsFile,
} from '@verbs/core';
import { Failure } from '@verbs/lib/failure';

/** The attributes of a device that are printed. */
export interface DeviceReport {
  device: DeviceInfo;
  attr: DeviceAttrEx;
  boardId: string | undefined;
  numCompVectors: number;
  ports: PortReport[];
}

export interface PortReport {
  portNum: number;
  attr: PortAttr;
  gids: GidReport[];
}

export interface GidReport {
  index: number;
  gid: string;
  /** InfiniBand GIDs have no type. */
  type?: string;
}

/** Queries all attributes of a device, with `portNum` of this port only. */
export function reportDevice(device: DeviceInfo, portNum?: number): DeviceReport {
  using context = openDevice(device);
  const attr = context.queryDeviceEx();
  if (portNum !== undefined && portNum > attr.physPortCnt) {
    throw new Failure(`${device.name} has no port ${portNum}`, {
      hint: `its ports count from 1 to ${attr.physPortCnt}`,
    });
  }
  const numbers = portNum === undefined ? Array.from({ length: attr.physPortCnt }, (_, i) => i + 1) : [portNum];
  return {
    device,
    attr,
    boardId: readSysfsFile(device, 'board_id'),
    numCompVectors: context.numCompVectors,
    ports: numbers.map((number) => reportPort(context, number)),
  };
}

function reportPort(context: Context, portNum: number): PortReport {
  const attr = context.queryPort(portNum);
  const gids = context.gidTable(portNum).map(({ index, gid, type }) => ({
    index,
    gid,
    ...(attr.linkLayer === LinkLayer.ETHERNET && { type: type === GidType.ROCE_V2 ? 'RoCE v2' : 'RoCE v1' }),
  }));
  return { portNum, attr, gids };
}

import { load } from '@verbs/native-files';
import { addonPlace } from './paths.js';

/** The addon: the functions of verbs_soft.h. A numeric result is 0 or an errno value. */
export interface Native {
  configure(text: string | null): number;
  addDevices(text: string): number;
  lastError(): string;
  deviceNames(): string[];
  stats(device: string): Record<string, bigint> | number;
  reasons(device: string): string[] | number;
  processes(): { pid: number; report: string }[] | number;
  captureStart(device: string, path: string, maxBytes: bigint, snapLength: bigint): number;
  captureStop(device: string): number;
  setFaults(device: string, plan: string): number;
  getFaults(device: string): { seed: bigint; rules: { text: string; matched: bigint; hits: bigint }[] } | number;
  setLink(device: string, port: bigint, up: boolean): number;
  setMtu(device: string, port: bigint, mtu: bigint): number;
  addGid(device: string, port: bigint, address: string): { index: number } | number;
  removeGid(device: string, port: bigint, address: string): number;
  fail(device: string): number;
}

let loaded: Native | undefined;

/** Loads the addon at first use: paths and texts work without it. */
export function native(): Native {
  loaded ??= load(addonPlace) as Native;
  return loaded;
}

import type { DeviceReport, ProcessReport, QueuePairReport } from '@verbs/soft';

/** A queue pair and what it does, per second. */
export interface QueuePairRates extends QueuePairReport {
  /** Undefined in a first sample. */
  sentPacketsPerSecond: number | undefined;
  receivedPacketsPerSecond: number | undefined;
  retransmittedPacketsPerSecond: number | undefined;
}

/** A device with its rates: of each counter, and of each queue pair. */
export interface DeviceRates extends Omit<DeviceReport, 'queuePairs'> {
  /** By the name of the counter; undefined in a first sample. */
  perSecond: Record<string, number> | undefined;
  queuePairs: QueuePairRates[];
}

export interface ProcessRates {
  pid: number;
  /** As a person calls it: the script of an interpreter. */
  name: string;
  program: string;
  devices: DeviceRates[];
}

/** What the processes did between two samples. */
export class Rates {
  #before: { time: number; processes: readonly ProcessReport[] } | undefined;

  /** @param time milliseconds, of any clock that only goes forward */
  next(processes: readonly ProcessReport[], time: number): ProcessRates[] {
    const before = this.#before;
    this.#before = { time, processes };
    const seconds = before === undefined ? 0 : (time - before.time) / 1000;
    return processes.map(({ pid, name: called, program, devices }) => {
      const old = before?.processes.find((each) => each.pid === pid && each.program === program);
      return {
        pid,
        name: called,
        program,
        devices: devices.map((device) =>
          deviceRates(device, seconds > 0 ? old?.devices.find(({ name }) => name === device.name) : undefined, seconds),
        ),
      };
    });
  }
}

function deviceRates(device: DeviceReport, old: DeviceReport | undefined, seconds: number): DeviceRates {
  const before = new Map(old?.queuePairs.map((qp) => [qp.qpNum, qp]));
  const perSecond =
    old &&
    Object.fromEntries(
      Object.entries(device.counters).map(([name, value]) => [
        name,
        Number(value - (old.counters[name] ?? 0n)) / seconds,
      ]),
    );
  return {
    ...device,
    perSecond,
    queuePairs: device.queuePairs.map((qp) => queuePairRates(qp, before.get(qp.qpNum), seconds)),
  };
}

const PSN_MASK = 0xffffff;

function queuePairRates(qp: QueuePairReport, old: QueuePairReport | undefined, seconds: number): QueuePairRates {
  // A connection that was made anew begins with another PSN.
  const same = old?.destQpNum === qp.destQpNum && old.destGid === qp.destGid && old.state === qp.state;
  const psns = (from: number, to: number) => (same ? ((to - from) & PSN_MASK) / seconds : undefined);
  return {
    ...qp,
    sentPacketsPerSecond: psns(old?.sentPsn ?? 0, qp.sentPsn),
    receivedPacketsPerSecond: psns(old?.receivedPsn ?? 0, qp.receivedPsn),
    retransmittedPacketsPerSecond: same
      ? Number(qp.retransmittedPackets - old.retransmittedPackets) / seconds
      : undefined,
  };
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AccessFlags, type Context, openDevice, QpType, type QueuePair } from '@verbs/core';
import { configure, type FaultRule, softNic } from '@verbs/soft';
import { afterEach, beforeEach } from 'vitest';
import { analyze } from '../src/show/analyze.js';
import type { Course, Packet } from '../src/show/course.js';

/** Where the tests of a file have their captures: a folder for each test. */
export const place = { directory: '', file: '' };

/** To be called by each file of tests that uses {@link place}. */
export function captures(): void {
  beforeEach(() => {
    place.directory = mkdtempSync(join(tmpdir(), 'verbs-show-test-'));
    place.file = join(place.directory, 'run.pcapng');
  });

  afterEach(() => {
    configure(null);
    rmSync(place.directory, { recursive: true });
  });
}

const REMOTE = AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ;

function end(context: Context) {
  const pd = context.allocPd();
  const cq = context.createCq(64);
  const mr = pd.allocMr(65_536, AccessFlags.LOCAL_WRITE | REMOTE);
  const cap = { maxSendWr: 16, maxRecvWr: 16, maxSendSge: 1, maxRecvSge: 1 };
  return { mr, qp: () => pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap }) };
}

export interface Ends {
  requester: ReturnType<typeof end>;
  responder: ReturnType<typeof end>;
  /** A connected pair of queue pairs. */
  pair: () => ReturnType<ReturnType<typeof end>['qp']>[];
}

/** What happens between two devices of this process, as the capture of one of them shows it. */
export async function record(run: (ends: Ends) => Promise<void>, options: Recording = {}) {
  // On a busy machine an acknowledgement may take so long that the requester sends again, which is no part of the picture.
  for (let attempts = 10; !(await isRecorded(run, options)) && attempts > 0; attempts--);
  return read(place.file);
}

interface Recording {
  faults?: FaultRule;
  at?: string;
}

/** False: something was sent again, without a fault. */
async function isRecorded(run: (ends: Ends) => Promise<void>, options: Recording): Promise<boolean> {
  configure('one,addr=127.77.4.1,mtu=1024;two,addr=127.77.4.2,mtu=1024');
  using first = openDevice('one');
  using second = openDevice('two');
  if (options.faults !== undefined) softNic('one').faults.set(options.faults, { seed: 1 });
  const captures = [softNic(options.at ?? 'one').capture(place.file)];
  const ends = { requester: end(first), responder: end(second) };
  // Whatever of them `run` lets go of: a queue pair that nobody refers to is collected, and answers no more.
  const kept: QueuePair[] = [];
  const pair = () => {
    const qps = [ends.requester.qp(), ends.responder.qp()] as const;
    kept.push(...qps);
    const [one, two] = qps.map((qp) => qp.endpoint());
    if (one !== undefined && two !== undefined) {
      qps[0].connect(two);
      qps[1].connect(one);
    }
    return [...qps];
  };
  await run({ ...ends, pair });
  for (const capture of captures) capture.stop();
  for (const qp of kept) qp.close();
  return options.faults !== undefined || softNic('one').stats()['retransmitted_pkts'] === 0n;
}

/** The course of a capture, with all its packets. */
export function read(path: string): Course & { all: Packet[] } {
  using course = analyze(path);
  const all = [...course.packets()];
  return { ...course, all, packets: () => all };
}

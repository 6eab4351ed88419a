import type { Context, FullAhAttr } from '@verbs/core';
import { fields } from '@verbs/core/provider';
import { PortSpace } from '../base/enums.js';
import type { CmEvent } from '../cm/cm-event.js';
import type { CmId } from '../cm/cm-id.js';
import { privateData } from '../cm/conn-param.js';
import { failureOf } from './errors.js';
import type { Inbox } from './inbox.js';
import { peerFields, type PeerOptions, withRoute } from './resolve.js';

/** `RDMA_UDP_QKEY`: the Q_Key of datagram services that the connection manager finds. */
export const UDP_QKEY = 0x01234567;

/** The options of {@link lookup}. */
export interface LookupOptions extends PeerOptions {
  /** At most 180 bytes for the peer, or text. */
  privateData?: Uint8Array | string;
}

const lookupOptions = fields({ ...peerFields, privateData });

/** A datagram service of a peer. */
export class DatagramService implements Disposable {
  /** The identifier, for the calls of the C library. */
  readonly id: CmId;
  /** The open device that leads to it; objects that send to it are made on this context. */
  readonly context: Context;
  /** The service's queue pair: `remoteQpn` of a request. */
  readonly qpNum: number;
  /** The service's Q_Key: `remoteQkey` of a request. */
  readonly qkey: number;
  /** The route: `pd.createAh(service.ahAttr)`. */
  readonly ahAttr: FullAhAttr;
  /** What the peer sent, filled with zeros up to the room of the message. */
  readonly privateData: Uint8Array;

  /** @internal */
  constructor(inbox: Inbox, context: Context, { qpNum, qkey, ahAttr, privateData }: NonNullable<CmEvent['ud']>) {
    this.id = inbox.id;
    this.context = context;
    this.qpNum = qpNum;
    this.qkey = qkey;
    this.ahAttr = ahAttr;
    this.privateData = privateData ?? new Uint8Array();
  }

  /** Closes the identifier. What was found stays valid. */
  close(): void {
    this.id.close();
  }

  /** As `close()`. */
  [Symbol.dispose](): void {
    this.close();
  }
}

/**
 * Looks for a datagram service, which a peer offers by {@link listenDatagrams}: `rdma_connect` of an identifier for UD.
 *
 * @throws ConnectionError, VerbsError as {@link connect}
 * @example
 * using service = await lookup({ host: '192.0.2.1', port: 7471 });
 * const domain = service.context.allocPd();
 * const route = domain.createAh(service.ahAttr);
 */
export async function lookup(options: LookupOptions): Promise<DatagramService> {
  const given = lookupOptions(options, 'options');
  return await withRoute(given, PortSpace.UDP, async ({ inbox, about }) => {
    const { id } = inbox;
    id.connect(given.privateData === undefined ? {} : { privateData: given.privateData });
    const event = await inbox.expect('ESTABLISHED', about);
    const { verbs } = id;
    if (event.ud === undefined || verbs === undefined) throw failureOf(event, about.syscall, about.detail);
    return new DatagramService(inbox, verbs, event.ud);
  });
}

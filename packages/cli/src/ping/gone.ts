import type { Connection } from '@verbs/core/rendezvous';

/** Aborted when the peer has closed its connection, or went away. */
export function goneSignal(connection: Connection): AbortSignal {
  const controller = new AbortController();
  void connection.disconnected.then(() => {
    controller.abort(new Error('the peer has closed its connection'));
  });
  return controller.signal;
}

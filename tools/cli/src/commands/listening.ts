import { Listener } from '@verbs/lib/rendezvous';
import { Failure, messageOf } from '@verbs/lib/failure';

/** Waits for clients of a `verbs` command at an address and TCP port. */
export async function listen({ bind, port }: { bind: string; port: number }): Promise<Listener> {
  try {
    return await Listener.open({ host: bind, port });
  } catch (error) {
    throw cannotWait(bind, port, error);
  }
}

export function cannotWait(bind: string, port: number, error: unknown): Failure {
  return new Failure(`cannot wait on ${bind} port ${port}: ${messageOf(error)}`, {
    hint: 'another server may run already: choose another --port',
    cause: error,
  });
}

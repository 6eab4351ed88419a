// An idle channel whose messages are awaited: the peer's keep-alive packets do not go on waking Node's event loop. The first packet
// after a silence does, with those that come along with it: it could be a message.
import { expect, test } from 'vitest';
import { script } from './helpers/program.js';

test.each(['', ',link=udp'])(
  'two processes that await a message are not woken by every keep-alive, but by the message%s',
  async (link) => {
    const env = { VERBS_SOFT: `doca_host0,kind=doca,role=host${link};doca_dpu0,kind=doca,role=dpu${link}` };
    const service = script('wait-idle.mjs', ['service', `asleep${link}`], env);
    await service.says('listening');
    const client = script('wait-idle.mjs', ['client', `asleep${link}`], env);
    for (const program of [client, service]) {
      expect([await program.ended, program.output()]).toEqual([0, expect.stringMatching(/^[01] events\nclosing$/m)]);
    }
  },
  30_000,
);

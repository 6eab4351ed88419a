import { expect, test } from 'vitest';
import { startPair } from './pair.js';

// More round trips than anybody waits for.
const endless = ['-n', '1000000000'];

test.each([
  { how: 'polling', args: endless },
  { how: 'waiting for events', args: ['-e', ...endless] },
  // A program whose own messages are all acknowledged and that only waits for the next one cannot notice a death: if the
  // peer is killed in that moment, the pair is ended and the next one has its turn.
])('a survivor that is $how is told when its peer is killed', { retry: 4, timeout: 15_000 }, async ({ args }) => {
  const { server, client } = await startPair('ibv_rc_pingpong', args);
  server.process.kill('SIGKILL');
  expect((await server.ended).signal).toBe('SIGKILL');
  const { status, stderr } = await client.ended;
  expect(stderr).toMatch(/Failed status transport retry counter exceeded \(12\) for wr_id 2/);
  expect(status).toBe(1);
});

import { afterEach, expect, it, vi } from 'vitest';
import { AwaitedRequests } from '../../src/completion/awaited-requests.js';
import { Resource } from '../../src/lifetime/resource.js';

afterEach(() => vi.restoreAllMocks());

const queuePair = (): Resource => Object.create(Resource.prototype) as Resource;

it('closing one queue pair fails its own requests, in their order, and does not look at those of the others', async () => {
  const awaited = new AwaitedRequests(() => undefined);
  const qps = Array.from({ length: 50 }, queuePair);
  const failed: string[] = [];
  const added = [0, 1, 2].flatMap((round) =>
    qps.map((qp, index) => {
      const { id, promise } = awaited.add({ wrId: 0, qp });
      promise.catch(() => failed.push(`${index} ${round}`));
      return id;
    }),
  );
  // The middle one of the second queue pair's.
  awaited.forget(added[51] ?? 0n);
  const walked = vi.spyOn(Map.prototype, Symbol.iterator);
  const values = vi.spyOn(Map.prototype, 'values');
  awaited.failAll(new Error('closed'), qps[0]);
  awaited.failAll(new Error('closed'), qps[1]);
  awaited.failAll(new Error('closed'), qps[1]);
  const sizes = [...walked.mock.contexts, ...values.mock.contexts].map((map) => (map as Map<unknown, unknown>).size);
  vi.restoreAllMocks();
  await new Promise((resolve) => setImmediate(resolve));
  expect(failed).toEqual(['0 0', '0 1', '0 2', '1 0', '1 2']);
  expect(Math.max(0, ...sizes)).toBe(0);
  expect(awaited.waiting).toBe(48 * 3);
  awaited.failAll(new Error('closed'));
  expect(awaited.waiting).toBe(0);
});

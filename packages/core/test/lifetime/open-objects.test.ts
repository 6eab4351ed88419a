import { expect, it } from 'vitest';
import { openObjects } from '../../src/index.js';
import { open } from '../helpers/devices.js';

it('openObjects() has what is open, the oldest first, each once', () => {
  const before = openObjects();
  const added = () => openObjects().filter((each) => !before.includes(each));
  const ctx = open();
  const pd = ctx.allocPd();
  const cq = ctx.createCq(4);
  const mr = pd.allocMr(64, 0);
  expect(added().filter((each) => [ctx, pd, cq, mr].includes(each as never))).toEqual([ctx, pd, cq, mr]);
  expect(new Set(added()).size).toBe(added().length);
  pd.close();
  expect(added()).not.toContain(pd);
  expect(added()).not.toContain(mr);
  ctx.close();
  expect(openObjects()).toEqual(before);
});

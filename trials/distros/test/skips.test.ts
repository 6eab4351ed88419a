import { describe, expect, it } from 'vitest';
import { sortSkips } from '../src/skips.mjs';

describe('sortSkips', () => {
  const huge = {
    test: 'tests.test_odp.OdpTestCase.test_odp_rc_huge_traffic',
    reason: 'There are no huge pages of size 2M',
  };

  it('counts the skips of each reason, of the device alone', () => {
    const { known, news } = sortSkips('trixie', 'soft', [huge, { ...huge, test: 'another' }]);
    expect(news).toEqual([]);
    expect(known).toMatchObject([{ device: 'soft', count: 2, whose: 'machine' }]);
    expect(sortSkips('trixie', 'mlx5', [huge]).news).toEqual([`mlx5: ${huge.test}: ${huge.reason}`]);
  });

  it('tells apart tests of which the suite says the same', () => {
    const reason = 'Failed to modify QP';
    const { known, news } = sortSkips('sid', 'mlx5', [
      { test: 'tests.test_mlx5_pp.Mlx5PPTestCase.test_rate_limit', reason },
      { test: 'tests.test_mlx5_pp.Mlx5PPTestCase.test_other', reason },
    ]);
    expect(known.map(({ whose, count }) => [whose, count])).toEqual([['feature', 1]]);
    expect(news).toEqual([`mlx5: tests.test_mlx5_pp.Mlx5PPTestCase.test_other: ${reason}`]);
  });

  it('calls new what has no reason, is one too many, or is of a release that had none', () => {
    expect(sortSkips('trixie', 'soft', [{ test: 'a', reason: 'of another kind' }]).news).toHaveLength(1);
    expect(sortSkips('trixie', 'soft', [huge, huge, huge, huge]).news).toHaveLength(1);
    expect(sortSkips('trixie', 'soft', [{ test: 'a', reason: 'No PHC or failed to open' }]).news).toHaveLength(1);
  });
});

import { describe, expect, it } from 'vitest';
import { checkLoading, checkPyverbs } from '../src/checks.mjs';
import { releaseOf } from '../src/releases.mjs';
import { openRoot, whyNoRoots } from '../src/root.mjs';

// Debian 13 in the gate; `npm run trial distros` has all releases and more of each.

const reason = whyNoRoots();
const release = releaseOf('trixie');

describe.skipIf(reason !== undefined)(`on Debian 13 (${reason ?? 'in a root'})`, { timeout: 900_000 }, () => {
  if (release === undefined) throw new Error('no such release');

  it('every program and library finds its names in ours', () => {
    const { failures, text } = checkLoading(openRoot(release, release.packages));
    expect(failures).toEqual([]);
    expect(text).toMatch(/^\d\d+ of \d\d+ load$/);
  });

  it("rdma-core's own tests of that release pass", async () => {
    let printed = '';
    const { failures } = await checkPyverbs(openRoot(release, release.packages), release, (text) => {
      printed += text;
    });
    expect(failures, printed).toEqual([]);
  });
});

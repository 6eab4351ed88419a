import { describe, expect, it } from 'vitest';
import { withBreaks } from '../src/breaks.mjs';

describe('withBreaks', () => {
  it('lets long names of tables break between their words', () => {
    expect(withBreaks('<td><code>grh.sgidIndex</code> and RNR_RETRY_EXC_ERR</td>')).toBe(
      '<td><code>grh.<wbr>sgid<wbr>Index</code> and RNR_<wbr>RETRY_<wbr>EXC_<wbr>ERR</td>',
    );
    expect(withBreaks('<th style="text-align:left"><a href="a_b"><code>postRecv</code></a></th>')).toBe(
      '<th style="text-align:left"><a href="a_b"><code>post<wbr>Recv</code></a></th>',
    );
  });

  it('marks the options of commands', () => {
    expect(withBreaks('<p><code>--json</code>, <code>-g</code>, <code>-- a</code></p>')).toBe(
      '<p><code class="option">--json</code>, <code class="option">-g</code>, <code>-- a</code></p>',
    );
  });

  it('leaves alone what is short, what is an attribute or an entity, and what is in no table', () => {
    for (const html of [
      '<td>the Q_Key, a RoCE port, 0.15</td>',
      '<td><a href="a_b/cD.html">rxe &lt;-&gt; soft</a></td>',
      '<td><code>@verbs/core</code>, <code>__stat</code></td>',
      '<p><code>grh.sgidIndex</code></p>',
    ])
      expect(withBreaks(html)).toBe(html);
  });
});

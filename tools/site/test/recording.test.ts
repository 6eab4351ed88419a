import { expect, it } from 'vitest';
import { recording } from '../src/recording.mjs';

it('draws lines at their times', () => {
  const svg = recording('demo', [{ seconds: 1.5, text: 'a < b' }]);
  expect(svg).toContain('<text y="13" style="animation-delay: 0.00s">$ demo</text>');
  expect(svg).toContain('<text y="30" style="animation-delay: 1.50s">a &lt; b</text>');
  expect(svg).toContain('translateY(-0px)');
});

it('scrolls when the terminal is full', () => {
  const lines = Array.from({ length: 40 }, (_, i) => ({ seconds: (i + 1) / 10, text: `${i}` }));
  const svg = recording('demo', lines);
  expect(svg).toContain('97.5% { transform: translateY(-17px); } 100.0% { transform: translateY(-34px); }');
});

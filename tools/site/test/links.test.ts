import { describe, expect, it } from 'vitest';
import { checkPages } from '../src/links.mjs';

describe('checkPages', () => {
  const check = (pages: Record<string, string>, files: string[] = []) =>
    checkPages(new Map(Object.entries(pages)), new Set([...Object.keys(pages), ...files])).findings.map(
      ({ page, what }) => `${page}: ${what}`,
    );

  it('finds nothing where all is there', () => {
    const pages = {
      'index.html': '<a href="guides/a.html#top">a</a> <a class="x" href="https://example.org/">b</a><h1 id="here">',
      'guides/a.html':
        '<h1 class="c" id="top"></h1><a href="../index.html#here"></a><a href="#top"></a><img src="../a.svg">',
    };
    expect(check(pages, ['a.svg'])).toEqual([]);
  });

  it('finds missing pages, files and anchors', () => {
    expect(
      check({
        'index.html': '<a href="b.html"></a><a href="a.html#there"></a><a href="#nowhere"></a>',
        'a.html': '<img src="picture.svg">',
      }),
    ).toEqual([
      'index.html: there is no b.html',
      'index.html: a.html has no #there',
      'index.html: index.html has no #nowhere',
      'a.html: there is no picture.svg',
    ]);
  });

  it('finds what a page would load from elsewhere', () => {
    expect(
      check({
        'index.html':
          '<script src="https://cdn.example/a.js"></script><link rel="stylesheet" href="//fonts.example/f.css"><img src="data:image/png;base64,AA==">',
      }),
    ).toEqual(['index.html: loads https://cdn.example/a.js', 'index.html: loads //fonts.example/f.css']);
  });

  it('leaves the text of scripts out', () => {
    expect(check({ 'index.html': `<script>const a = '<a href="nothing.html">';</script>` })).toEqual([]);
  });
});

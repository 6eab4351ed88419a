import { lineOf, textOf } from '@verbs/lib/text';

const SVG = 'http://www.w3.org/2000/svg';

type Attributes = Record<string, string | number>;

// The page's only door for text (see eslint.config.js): text is text, whatever it holds.

function fill(element: Element, attributes: Attributes, children: readonly (Node | string)[]): void {
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, lineOf(String(value)));
  element.append(...children.map((child) => (typeof child === 'string' ? textOf(child) : child)));
}

/** An HTML element. */
export function html<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  fill(element, attributes, children);
  return element;
}

/** An SVG element. */
export function svg<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, name);
  fill(element, attributes, children);
  return element;
}

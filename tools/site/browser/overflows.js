// It runs in the page, so it needs nothing from outside; the value of the expression is a list of sentences: what of the page is wider than
// the screen, or cut. Code and diagrams may scroll by themselves on a telephone; all has to fit on a laptop, and tables everywhere.
(() => {
  // typedoc shows a page when its script has run.
  document.body.style.removeProperty('display');
  const found = [];
  const width = document.documentElement.clientWidth;
  const wide = width >= 1000;
  const name = (element) => {
    const text = (element.textContent ?? '').trim().replace(/\s+/g, ' ').slice(0, 50);
    return `${element.tagName.toLowerCase()} "${text}"`;
  };
  if (document.documentElement.scrollWidth > width + 1)
    found.push(`the page is ${document.documentElement.scrollWidth} pixels wide`);
  for (const element of document.querySelectorAll('.col-content pre, .col-content table, .col-content figure')) {
    const { left, right } = element.getBoundingClientRect();
    if (right === left) continue;
    if (right > width + 1 || left < -1) found.push(`${name(element)} reaches from ${left} to ${right}`);
    const scrolled = [element, ...element.querySelectorAll('code')].find(
      (each) => each.scrollWidth > each.clientWidth + 1,
    );
    if (scrolled === undefined || getComputedStyle(scrolled).display === 'inline') continue;
    const { overflowX } = getComputedStyle(scrolled);
    if (overflowX !== 'auto' && overflowX !== 'scroll')
      found.push(`${name(element)} is cut: ${scrolled.scrollWidth} of ${scrolled.clientWidth} pixels`);
    else if (wide || element.tagName === 'TABLE')
      found.push(`${name(element)} has to be scrolled: ${scrolled.scrollWidth} of ${scrolled.clientWidth} pixels`);
  }
  return found;
})();

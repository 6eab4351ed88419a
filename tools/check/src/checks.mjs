/**
 * The checks of sources, documents and packages: the tasks of turbo.json that `npm run lint` runs one after the other, and
 * `npm test` in two chains of much the same length, side by side with the tests. Those wait for networks and clocks half of
 * the time, which the checks fill.
 */
export const chains = [
  ['lint:js', 'lint:package', 'lint:api', 'lint:format', 'site'],
  ['lint:naming', 'lint:cpp', 'lint:examples', 'lint:docs', 'lint:rooms', 'lint:unused', 'lint:spelling'],
];

/** Where they are named only: a part of lint:js, and what takes longer than all others together. */
export const onDemand = ['lint:types', 'lint:tidy'];

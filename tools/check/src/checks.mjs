/**
 * The checks of sources, documents and packages: the tasks of turbo.json that `npm run lint` runs one after the other, and
 * `npm test` in two chains of much the same length, side by side with the tests. Those wait for networks and clocks half of
 * the time, which the checks fill.
 */
export const chains = [
  ['lint:js', 'lint:types', 'lint:package', 'lint:api', 'lint:format', 'site'],
  ['lint:naming', 'lint:cpp', 'lint:examples', 'lint:docs', 'lint:rooms', 'lint:unused', 'lint:spelling'],
];

/** Longer than all others together, so that it runs where it is named only. */
export const onDemand = ['lint:tidy'];

/** @import { Cell } from './harness/run.mjs' */
import { disturbances } from './disturbances/index.mjs';

/**
 * All cells, or those of a kind, a kind and a link, or one: KIND[/LINK[/PACKAGE]].
 * @param {string} [only]
 * @returns {Cell[]}
 */
export function cellsOf(only) {
  const [kind, link, name] = (only ?? '').split('/');
  return disturbances
    .filter((disturbance) => only === undefined || disturbance.kind === kind)
    .flatMap((disturbance) =>
      disturbance.links
        .filter((each) => link === undefined || each === link)
        .flatMap((each) =>
          disturbance.packages
            .filter((own) => name === undefined || own === name)
            .map((own) => ({ disturbance, link: each, package: own })),
        ),
    );
}

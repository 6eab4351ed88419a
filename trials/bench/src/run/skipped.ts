/** Why a contender is left out: it is not installed, or does not work here. */
export class Skipped extends Error {
  override readonly name = 'Skipped';
}

/** @import { Case } from './cases/case.mjs' */
/** @import { Place } from './places.mjs' */

/** The results: a line for each program and place. */
export class Table {
  failed = 0;
  cases = 0;
  /** @type {Map<string, { cases: number, passed: number, reasons: Map<string, number> }>} */
  #rows = new Map();

  /**
   * @param {Place} place
   * @param {Case} each
   * @param {string | undefined} failure
   */
  add(place, each, failure) {
    const key = `${each.program.padEnd(16)} ${place.name.padEnd(10)}`;
    const row = this.#rows.get(key) ?? { cases: 0, passed: 0, reasons: /** @type {Map<string, number>} */ (new Map()) };
    this.#rows.set(key, row);
    ++row.cases;
    ++this.cases;
    if (failure === undefined) ++row.passed;
    // What cannot run by its nature is no failure.
    const known = each.cannot ?? place.cannot;
    if (failure !== undefined && known === undefined) {
      ++this.failed;
      console.log(`FAILED ${place.name}: ${each.program} ${each.name}: ${failure}`);
    }
    const reason = known ?? (failure === undefined ? undefined : 'failed, see above');
    if (reason !== undefined) row.reasons.set(reason, (row.reasons.get(reason) ?? 0) + 1);
  }

  print() {
    console.log(`\n${'program'.padEnd(16)} ${'place'.padEnd(10)} cases passed  the others`);
    let passed = 0;
    for (const [key, row] of this.#rows) {
      const reasons = [...row.reasons].map(([reason, count]) => `${count}: ${reason}`).join('; ');
      console.log(`${key} ${String(row.cases).padStart(5)} ${String(row.passed).padStart(6)}  ${reasons}`.trimEnd());
      passed += row.passed;
    }
    const cannot = this.cases - passed - this.failed;
    console.log(`${this.cases} cases: passed ${passed}, cannot run ${cannot}, failed ${this.failed}`);
  }
}

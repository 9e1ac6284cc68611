/**
 * Redocly finds references in rounds, and each round waits for all of them again (`resolve.js`). A
 * small document can be made to need tens of thousands of rounds, each for one more reference. Real
 * documents need a few.
 */
const maxWaits = 10_000_000;

const tooManyRounds = Symbol('too many rounds');
const { all } = Promise;

/**
 * Limits what the rounds of one job cost. Changes `Promise.all` for the whole process: for a
 * sandbox, which does one job at a time. Returns what begins the next job.
 */
export function limitRounds(): () => void {
  let waits = 0;
  Promise.all = ((values: readonly unknown[]) => {
    waits += Array.isArray(values) ? values.length : 0;
    if (waits <= maxWaits) return all.call(Promise, values);
    return Promise.reject(Object.assign(new Error('The references need too many rounds.'), { [tooManyRounds]: true }));
  }) as typeof Promise.all;
  return () => void (waits = 0);
}

/** Whether a job ended because its references needed too many rounds. */
export function isTooManyRounds(error: unknown): boolean {
  return error instanceof Error && tooManyRounds in error;
}

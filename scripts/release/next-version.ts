const steps = ['major', 'minor', 'patch'] as const;

/** The version that is asked for: `1.4.0`, or a step from the current one. Throws where it is neither, or not a later one. */
export function nextVersion(current: string, asked: string): string {
  const numbers = parse(current);
  const step = (steps as readonly string[]).indexOf(asked);
  const next = step === -1 ? parse(asked) : numbers.map((n, at) => (at < step ? n : at === step ? n + 1 : 0));
  const first = next.findIndex((n, at) => n !== numbers[at]);
  if (first === -1 || next[first]! < numbers[first]!) throw new Error(`${asked} is not later than ${current}.`);
  return next.join('.');
}

function parse(version: string): number[] {
  if (!/^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}$/.test(version))
    throw new Error(`"${version}" is not a version. Write one such as 1.4.0, or major, minor or patch.`);
  return version.split('.').map(Number);
}

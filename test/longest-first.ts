import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest, the longest first. Begun last, one of them would keep a single processor busy at the end. */
const long = [
  'render/large',
  'e2e/build',
  'e2e/serve',
  'source/mirror',
  'render/browser',
  'e2e/browser/pages',
  'e2e/monorepo',
  'source/sshd',
  'e2e/remote',
  'e2e/static',
  'e2e/browser/more-pages',
  'e2e/browser/hostile',
  'hosts/github',
  'e2e/kill',
];

function rankOf({ moduleId }: TestSpecification): number {
  const at = long.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
  return at < 0 ? long.length : at;
}

/** Vitest knows how long a file took when it has run it before; a fresh clone has nothing but this list. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

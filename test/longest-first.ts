import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest, the longest first. Begun last, one of them would keep a single processor busy at the end. */
const long = [
  'render/corpus',
  'render/large',
  'source/mirror',
  'source/sshd',
  'store/ceph',
  'e2e/serve',
  'e2e/browser/pages',
  'render/hostile',
  'compile/hostile-cost',
  'source/bundles',
  'source/ancestry',
  'server/v1/matrix',
  'e2e/static',
  'render/browser',
  'site/build/build',
  'e2e/build',
  'e2e/monorepo',
  'e2e/browser/docs',
  'hosts/github',
  'pulls/hosts',
  'e2e/kill',
  'compile/sandbox/sandbox',
  'source/history',
  'source/cache',
  'server/v1/fuzz',
  'server/v1/crash',
  'compile/schema/json-schema-corpus',
  'pack',
  'e2e/shuffle',
  'e2e/deploy',
  'e2e/first-steps',
  'e2e/browser/hostile',
  'e2e/browser/more-pages',
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

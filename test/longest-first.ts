import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest, the longest first. Begun last, one of them would keep a single processor busy at the end. */
const long = [
  'source/mirror',
  'e2e/static',
  'compile/sandbox/sandbox',
  'e2e/browser/pages',
  'store/ceph',
  'source/sshd',
  'e2e/serve',
  'render/large',
  'render/corpus',
  'pack',
  'source/ancestry',
  'e2e/kill',
  'e2e/browser/more-pages',
  'site/build/build',
  'e2e/browser/hostile',
  'e2e/build',
  'source/cache',
  'source/history',
  'store/s3',
  'hosts/github',
  'pulls/hosts',
  'e2e/first-steps',
  'source/bundles',
  'cli/json',
  'source/walls',
  'e2e/shuffle',
  'render/browser',
  'e2e/monorepo',
  'compile/hostile-cost',
  'e2e/browser/search',
  'sync/guard',
  'compile/corpus',
  'server/v1/crash',
  'e2e/deploy',
  'e2e/browser/console-git',
  'server/v1/hooks',
  'server/v1/gate',
  'server/v1/matrix',
  'e2e/browser/docs',
  'compile/schema/json-schema-corpus',
  'store/fs',
  'compile/sandbox/isolation',
  'compile/detect',
  'cli/mistakes',
  'e2e/events',
  'e2e/hooks',
  'release',
  'site/build/edge',
  'compile/ignored',
  'e2e/browser/console',
  'e2e/stop',
  'e2e/static-differences',
  'reporter',
  'e2e/dev',
  'render/hostile',
  'site/discovery',
  'server/v1/fuzz',
  'server/v1/hostile',
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

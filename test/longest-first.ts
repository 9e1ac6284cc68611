import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest, the longest first. Begun last, one of them would keep a single processor busy at the end. */
const long = [
  'render/large',
  'e2e/browser/pages',
  'store/ceph',
  'compile/sandbox/sandbox',
  'e2e/browser/narrow',
  'source/mirror',
  'e2e/serve',
  'e2e/browser/hostile',
  'pack',
  'source/sshd',
  'render/corpus',
  'compile/hostile-cost',
  'site/build/build',
  'e2e/browser/console-site',
  'e2e/browser/more-pages',
  'e2e/kill',
  'e2e/browser/search',
  'source/walls',
  'e2e/monorepo',
  'e2e/static-differences',
  'render/browser',
  'store/fs',
  'e2e/static',
  'server/v1/matrix',
  'site/build/edge',
  'source/cache',
  'compile/corpus',
  'sync/guard',
  'source/ancestry',
  'cli/json',
  'source/bundles',
  'compile/sandbox/isolation',
  'source/history',
  'compile/schema/json-schema-corpus',
  'e2e/browser/docs',
  'compile/detect',
  'hosts/github',
  'e2e/browser/console-git',
  'e2e/build',
  'store/s3',
  'e2e/shuffle',
  'server/v1/crash',
  'server/v1/hooks',
  'e2e/stop',
  'render/hostile',
  'e2e/dev',
  'e2e/hooks',
  'cli/mistakes',
  'e2e/first-steps',
  'server/read/images',
  'e2e/events',
  'pulls/hosts',
  'compile/sandbox/spare',
  'server/login/chromium',
  'reporter',
  'source/local',
  'server/v1/fuzz',
  'e2e/deploy',
  'server/v1/hostile',
  'compile/openapi/fits-surely',
  'server/read/docs',
  'e2e/remote',
  'server/login/forged',
  'server/v1/trial',
  'store/refs',
  'search/search-corpus',
  'compile/schema/schema-bundle',
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

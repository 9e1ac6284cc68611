import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that start many processes of git: begun first, since starting one from a worker that has grown takes ten times as
 * long. Then files that take longest, the longest first. Begun last, one of them would keep a single processor busy at the end.
 */
const long = [
  'e2e/shuffle',
  'source/mirror',
  'source/bundles',
  'source/ancestry',
  'source/cache',
  'source/history',
  'source/walls',
  'sync/guard',
  'render/large',
  'e2e/browser/pages',
  'store/ceph',
  'compile/sandbox/sandbox',
  'e2e/browser/narrow',
  'e2e/serve',
  'e2e/browser/hostile',
  'pack',
  'deploy/ci',
  'source/sshd',
  'render/corpus',
  'compile/hostile-cost',
  'site/build/build',
  'e2e/browser/console-site',
  'e2e/browser/more-pages',
  'deploy/contracts-ci',
  'lives/lives',
  'e2e/kill',
  'e2e/browser/search',
  'e2e/monorepo',
  'e2e/static-differences',
  'server/damage-table',
  'deploy/examples',
  'e2e/rolling',
  'render/browser',
  'store/fs',
  'e2e/static',
  'server/v1/matrix',
  'site/build/edge',
  'compile/corpus',
  'faults/routes',
  'faults/sync',
  'registry/references',
  'diff/properties',
  'promises',
  'e2e/proxy',
  'cli/doctor',
  'deploy/moving-in',
  'cli/json',
  'compile/sandbox/isolation',
  'compile/schema/json-schema-corpus',
  'e2e/browser/docs',
  'compile/detect',
  'hosts/github',
  'e2e/browser/console-git',
  'e2e/build',
  'store/s3',
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

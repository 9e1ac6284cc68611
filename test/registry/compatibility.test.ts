import { describe, expect, it, test } from 'vitest';
import {
  notCompared,
  type Change,
  type ChangeRules,
  type ChangeSettings,
  type Comparison,
  noCounts,
} from '../../src/model/comparison.ts';
import type { Compatibility } from '../../src/model/gate.ts';
import { createReport, type Exemption, type Problem } from '../../src/model/problem.ts';
import type { Resource } from '../../src/model/resource.ts';
import type { Compiled, Published } from '../../src/compile/compile.ts';
import { checkCompatibility } from '../../src/registry/gate/compatibility.ts';
import { digestOf } from '../../src/model/digest.ts';
import { encodeJson } from '../../src/model/json.ts';
import type { Registry } from '../../src/registry/registry.ts';

const json = encodeJson({});
const config = encodeJson({ kind: 'openapi' });
const layer = {
  mediaType: '',
  size: json.length,
  digest: digestOf(json),
  annotations: { 'dev.stele.format': 'json', 'dev.stele.coding': 'identity' },
};
const manifest = encodeJson({ config: { digest: digestOf(config) }, layers: [layer] });
const objects = new Map([json, config, manifest].map((bytes) => [digestOf(bytes), bytes]));

const change: Change = {
  verdict: 'breaking',
  code: 'operation-removed',
  message: 'The operation GET /a was removed.',
  before: null,
  after: null,
  pointers: { before: '/paths/~1a/get', after: null },
  operations: ['GET /a'],
  reach: 1,
  direction: null,
};
const changed = (...changes: Change[]): Comparison => ({
  verdict: changes[0]?.verdict ?? 'none',
  counts: noCounts(),
  changes,
  truncated: false,
  reason: null,
});

/** What the new document was compared as, and by which rules. */
const compared: Published[] = [];
const judged: ChangeRules[] = [];

async function check(
  labels: string[],
  label: string,
  {
    compatibility = 'semver',
    comparison = changed(change),
    exemptions = [],
    latest = labels.at(-1) ?? null,
    problems = [],
    changes = {},
  }: {
    compatibility?: Compatibility;
    comparison?: Comparison;
    exemptions?: Exemption[];
    latest?: string | null;
    problems?: Problem[];
    changes?: ChangeSettings;
  } = {},
) {
  const versions = labels.map((one) => {
    const [name, state = 'active'] = one.split(' ');
    return { label: name, manifest: digestOf(manifest), status: { state } };
  });
  const resource = { org: 'acme', latest, versions } as unknown as Resource;
  const registry = {
    objects: { get: async (digest: string) => objects.get(digest as ReturnType<typeof digestOf>) ?? null },
    compiler: {
      compare: async (...[, after, , rules]: Parameters<Registry['compiler']['compare']>) => (
        compared.push(after),
        judged.push(rules),
        comparison
      ),
    },
    config: { limits: {}, organizations: { acme: { repositories: [], owners: [], defaults: {}, changes } } },
    now: () => new Date('2026-11-22T00:00:00Z'),
  } as unknown as Registry;
  const representations = [{ format: 'json', coding: 'identity', bytes: json }];
  const files = [{ path: 'a.yaml', blob: null, bytes: json }];
  const artifact = { type: 'apis', kind: 'openapi', representations };
  const compiled = { artifact, report: createReport(problems), files };
  return checkCompatibility(registry, resource, compatibility, {
    label,
    entry: 'a.yaml',
    compiled: compiled as unknown as Compiled,
    exemptions,
  });
}

describe('a breaking change', () => {
  it.each<[string[], string, Compatibility, boolean]>([
    [['1.0.0'], '1.1.0', 'none', true],
    [['1.0.0'], '1.1.0', 'semver', false],
    [['1.0.0'], '2.0.0', 'semver', true],
    [['1.0.0'], '2.0.0', 'strict', false],
    [['0.3.0'], '0.3.1', 'semver', false],
    [['0.3.0'], '0.4.0', 'semver', true],
    [['1.4.0'], '1.4.0+363da6f', 'semver', false],
    [['1.4.0', '2.0.0'], '1.4.1', 'semver', false],
    [['1.4.0', '2.0.0-rc.1'], '2.0.0-rc.2', 'semver', true],
    [['2026-01'], '2026-02', 'semver', false],
    [[], '1.0.0', 'semver', true],
  ])('of %j as %s under %s: allowed is %s', async (labels, label, compatibility, isAllowed) => {
    const report = await check(labels, label, { compatibility });
    expect(report.counts.error).toBe(isAllowed ? 0 : 1);
  });

  const pinned = ['1.4.0', '1.5.0', '2.0.0'];
  it.each<[string, string[], string | null, string, Compatibility, string | null]>([
    ['a pin does not move it', pinned, '1.4.0', '1.6.0', 'semver', '1.5.0'],
    ['under strict it is the pinned version', pinned, '1.4.0', '3.0.0', 'strict', '1.4.0'],
    [
      'yanked and withdrawn versions are passed over',
      ['1.4.0', '1.5.0 yanked', '1.6.0 withdrawn'],
      '1.4.0',
      '1.6.1',
      'semver',
      '1.4.0',
    ],
    ['deprecated ones are not', ['1.4.0', '1.5.0 deprecated'], '1.5.0', '1.6.0', 'semver', '1.5.0'],
    ['pre-releases promise nothing', ['1.4.0', '1.5.0-rc.1'], '1.4.0', '1.5.0', 'semver', '1.4.0'],
    ['after pre-releases alone there is none', ['1.0.0-rc.1'], '1.0.0-rc.1', '1.0.0', 'semver', null],
    ['where all are withdrawn there is none', ['1.0.0 withdrawn'], null, '1.0.1', 'semver', null],
    ['below all others there is none', ['1.0.0'], '1.0.0', '0.9.0', 'semver', null],
    ['labels without an order follow the latest', ['2026-01'], '2026-01', '1.0.0', 'semver', '2026-01'],
  ])('is one against the version before: %s', async (_, labels, latest, label, compatibility, before) => {
    const { problems } = await check(labels, label, { compatibility, latest });
    const against = problems.find(({ rule }) => rule === 'compatibility')?.message;
    if (before === null) expect(against).toBeUndefined();
    else expect(against).toMatch(new RegExp(`breaks clients of version ${before.replaceAll('.', String.raw`\.`)}\\.$`));
  });

  it('is to be approved again where the version that it was approved for is withdrawn', async () => {
    expect((await check(['1.4.0', '1.5.0'], '1.5.1', { comparison: changed() })).counts.error).toBe(0);
    expect((await check(['1.4.0', '1.5.0 withdrawn'], '1.5.1', { latest: '1.4.0' })).counts.error).toBe(1);
  });

  it.each<[string, string, Compatibility, string]>([
    ['1.4.0', '1.5.0', 'semver', 'Publish it as 2.0.0 instead of 1.5.0, or exempt each'],
    ['0.4.0', '0.4.1', 'semver', 'Publish it as 0.5.0 instead of 0.4.1'],
    [
      '2026-01',
      '2026-02',
      'semver',
      'Undo the change, or exempt each change in stele.yaml: 2026-01 is not a semantic version such as 2.0.0',
    ],
    ['1.4.0', '1.5.0', 'strict', 'Undo the change, or exempt each change in stele.yaml.'],
  ])('of %s as %s under %s says what to do', async (before, label, compatibility, text) => {
    const { problems } = await check([before], label, { compatibility });
    expect(problems.find(({ rule }) => rule === 'compatibility')?.message).toContain(text);
  });

  it('is an error with its code and place, and what to do', async () => {
    const { problems } = await check(['1.0.0'], '1.1.0');
    expect(problems).toMatchObject([
      { rule: 'operation-removed', severity: 'error', pointer: '/paths/~1a/get', message: change.message },
      { rule: 'compatibility', severity: 'info' },
    ]);
  });

  it('alone costs another look at the file, for its line', async () => {
    compared.length = 0;
    await check(['1.0.0'], '1.1.0', { comparison: changed({ ...change, verdict: 'docs' }) });
    expect(compared.map(({ source }) => source?.path)).toEqual([undefined]);
    compared.length = 0;
    await check(['1.0.0'], '1.1.0');
    expect(compared.map(({ source }) => source?.path)).toEqual([undefined, 'a.yaml']);
  });

  it('is approved by an exemption, which the report repeats', async () => {
    const at = { file: 'stele.yaml', pointer: '', line: 3, column: 5 };
    const exemptions = [{ rule: 'operation-removed', pointer: '/paths/~1a/**', reason: 'Nobody used it.', at }];
    const report = await check(['1.0.0'], '1.1.0', { exemptions });
    expect(report.counts.error).toBe(0);
    expect(report.exempted).toMatchObject([{ rule: 'operation-removed', exemption: { reason: 'Nobody used it.' } }]);
    const ended = await check(['1.0.0'], '1.1.0', { exemptions: [{ ...exemptions[0]!, expires: '2026-11-21' }] });
    expect(ended.counts.error).toBe(1);
    expect(ended.problems).toContainEqual(
      expect.objectContaining({ rule: 'exemption-expired', severity: 'warning', ...at }),
    );
  });

  it('uses its exemption, which the report of the ruleset alone calls unused', async () => {
    const at = { file: 'stele.yaml', pointer: '/a', line: 3, column: 5 };
    const exemption = { rule: 'operation-removed', reason: 'Nobody used it.', at };
    const unused = (place: typeof at): Problem => ({
      rule: 'exemption-unused',
      severity: 'info',
      message: 'It matches no finding.',
      ...place,
    });
    const problems = [unused(at), unused({ ...at, line: 9 })];
    const passed = await check(['1.0.0'], '1.1.0', { exemptions: [exemption], problems });
    expect(passed).toMatchObject({ problems: [{ line: 9 }], counts: { info: 1 } });
    const ended = { ...exemption, expires: '2026-11-21' };
    const refused = await check(['1.0.0'], '1.1.0', { exemptions: [ended], problems });
    expect(refused.problems.filter(({ rule }) => rule === 'exemption-unused')).toMatchObject([{ line: 9 }]);
  });

  it('is what cannot be judged, and not what is risky, safe or documentation', async () => {
    const count = async (comparison: Comparison) => (await check(['1.0.0'], '1.1.0', { comparison })).counts.error;
    expect(await count(changed({ ...change, verdict: 'unknown' }))).toBe(1);
    expect(await count(notCompared('It is too large.'))).toBe(1);
    for (const verdict of ['risky', 'safe', 'docs'] as const)
      expect(await count(changed({ ...change, verdict }))).toBe(0);
  });
});

test('deprecations end by the time of the publication', async () => {
  judged.length = 0;
  await check(['1.0.0'], '1.1.0', { changes: { deprecation: { grace: '90d' } } });
  expect(judged.length).toBeGreaterThan(0);
  for (const { removal } of judged) expect(removal).toMatchObject({ at: '2026-11-22T00:00:00.000Z', grace: 90 });
});

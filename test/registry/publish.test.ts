import { describe, expect, test } from 'vitest';
import { approvalsRef, type Approvals } from '../../src/model/approval.ts';
import { organizationRef, type OrganizationSettings } from '../../src/model/gate.ts';
import { resourceRef, selectVersion, type Resource } from '../../src/model/resource.ts';
import { changeResource, createResource } from '../../src/registry/change-resource.ts';
import { changeStatus } from '../../src/registry/change-version.ts';
import { fsck } from '../../src/registry/fsck.ts';
import type { PublishRequest } from '../../src/registry/append-version.ts';
import { datedUpload, publish } from '../../src/registry/publish.ts';
import type { Registry } from '../../src/registry/registry.ts';
import { verify } from '../../src/registry/verify.ts';
import { createWorld, snapshotOf } from './world.ts';

const coordinate = { org: 'acme', type: 'apis', slug: 'pay' } as const;

function api(version: string | null, more = ''): string {
  return `openapi: 3.1.0\ninfo: {title: Pay${version === null ? '' : `, version: "${version}"`}}\n${more}`;
}

function upload(text: string, given: Partial<PublishRequest> = {}): PublishRequest {
  return {
    coordinate,
    snapshot: snapshotOf(null, null, { 'api.yaml': text }),
    entry: 'api.yaml',
    version: null,
    onConflict: 'revise',
    latest: true,
    dryRun: false,
    create: {},
    author: { actor: 'operator:test', origin: null },
    ...given,
  };
}

function fromCommit(text: string, commit: string): Partial<PublishRequest> {
  return { snapshot: snapshotOf('https://example.test/r', commit, { 'api.yaml': text }) };
}

async function labels(registry: Registry): Promise<string[]> {
  return (await resourceOf(registry)).versions.map(({ label }) => label);
}

async function resourceOf(registry: Registry): Promise<Resource> {
  return (await registry.refs.read<Resource>(resourceRef(coordinate)))!.value;
}

async function published(registry: Registry, request: PublishRequest): Promise<string> {
  const result = await publish(registry, request);
  return 'version' in result ? `${result.outcome} ${result.version.label}` : result.outcome;
}

async function withdraw(registry: Registry, label: string): Promise<void> {
  const status = { state: 'withdrawn', reason: 'leaked', since: registry.now().toISOString() } as const;
  await registry.refs.update<Resource>(resourceRef(coordinate), (current) => {
    const { value } = current!;
    const versions = value.versions.map((version) => (version.label === label ? { ...version, status } : version));
    return { value: { ...value, versions }, change: { actor: 'operator:test', origin: null, action: 'withdraw' } };
  });
}

test('a dry run tells the version that a publish makes', async () => {
  const { registry } = createWorld();
  const tried = await publish(registry, upload(api('1.0.0'), { dryRun: true }));
  const made = await publish(registry, upload(api('1.0.0')));
  const told = (result: typeof made) => 'version' in result && [result.version.manifest, result.version.bytes];
  expect(told(tried)).toEqual(told(made));
});

test('what was unchanged, and is withdrawn before that is said, is published anew with its bytes', async () => {
  const { registry } = createWorld();
  await publish(registry, upload(api(null)));
  let isFirst = true;
  const update: typeof registry.refs.update = async (name, ...more) => {
    if (isFirst) await withdraw(registry, '1.0.0');
    isFirst = false;
    return registry.refs.update(name, ...more);
  };
  const racing = { ...registry, refs: { ...registry.refs, update } };
  expect(await published(racing, upload(api(null)))).toBe('published 1.0.1');
  expect((await fsck(registry)).damages).toEqual([]);
});

test('a resource that was created with its slug as name takes the title of its first document, and keeps it', async () => {
  const { registry } = createWorld();
  const author = { actor: 'operator:test', origin: null };
  await createResource(registry, coordinate, { name: 'pay' }, author);
  await published(registry, upload(api('1.0.0'), { create: null }));
  expect((await resourceOf(registry)).name).toBe('Pay');
  await published(registry, upload(api('1.1.0').replace('Pay', 'Pay now'), { create: null }));
  expect((await resourceOf(registry)).name).toBe('Pay');
  const other = { ...coordinate, slug: 'other' };
  await createResource(registry, other, { name: 'Ours' }, author);
  await published(registry, upload(api('1.0.0'), { coordinate: other, create: null }));
  expect((await registry.refs.read<Resource>(resourceRef(other)))!.value.name).toBe('Ours');
});

describe('labels (design §7)', () => {
  test('come from the request, else from the document, else are the next patch', async () => {
    const { registry } = createWorld();
    expect(await published(registry, upload(api(null)))).toBe('published 1.0.0');
    expect(await published(registry, upload(api(null, 'x: 1')))).toBe('published 1.0.1');
    expect(await published(registry, upload(api('2.0.0')))).toBe('published 2.0.0');
    expect(await published(registry, upload(api('2.0.0', 'x: 2'), { version: '3.0.0-rc.1' }))).toBe(
      'published 3.0.0-rc.1',
    );
    expect((await resourceOf(registry)).latest).toBe('2.0.0');
  });

  test('a version that is not a valid label is converted, and the original is kept', async () => {
    const { registry } = createWorld();
    expect(await published(registry, upload(api('v1 (beta)')))).toBe('published v1-beta');
    expect((await resourceOf(registry)).versions[0]!.original).toBe('v1 (beta)');
  });

  test('the same content again changes nothing', async () => {
    const { registry } = createWorld();
    await publish(registry, upload(api('1.0.0')));
    const before = await registry.refs.read(resourceRef(coordinate));
    expect(await published(registry, upload(api('1.0.0')))).toBe('unchanged 1.0.0');
    expect(await published(registry, upload(api('1.0.0'), { version: '1.0.0' }))).toBe('unchanged 1.0.0');
    expect(await registry.refs.read(resourceRef(coordinate))).toEqual(before);
  });

  test('other content under a named label is a conflict', async () => {
    const { registry } = createWorld();
    await publish(registry, upload(api('1.0.0')));
    const result = await publish(registry, upload(api('1.0.0', 'x: 1'), { version: '1.0.0' }));
    expect(result).toMatchObject({ outcome: 'conflict', label: '1.0.0', suggestion: '1.0.1' });
    expect(await labels(registry)).toEqual(['1.0.0']);
  });

  test('labels are unique ignoring case', async () => {
    const { registry } = createWorld();
    await publish(registry, upload(api('1.0.0-RC1')));
    expect(await published(registry, upload(api('1.0.0-rc1', 'x: 1'), { version: '1.0.0-rc1' }))).toBe('conflict');
  });

  test('an upload of a document with a taken version becomes revision +2, +3', async () => {
    const { registry } = createWorld();
    for (const more of ['', 'x: 1', 'x: 2']) await publish(registry, upload(api('1.0.0', more)));
    expect(await labels(registry)).toEqual(['1.0.0', '1.0.0+2', '1.0.0+3']);
    expect((await resourceOf(registry)).latest).toBe('1.0.0+3');
    expect(await published(registry, upload(api('1.0.0', 'x: 1')))).toBe('unchanged 1.0.0+2');
  });

  test('a commit of a document with a taken version becomes a revision named after the commit', async () => {
    const { registry } = createWorld();
    await publish(registry, upload('', fromCommit(api('1.0.0'), 'a'.repeat(40))));
    const changed = fromCommit(api('1.0.0', 'x: 1'), 'bcdef01'.padEnd(40, '2'));
    expect(await published(registry, upload('', changed))).toBe('published 1.0.0+bcdef01');
    expect(await published(registry, upload('', changed))).toBe('unchanged 1.0.0+bcdef01');
  });

  test('onConflict: reject rejects the document and suggests a version', async () => {
    const { registry } = createWorld();
    await publish(registry, upload(api('1.4.0')));
    const result = await publish(registry, upload(api('1.4.0', 'x: 1'), { onConflict: 'reject' }));
    expect(result).toMatchObject({ outcome: 'conflict', suggestion: '1.4.1' });
  });

  test.each([
    ['the same content', {}, ''],
    ['other content that would be a revision', {}, 'x: 1'],
    ['other content under the named label', { version: '1.0.0' }, 'x: 1'],
  ])('the label of a withdrawn version is never used again: %s', async (_, asked, more) => {
    const { registry } = createWorld();
    await publish(registry, upload(api('1.0.0')));
    await withdraw(registry, '1.0.0');
    expect(await publish(registry, upload(api('1.0.0', more), asked))).toMatchObject({
      outcome: 'conflict',
      label: '1.0.0',
      suggestion: '1.0.1',
      detail: 'Version 1.0.0 was withdrawn; its label is never used again.',
    });
    expect(await labels(registry)).toEqual(['1.0.0']);
  });

  test('the content of a revision is unchanged also when the first version of its label was withdrawn', async () => {
    const { registry } = createWorld();
    await publish(registry, upload(api('1.0.0')));
    await publish(registry, upload(api('1.0.0', 'x: 1')));
    await withdraw(registry, '1.0.0');
    expect(await published(registry, upload(api('1.0.0', 'x: 1')))).toBe('unchanged 1.0.0+2');
  });

  test.each([
    ['an upload', {}, '1.0.0'],
    ['an upload with a label', { version: '1.0.0+x' }, '1.0.0+x'],
    ['a tag', { version: '1.0.0+x', isTag: true, onConflict: 'revise' as const }, '1.0.0+x'],
    ['a commit that moves its file', fromCommit(api('1.0.0', 'secret: 1'), 'cdef012'.padEnd(40, '3')), '1.0.0'],
  ])('a revision that was withdrawn does not come back under another label: %s', async (_, again, label) => {
    const { registry } = createWorld();
    await publish(registry, upload(api('1.0.0')));
    const secret = api('1.0.0', 'secret: 1');
    const commit = 'bcdef01'.padEnd(40, '2');
    expect(await published(registry, upload('', fromCommit(secret, commit)))).toBe('published 1.0.0+bcdef01');
    await withdraw(registry, '1.0.0+bcdef01');
    expect(await publish(registry, upload(secret, again))).toMatchObject({
      outcome: 'conflict',
      label,
      suggestion: '1.0.1',
      detail: expect.stringContaining('This content was withdrawn as 1.0.0+bcdef01') as string,
    });
    expect(await labels(registry)).toEqual(['1.0.0', '1.0.0+bcdef01']);
  });

  test.each(['latest', 'sha256-x', '1.json', '../x', '', 'a..b', '-1', 'x'.repeat(129)])(
    '%j is rejected as a label',
    async (version) => {
      const { registry, compiler } = createWorld();
      await expect(publish(registry, upload(api('1.0.0'), { version }))).rejects.toMatchObject({ code: 'malformed' });
      expect(compiler.compiled).toEqual([]);
    },
  );

  test('a name of JavaScript is no label', async () => {
    const { registry } = createWorld();
    await expect(published(registry, upload(api('1.0.0'), { version: 'constructor' }))).rejects.toMatchObject({
      code: 'malformed',
      message: expect.stringContaining('a word of JavaScript') as string,
    });
    await publish(registry, upload(api('1.0.0')));
    expect(selectVersion(await resourceOf(registry), { kind: 'version', version: 'toString' })).toBeNull();
  });
});

describe('latest', () => {
  test('does not move if the upload says so', async () => {
    const { registry } = createWorld();
    await publish(registry, upload(api('1.0.0')));
    await publish(registry, upload(api('2.0.0'), { latest: false }));
    expect((await resourceOf(registry)).latest).toBe('1.0.0');
    await publish(registry, upload(api('1.0.1')));
    expect((await resourceOf(registry)).latest).toBe('1.0.1');
  });

  test('does not move back if an older release is published later', async () => {
    const { registry } = createWorld();
    for (const version of ['2.0.0', '1.9.0', '3.0.0-beta']) await publish(registry, upload(api(version)));
    expect((await resourceOf(registry)).latest).toBe('2.0.0');
  });
});

describe('all or nothing', () => {
  test('a rejected document creates no resource', async () => {
    const { registry } = createWorld();
    const result = await publish(registry, upload('broken: true'));
    expect(result.outcome).toBe('rejected');
    expect(await registry.refs.read(resourceRef(coordinate))).toBeNull();
  });

  test('a dry run says what would happen and writes nothing', async () => {
    const { registry, bucket } = createWorld();
    const result = await publish(registry, upload(api('1.0.0'), { dryRun: true }));
    expect(result).toMatchObject({ outcome: 'published', version: { label: '1.0.0' } });
    expect(bucket.calls().putIfAbsent).toBe(0);
  });

  test.each(['fail', 'fail-after'] as const)(
    'a failure of any single write (%s) leaves no partial version, and a retry succeeds',
    async (kind) => {
      const probe = createWorld();
      // Too large to be packed: it has objects of its own.
      const document = api('1.0.0', `x: ${'y'.repeat(2_200_000)}`);
      await publish(probe.registry, upload(document));
      const writes = probe.bucket.calls().putIfAbsent;
      expect(writes).toBeGreaterThan(4);
      for (let step = 0; step < writes; step++) {
        const { registry, bucket, another } = createWorld();
        let seen = 0;
        bucket.fault('putIfAbsent', kind, { count: 1, when: () => seen++ === step });
        const first = await published(registry, upload(document)).catch(() => 'failed');
        const reader = another();
        if (first === 'failed') expect(await reader.refs.read(resourceRef(coordinate))).toBeNull();
        expect(await published(reader, upload(document))).toBe(
          first === 'failed' ? 'published 1.0.0' : 'unchanged 1.0.0',
        );
        expect((await fsck(reader)).damages).toEqual([]);
      }
    },
  );

  test('of many concurrent documents with one version, one gets the label and the others become revisions', async () => {
    const { registry, another } = createWorld();
    const processes = [registry, another(), another()];
    const results = await Promise.all(
      Array.from({ length: 12 }, (_, n) => published(processes[n % 3]!, upload(api('1.0.0', `x: ${n}`)))),
    );
    expect(results.filter((result) => result === 'published 1.0.0')).toHaveLength(1);
    expect(new Set(results).size).toBe(12);
    expect(new Set(await labels(another())).size).toBe(12);
  });

  test('of many concurrent requests for one label, one succeeds and the others get a conflict', async () => {
    const { registry, another } = createWorld();
    const processes = [registry, another()];
    const results = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        published(processes[n % 2]!, upload(api(null, `x: ${n}`), { version: '1.0.0' })),
      ),
    );
    expect(results.sort()).toEqual([...Array<string>(9).fill('conflict'), 'published 1.0.0']);
  });
});

describe('compatibility', () => {
  const withPaths = (version: string, ...paths: string[]) =>
    api(
      version,
      `paths: {${paths.map((path) => `${path}: {get: {responses: {'200': {description: ok}}}}`).join(', ')}}`,
    );

  /** The registry, in which something happens when the first document was compiled. */
  const meanwhile = (registry: Registry, happens: () => Promise<unknown>): Registry => {
    let compiled = 0;
    const compile: Registry['compiler']['compile'] = async (...given) => {
      const result = await registry.compiler.compile(...given);
      if (compiled++ === 0) await happens();
      return result;
    };
    return { ...registry, compiler: { ...registry.compiler, compile } };
  };
  const author = { actor: 'operator:test', origin: null };
  const asks = (registry: Registry, compatibility: 'none' | 'strict') =>
    registry.refs.update<OrganizationSettings>(organizationRef('acme'), () => ({
      value: { ruleset: null, defaults: { compatibility } },
      change: { ...author, action: 'test' },
    }));

  test('is judged by the policy at the commit, also if that was changed while it was compiled', async () => {
    const world = createWorld();
    await publish(world.registry, upload(api('1.0.0', 'paths: {/a: {}}')));
    const stricter = () => changeResource(world.registry, coordinate, { ruleset: strict }, author);
    const registry = meanwhile(world.registry, stricter);
    const strict = '@acme/rulesets/strict';
    const ruleset = upload('rules: {}', { coordinate: { org: 'acme', type: 'rulesets', slug: 'strict' } });
    await publish(world.registry, { ...ruleset, version: '1.0.0' });
    expect(await published(registry, upload(api('1.1.0', 'paths: {}')))).toBe('rejected');
  });

  test('is judged by what its organization says at the commit', async () => {
    const { registry } = createWorld();
    await publish(registry, upload(withPaths('1.0.0', '/a')));
    const stricter = () => asks(registry, 'strict');
    expect(await published(meanwhile(registry, stricter), upload(withPaths('1.1.0')))).toBe('rejected');
  });

  test('does not concern past history, which nobody gets who did not ask for it', async () => {
    const { registry } = createWorld({ organizations: { acme: { defaults: { compatibility: 'strict' } } } });
    await publish(registry, upload(withPaths('1.0.0', '/a')));
    const older = datedUpload(registry, upload(withPaths('0.9.0')).snapshot, '2020-01-01T00:00:00Z', true);
    expect(await published(registry, upload(withPaths('0.9.0'), older))).toBe('published 0.9.0');
  });

  test('is judged by what the configuration says, before what people set', async () => {
    const { registry } = createWorld({ organizations: { acme: { defaults: { compatibility: 'strict' } } } });
    await asks(registry, 'none');
    await publish(registry, upload(withPaths('1.0.0', '/a')));
    expect(await published(registry, upload(withPaths('1.1.0')))).toBe('rejected');
  });

  test('what waits for approval under a label ends when somebody else publishes that label', async () => {
    const { registry } = createWorld({ organizations: { acme: { defaults: { approval: 'required' } } } });
    await publish(registry, upload(withPaths('1.0.0', '/a')));
    const breaking = withPaths('1.1.0');
    const waiting = async () =>
      (await registry.refs.read<Approvals>(approvalsRef(coordinate)))?.value.held.map(({ label }) => label);
    expect(await published(registry, upload(breaking, fromCommit(breaking, 'a'.repeat(40))))).toBe('rejected');
    expect(await waiting()).toEqual(['1.1.0']);
    expect(await published(registry, upload(withPaths('1.1.0', '/a', '/b')))).toBe('published 1.1.0');
    expect(await waiting()).toEqual([]);
  });

  test('is judged against the versions that are offered at the commit, whichever is the latest', async () => {
    const { registry } = createWorld({ organizations: { acme: { defaults: { compatibility: 'semver' } } } });
    await publish(registry, upload(withPaths('1.0.0', '/a')));
    await publish(registry, upload(withPaths('1.1.0', '/a', '/b')));
    await changeResource(registry, coordinate, { latest: '1.0.0' }, author);
    await changeStatus(registry, coordinate, '1.1.0', { state: 'yanked', reason: 'x' }, author);
    const back = () => changeStatus(registry, coordinate, '1.1.0', { state: 'active' }, author);
    expect(await published(meanwhile(registry, back), upload(withPaths('1.2.0', '/a')))).toBe('rejected');
  });

  test('is judged against what is there at the commit, also if that was published meanwhile', async () => {
    const { registry } = createWorld({ organizations: { acme: { defaults: { compatibility: 'strict' } } } });
    expect(await published(registry, upload(withPaths('1.0.0', '/a')))).toBe('published 1.0.0');
    let isFirst = true;
    const refs: Registry['refs'] = {
      ...registry.refs,
      async update(name, decide, options) {
        if (isFirst && name === resourceRef(coordinate)) {
          isFirst = false;
          expect(await published(registry, upload(withPaths('1.1.0', '/a', '/b')))).toBe('published 1.1.0');
        }
        return registry.refs.update(name, decide, options);
      },
    };
    // Nothing is missing that 1.0.0 had, but `/b` of 1.1.0 is.
    expect(await published({ ...registry, refs }, upload(withPaths('1.2.0', '/a')))).toBe('rejected');
    expect(await labels(registry)).toEqual(['1.0.0', '1.1.0']);
  });
});

describe('the gate', () => {
  const ruleset = { org: 'acme', type: 'rulesets', slug: 'style' } as const;

  test('a version whose ruleset was withdrawn since cannot be rebuilt, and is not called damaged', async () => {
    const { registry } = createWorld({ organizations: { acme: { defaults: { ruleset: '@acme/rulesets/style' } } } });
    const first = await publish(registry, upload('rules: {}', { coordinate: ruleset }));
    const document = api('1.0.0', 'ok: true');
    await publish(registry, upload(document, fromCommit(document, 'a'.repeat(40))));
    const label = 'version' in first ? first.version.label : '';
    const author = { actor: 'operator:test', origin: null };
    await changeStatus(registry, ruleset, label, { state: 'withdrawn', reason: 'x' }, author);
    await expect(verify(registry, coordinate, { kind: 'latest' })).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining('was withdrawn since') as string,
    });
  });

  test('applies the ruleset and records its digest', async () => {
    const { registry } = createWorld({ organizations: { acme: { defaults: { ruleset: '@acme/rulesets/style' } } } });
    await expect(publish(registry, upload(api('1.0.0')))).rejects.toMatchObject({ code: 'refused' });
    const first = await publish(registry, upload('rules: {}', { coordinate: ruleset }));
    expect(first.outcome).toBe('published');
    expect((await publish(registry, upload(api('1.0.0')))).outcome).toBe('rejected');
    const passed = await publish(registry, upload(api('1.0.0', 'ok: true')));
    expect(passed).toMatchObject({ outcome: 'published', ruleset: 'version' in first ? first.version.manifest : '' });
  });

  test('after a ruleset becomes stricter, the same bytes stay unchanged and new content is rejected', async () => {
    const { registry } = createWorld();
    const attach = { create: { ruleset: '@acme/rulesets/style' } };
    const other = { ...coordinate, slug: 'other' } as const;
    await publish(registry, upload(api('1.0.0')));
    await publish(registry, upload('rules: {}', { coordinate: ruleset }));
    await registry.refs.update<Resource>(resourceRef(coordinate), (current) => ({
      value: { ...current!.value, ruleset: '@acme/rulesets/style' },
      change: { actor: 'operator:test', origin: null, action: 'attach' },
    }));
    const before = await registry.refs.read(resourceRef(coordinate));
    const again = await publish(registry, upload(api('1.0.0')));
    expect(again).toMatchObject({ outcome: 'unchanged', version: { label: '1.0.0' } });
    expect(again.report.counts.error).toBe(1);
    expect(await published(registry, upload(api('1.0.0'), { version: '1.0.0' }))).toBe('unchanged 1.0.0');
    expect(await published(registry, upload(api('1.0.0'), { dryRun: true }))).toBe('unchanged 1.0.0');
    for (const text of [api('1.0.1'), api('1.0.0', 'x: 1')])
      expect(await published(registry, upload(text))).toBe('rejected');
    // Its label is taken, too: what its ruleset finds is what its author has to mend first.
    expect(await published(registry, upload(api('1.0.0', 'x: 1'), { onConflict: 'reject' }))).toBe('rejected');
    expect(await published(registry, upload(api('1.0.0'), { version: '2.0.0' }))).toBe('rejected');
    expect(await published(registry, upload(api('1.0.0'), { coordinate: other, ...attach }))).toBe('rejected');
    expect(await registry.refs.read(resourceRef(coordinate))).toEqual(before);
  });
});

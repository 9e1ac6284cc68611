import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Delivery, Host, HostRepository } from '../../src/hosts/host.ts';
import type { Check, CheckState, PullComment } from '../../src/model/check.ts';
import { isRegistryError } from '../../src/model/errors.ts';
import type { KeptComment } from '../servers/comments.ts';
import { openStandIn, type Owned, type StandIn } from '../servers/stand-in.ts';
import { timesAsMany } from '../sample.ts';

/** A host whose API is a stand-in. Its repositories are at `https://git.example.test`; the repository `acme/contracts` is there. */
export interface OpenedHost extends AsyncDisposable {
  host: Host;
  standIn: StandIn & { pulls: unknown[]; owned: Owned; comments?: KeptComment[] };
  /** Names of credentials of the configuration. The token's secret is `tokenText`. */
  credentials: { good: string; elsewhere: string; ssh: string };
  /** How each check of a commit stands, by name. */
  stands(commit: string): Record<string, string>;
}

/** What is particular to a kind of host. */
export interface HostCase {
  /** `second`: milliseconds that a second of waiting takes. */
  open(second: number): Promise<OpenedHost>;
  secrets: { right: string; other: string };
  /** The header fields of a signed delivery. */
  sign(body: Uint8Array, secret: string, at: Date): Record<string, string>;
  /** The field that holds the signature. */
  field: string;
  /** Whether the signature is about the body. Default: true. */
  isBodySigned?: false;
  /** The name of the repository. Default: `acme/contracts`. */
  name?: string;
  /** What a name may be. Default: plain parts. */
  nameGrammar?: RegExp;
  /** The payload of a push to a repository with this name. Default: `push` with the name replaced. */
  pushTo?: (name: string) => object;
  /** Names that can be no repository. Default: `badNames`. */
  badNames?: string[];
  /** URLs of the repository, and others that are of none. Default: `hereUrls` and `elsewhereUrls`. */
  here?: string[];
  elsewhere?: string[];
  /** A delivery of each hint, for `acme/contracts`, `main`, number 7; unsigned. */
  push: { headers: Record<string, string>; payload: object };
  pull: { headers: Record<string, string>; payload: object; ref: string };
  /** A pull request in the API's list. Null: the API has none. */
  pullItem: ((number: unknown, base: unknown) => object) | null;
  refOf(number: number): string;
  /** A repository in the API's list of those of `acme`, by the name that it has there. */
  ownedItem(name: unknown, about: { isArchived: boolean; isFork: boolean }): object;
  /** The URL of such a repository. Default: `https://git.example.test/acme/x.git`. */
  ownedUrl?: (name: string) => string;
  /** Whether the API tells what is archived, has users beside organizations, and lists to everyone. Default: true. */
  hasArchived?: false;
  hasUsers?: false;
  isOpenToAll?: false;
  /** What stands for each state. Null: the API has no statuses. */
  states: Record<CheckState, string> | null;
  /**
   * Where findings are shown: at lines of the request, or with the checks of the commit. Absent: the
   * host has no comments.
   */
  notes?: 'lines' | 'checks';
}

export const tokenText = 'a-token-that-nobody-may-see';
/** So that the throttles of clients, which count in real seconds, fit into a call. */
const second = 200;
const commit = 'c'.repeat(40);
const now = new Date('2026-05-12T09:30:00Z');

export function checkOf(state: CheckState, more: Partial<Check> = {}): Check {
  const name = 'stele @acme/apis/payments';
  return { commit, name, state, title: `It is ${state}`, summary: 'Summary.', annotations: [], url: null, ...more };
}

const plainName = /^[a-z0-9_.-]+(?:\/[a-z0-9_.-]+)+$/;
export const badNames = [
  '..',
  'a/..',
  '/etc/passwd',
  'a//b',
  'acme/x y',
  'https://evil.test/a/b',
  `a/${'b'.repeat(600)}`,
];
const hereUrls = [
  'https://git.example.test/acme/contracts',
  'https://git.example.test/ACME/Contracts.git',
  'https://git.example.test/acme/contracts.git/',
  'ssh://git@git.example.test/acme/contracts.git',
  'ssh://git@git.example.test:2222/acme/contracts',
  'git@git.example.test:acme/contracts.git',
  'git@GIT.example.test:/acme/contracts',
  'ssh://git@ssh.git.example.test:443/acme/contracts.git',
  'ssh://git@altssh.git.example.test:443/acme/contracts.git',
];
const elsewhereUrls = [
  'https://git.example.test.evil.test/acme/contracts',
  'https://git.example.test:8443/acme/contracts',
  'https://ssh.git.example.test/acme/contracts',
  'git@xssh.git.example.test:acme/contracts',
  'https://evil.test/git.example.test/acme/contracts',
  'https://git.example.test@evil.test/acme/contracts',
  'git@evil.test:git.example.test/acme/contracts',
  'https://git.example.test/acme',
  'https://git.example.test/',
  'https://git.example.test/acme/..',
  'https://git.example.test/acme/%2e%2e%2fx',
  'file:///git.example.test/acme/contracts',
  '/srv/git/acme/contracts',
  'not a url',
  '',
];

/** The JSON with another value for the branch `main`, which may be written as a full ref. */
function withBranch(text: string, json: string): string {
  const branch: unknown = JSON.parse(json);
  const ref = typeof branch === 'string' ? JSON.stringify(`refs/heads/${branch}`) : json;
  return text.replaceAll('"main"', json).replaceAll('"refs/heads/main"', ref);
}

/** In place of `test` for a promise that a kind of host cannot make. */
const noTest = Object.assign(() => undefined, { each: () => () => undefined }) as unknown as typeof test;

/** Checks every promise of Host on one kind of it. */
export function hostContract(name: string, given: HostCase): void {
  describe(`host ${name}`, () => {
    let opened: OpenedHost;
    let host: Host;
    let repository: HostRepository;
    beforeEach(async () => {
      opened = await given.open(second);
      host = opened.host;
      repository = { name: repositoryName, credential: opened.credentials.good };
    });
    afterEach(() => opened[Symbol.asyncDispose]());

    const repositoryName = given.name ?? 'acme/contracts';
    const pullItem = given.pullItem ?? (() => ({}));
    const { states } = given;
    const ifPulls = given.pullItem === null ? noTest : test;
    const ifStatuses = states === null ? noTest : test;
    const ifNoStatuses = states === null ? test : noTest;
    const pushTo =
      given.pushTo ??
      ((other: string): object =>
        JSON.parse(JSON.stringify(given.push.payload).replaceAll('acme/contracts', other)) as object);
    const owner = (credential: string | null = opened.credentials.good) => ({
      path: 'acme',
      isDeep: false,
      credential,
    });
    const owned = async (on: Host) => (await on.listRepositories(owner())).repositories;
    const item = (other: unknown) => given.ownedItem(other, { isArchived: false, isFork: false });
    const withId = (found: object, id: number) => ({ ...found, id, uuid: `{${id}}` });
    const nameOf = (number: number) => repositoryName.replace('contracts', `contracts-${number}`);
    const urlOf = given.ownedUrl ?? ((other: string) => `https://git.example.test/${other}.git`);
    const bodyOf = (payload: unknown) => Buffer.from(JSON.stringify(payload));
    const { right, other } = given.secrets;
    const body = bodyOf(given.push.payload);
    function signed(secret = right, bytes: Uint8Array = body): Delivery {
      return { headers: { ...given.push.headers, ...given.sign(bytes, secret, now) }, body: bytes };
    }

    test('a delivery is genuine when one of the secrets signed it', async () => {
      expect(await host.isGenuine(signed(), [right], now)).toBe(true);
      expect(await host.isGenuine(signed(), [other, '', right], now)).toBe(true);
      const bytes = Buffer.from([0xff, 0x00, 0xfe]);
      expect(await host.isGenuine(signed(right, bytes), [right], now)).toBe(true);
    });

    test('a delivery that no secret signed is not genuine', async () => {
      const forged: [string, Delivery, string[]][] = [
        ['no secrets', signed(), []],
        ['an empty secret', signed(), ['']],
        ['another secret', signed(), [other]],
        ['signed with nothing', { headers: given.push.headers, body }, [right]],
      ];
      if (given.isBodySigned !== false) {
        forged.push(['another body', { ...signed(), body: Buffer.concat([body, Buffer.from(' ')]) }, [right]]);
        forged.push(['no body', { ...signed(), body: new Uint8Array() }, [right]]);
      }
      const { [given.field]: signature = '' } = signed().headers;
      const altered = ['', signature.slice(0, -1), `${signature}0`, `${signature}, ${signature}`, 'x'.repeat(500_000)];
      altered.push(signature.replace(/[0-9a-f]$/i, 'z'), `${'é'.repeat(64)}`, signature.replace('=', ''), '{}');
      for (const value of altered.filter((text) => text !== signature))
        forged.push([
          value.slice(0, 80),
          { ...signed(), headers: { ...signed().headers, [given.field]: value } },
          [right],
        ]);
      for (const [why, delivery, secrets] of forged)
        expect(await host.isGenuine(delivery, secrets, now), why).toBe(false);
    });

    test('hints at a push, by the name in small letters', () => {
      const hint = host.readHint({ headers: given.push.headers, body: bodyOf(pushTo(repositoryName.toUpperCase())) });
      expect(hint).toEqual({ kind: 'push', repository: repositoryName });
    });

    test('hints at a pull request, with a ref that is made here', () => {
      const { headers, payload, ref } = given.pull;
      const hint = host.readHint({ headers, body: bodyOf(payload) });
      const pull = { number: 7, base: 'main', ref };
      expect(hint).toEqual({ kind: 'pull', repository: repositoryName, pull, isOpen: true });
    });

    test.each([
      ['nothing', ''],
      ['no JSON', '{"ref":'],
      ['a list', '[]'],
      ['a text', '"push"'],
      ['null', 'null'],
      ['another object', '{}'],
      ['an inherited name', '{"__proto__":{"repository":{"full_name":"acme/contracts"}}}'],
      ['deep nesting', '['.repeat(100_000)],
      ['deep nesting that ends', `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
      ['no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ])('a push whose payload is %s is malformed', (_, text) => {
      const read = () => host.readHint({ headers: given.push.headers, body: Buffer.from(text) });
      expect(read).toThrow(expect.objectContaining({ code: 'malformed' }));
    });

    test('a payload of millions of values is too large', () => {
      const bytes = Buffer.from(`{"a":[${'[],'.repeat(2_000_000)}0]}`);
      const read = () => host.readHint({ headers: given.push.headers, body: bytes });
      expect(read).toThrow(expect.objectContaining({ code: 'too_large' }));
    });

    test('names that can be no repository are malformed', () => {
      for (const bad of given.badNames ?? badNames) {
        const read = () => host.readHint({ headers: given.push.headers, body: bodyOf(pushTo(bad)) });
        expect(read, bad).toThrow(expect.objectContaining({ code: 'malformed' }));
      }
    });

    test('numbers and branches that can be none are malformed', () => {
      const text = JSON.stringify(given.pull.payload);
      for (const bad of ['0', '-1', '1.5', '1e300', '9007199254740993', '"7"', 'null', '[7]']) {
        const read = () =>
          host.readHint({ headers: given.pull.headers, body: Buffer.from(text.replaceAll(/:7(?=[,}])/g, `:${bad}`)) });
        expect(read, bad).toThrow(expect.objectContaining({ code: 'malformed' }));
      }
      for (const bad of ['""', '"a..b"', '"-x"', '"a b"', '7', '{}', '"\\u0000"']) {
        const read = () => host.readHint({ headers: given.pull.headers, body: Buffer.from(withBranch(text, bad)) });
        expect(read, bad).toThrow(expect.objectContaining({ code: 'malformed' }));
      }
    });

    test('whatever is sent, there is a hint or a refusal', () => {
      const payloads = [given.push, given.pull].flatMap(({ headers, payload }) => {
        const text = JSON.stringify(payload);
        return [
          fc.nat(text.length).map((end) => ({ headers, text: text.slice(0, end) })),
          fc.json({ maxDepth: 4 }).map((json) => ({ headers, text: json })),
          spoilt(payload).map((value) => ({ headers, text: JSON.stringify(value) })),
        ];
      });
      const events = fc.constantFrom('__proto__', 'constructor', 'toString', '', 'push', 'Push Hook', 'repo:push');
      fc.assert(
        fc.property(fc.oneof(...payloads), fc.option(events), ({ headers, text }, event) => {
          const changed = Object.fromEntries(Object.entries(headers).map(([key, value]) => [key, event ?? value]));
          try {
            const hint = host.readHint({ headers: changed, body: Buffer.from(text) });
            expect(['push', 'pull', 'repository', 'nothing']).toContain(hint.kind);
            if (hint.kind !== 'nothing') expect(hint.repository).toMatch(given.nameGrammar ?? plainName);
            if (hint.kind === 'pull')
              expect(hint.pull.number).toSatisfy((n: number) => Number.isSafeInteger(n) && n > 0);
          } catch (error) {
            if (!isRegistryError(error, 'malformed')) throw error;
          }
        }),
        { numRuns: 125 * timesAsMany },
      );
    });

    test('knows its repositories by their URLs, and no others', () => {
      for (const url of given.here ?? hereUrls) expect(host.nameOf(url), url).toBe(repositoryName);
      for (const url of given.elsewhere ?? elsewhereUrls) expect(host.nameOf(url), url).toBeNull();
    });

    ifPulls('lists the open pull requests of every page, newest first, and no more than 200', async () => {
      const numbers = Array.from({ length: 230 }, (_, index) => 230 - index);
      opened.standIn.pulls.push(...numbers.slice(0, 120).map((number) => pullItem(number, 'main')));
      const pulls = numbers.slice(0, 120).map((number) => ({ number, base: 'main', ref: given.refOf(number) }));
      expect(await host.listPulls(repository)).toEqual({ pulls, isComplete: true });
      opened.standIn.pulls.push(...numbers.slice(120).map((number) => pullItem(number, 'main')));
      const some = await host.listPulls(repository);
      expect(some.isComplete).toBe(false);
      expect(some.pulls.map(({ number }) => number)).toEqual(numbers.slice(0, 200));
    });

    ifPulls('pull requests that cannot be are not listed', async () => {
      opened.standIn.pulls.push(pullItem(-1, 'main'), pullItem('x', 'main'), pullItem(2, 'a..b'));
      opened.standIn.pulls.push(pullItem(3, 'main'));
      expect((await host.listPulls(repository)).pulls.map(({ number }) => number)).toEqual([3]);
    });

    ifStatuses(
      'reports the state of a check; reported twice it is there once, and the newest report wins',
      async () => {
        await host.reportCheck(repository, checkOf('running'));
        await host.reportCheck(repository, checkOf('running'));
        expect(opened.stands(commit)).toEqual({ [checkOf('running').name]: states!.running });
        await host.reportCheck(repository, checkOf('failure'));
        await host.reportCheck(repository, checkOf('failure'));
        expect(opened.stands(commit)).toEqual({ [checkOf('running').name]: states!.failure });
      },
    );

    ifStatuses('reports at the same time arrive in the order in which they were made', async () => {
      await Promise.all(
        (['running', 'success', 'failure'] as const).map((state) => host.reportCheck(repository, checkOf(state))),
      );
      expect(opened.stands(commit)).toEqual({ [checkOf('running').name]: states!.failure });
    });

    ifStatuses.each(['waiting', 'success', 'neutral', 'cancelled'] as const)('has a word for %s', async (state) => {
      const check = checkOf(state, { url: 'https://registry.test/@acme/apis/payments', title: 'é'.repeat(2000) });
      await host.reportCheck(repository, check);
      expect(opened.stands(commit)).toEqual({ [check.name]: states![state] });
    });

    ifNoStatuses('without an API for statuses nothing is reported', async () => {
      await host.reportCheck(repository, checkOf('success'));
      expect(opened.standIn.requests).toEqual([]);
    });

    const ifComments = given.notes === undefined ? noTest : test;
    const comment: PullComment = {
      number: 7,
      commit,
      mark: 'mark1',
      text: 'Would be published',
      notes: [],
      isOnlyEdit: false,
    };
    const note = (line: number, message = 'Wrong') =>
      ({ path: 'a.yaml', line, column: 1, severity: 'error', rule: 'r', message }) as const;
    const written = () =>
      opened.standIn.comments!.map(({ number, text, at }) => [number, text.split('\n')[0], at?.line]);

    ifComments('a pull request has one comment, which is edited in place', async () => {
      await host.comment!(repository, { ...comment, isOnlyEdit: true });
      expect(written()).toEqual([]);
      opened.standIn.comments!.push({ id: 900, number: 7, text: 'What a person says' });
      await host.comment!(repository, comment);
      await host.comment!(repository, { ...comment, text: 'Would be refused' });
      await host.comment!(repository, { ...comment, text: 'Nothing to publish', isOnlyEdit: true });
      await host.comment!(repository, { ...comment, number: 8, mark: 'mark2', text: 'Another' });
      expect(written()).toEqual([
        [7, 'What a person says', undefined],
        [7, 'Nothing to publish', undefined],
        [8, 'Another', undefined],
      ]);
      const asked = opened.standIn.requests.length;
      await host.comment!(repository, { ...comment, text: 'Nothing to publish' });
      expect(opened.standIn.requests.slice(asked).every(({ method }) => method === 'GET')).toBe(true);
    });

    ifComments('two comments at once are one', async () => {
      await Promise.all([host.comment!(repository, comment), host.comment!(repository, comment)]);
      expect(written()).toHaveLength(1);
    });

    ifComments('findings are at their lines once, and go when they are mended', async () => {
      const lines = () => written().flatMap(([, , line]) => line ?? []);
      await host.comment!(repository, { ...comment, notes: [note(3), note(5, 'Also *wrong*')] });
      await host.comment!(repository, { ...comment, notes: [note(3), note(5, 'Also *wrong*')] });
      expect(lines()).toEqual(given.notes === 'lines' ? [3, 5] : []);
      await host.comment!(repository, { ...comment, notes: [note(5, 'Also *wrong*')] });
      expect(lines()).toEqual(given.notes === 'lines' ? [5] : []);
      await host.comment!(repository, comment);
      expect(written()).toEqual([[7, 'Would be published', undefined]]);
    });

    ifComments('nobody comments without a credential, or with an ssh key', async () => {
      await host.comment!({ ...repository, credential: null }, comment);
      await host.comment!({ ...repository, credential: opened.credentials.ssh }, comment);
      expect(opened.standIn.requests).toEqual([]);
    });

    test('without a credential, or with an ssh key, nothing is reported', async () => {
      await host.reportCheck({ ...repository, credential: null }, checkOf('success'));
      await host.reportCheck({ ...repository, credential: opened.credentials.ssh }, checkOf('success'));
      expect(opened.standIn.requests).toEqual([]);
    });

    ifPulls('without a credential the pull requests are asked for as nobody', async () => {
      opened.standIn.pulls.push(pullItem(1, 'main'));
      expect((await host.listPulls({ ...repository, credential: null })).pulls).toHaveLength(1);
      expect(opened.standIn.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
    });

    test('a credential that is bound to another host is not sent here', async () => {
      const elsewhere = { ...repository, credential: opened.credentials.elsewhere };
      await expect(host.reportCheck(elsewhere, checkOf('success'))).rejects.toMatchObject({ code: 'forbidden' });
      await expect(host.listPulls(elsewhere)).rejects.toMatchObject({ code: 'forbidden' });
      expect(opened.standIn.requests).toEqual([]);
    });

    test('a redirect is not followed, and no credential goes after it', async () => {
      await using target = await openStandIn(() => ({ status: 200, body: [] }));
      for (const status of [301, 302, 307, 308]) {
        opened.standIn.fail({ status, headers: { location: `${target.url}/stolen` } }, 20);
        if (states !== null)
          await expect(host.reportCheck(repository, checkOf('success'))).rejects.toMatchObject({ code: 'unreachable' });
        await expect(host.listRepositories(owner())).rejects.toMatchObject({ code: 'unreachable' });
        if (given.pullItem !== null)
          await expect(host.listPulls(repository)).rejects.toMatchObject({ code: 'unreachable' });
      }
      expect(target.requests).toEqual([]);
    });

    ifStatuses.each([401, 404, 422])('a refusal (%i) is logged once, without a secret', async (status) => {
      opened.standIn.fail({ status, body: { message: `Bad ${tokenText}` } }, 50);
      const error: unknown = await host.reportCheck(repository, checkOf('success')).catch((caught: unknown) => caught);
      expect(error).toMatchObject({ code: 'unreachable' });
      expect(String(error)).toContain(String(status));
      expect(String(error) + JSON.stringify(error)).not.toContain(tokenText);
    });

    test('5xx and 429 are tried again, after the time that they name', async () => {
      const isRead = ({ path }: { path: string }) =>
        /pull|merge|repo|projects/.test(path) && !path.includes('installation');
      const list = given.pullItem === null ? () => owned(host) : async () => (await host.listPulls(repository)).pulls;
      opened.standIn.pulls.push(pullItem(1, 'main'));
      opened.standIn.owned.repositories.push(item(nameOf(1)));
      opened.standIn.fail({ status: 503 }, 1, isRead);
      opened.standIn.fail({ status: 502, headers: { 'retry-after': '1' } }, 1, isRead);
      expect(await list()).toHaveLength(1);
      const over = { status: 429, headers: { 'retry-after': '1' } };
      opened.standIn.fail({ ...over, body: { message: 'You have exceeded a secondary rate limit.' } }, 1, isRead);
      expect(await list()).toHaveLength(1);
    });

    test('a rate limit that lasts is not waited for, and nothing more is asked until it ends', async () => {
      const over = { status: 429, headers: { 'retry-after': '3600' } };
      opened.standIn.fail({ ...over, body: { message: 'You have exceeded a secondary rate limit.' } }, 50);
      await expect(host.listRepositories(owner())).rejects.toMatchObject({ code: 'unreachable' });
      if (given.pullItem !== null)
        await expect(host.listPulls(repository)).rejects.toMatchObject({ code: 'unreachable' });
      const asked = opened.standIn.requests.length;
      for (let n = 0; n < 10; n++) await expect(host.listRepositories(owner())).rejects.toThrow('(429)');
      expect(opened.standIn.requests).toHaveLength(asked);
    });

    test('a registry that stops waits for no limit', async () => {
      await using patient = await given.open(1000);
      const over = { status: 429, headers: { 'retry-after': '20' } };
      patient.standIn.fail({ ...over, body: { message: 'You have exceeded a secondary rate limit.' } }, 50);
      const asked = patient.host.listRepositories(owner());
      asked.catch(() => undefined);
      await expect.poll(() => patient.standIn.requests.length).toBeGreaterThan(0);
      const began = performance.now();
      patient.host.close();
      await expect(asked).rejects.toThrow('(429)');
      expect(performance.now() - began).toBeLessThan(5000);
    });

    test('a host that stays silent is unreachable, in time', async () => {
      await using impatient = await given.open(25);
      impatient.standIn.fail({ status: 200, body: [], after: 600_000 }, 50);
      const asked = impatient.host.listRepositories(owner());
      await expect(asked).rejects.toMatchObject({ code: 'unreachable' });
    });

    test('an endless answer is not read to its end', async () => {
      await using impatient = await given.open(25);
      impatient.standIn.fail({ status: 200, body: 'x'.repeat(17 * 1024 * 1024) }, 50);
      const asked = impatient.host.listRepositories(owner(null));
      await expect(asked).rejects.toMatchObject({ code: 'unreachable' });
    });

    test('a host that is not there is unreachable', async () => {
      await using gone = await given.open(25);
      await gone.standIn[Symbol.asyncDispose]();
      await expect(gone.host.listRepositories(owner())).rejects.toMatchObject({ code: 'unreachable' });
    });

    test('lists the repositories of an owner, of every page, by URLs of the host', async () => {
      const numbers = Array.from({ length: 120 }, (_, index) => index);
      opened.standIn.owned.repositories.push(...numbers.map((number) => withId(item(nameOf(number)), number + 1)));
      const { repositories, isComplete } = await host.listRepositories(owner());
      expect(isComplete).toBe(true);
      const about = { isArchived: false, isFork: false };
      expect(repositories).toEqual(
        numbers.map((number) => {
          const full = nameOf(number);
          return {
            id: expect.stringMatching(`^\\{?${number + 1}\\}?$`) as string,
            name: full,
            url: urlOf(full),
            ...about,
          };
        }),
      );
      for (const found of repositories) expect(host.nameOf(found.url)).toBe(found.name);
    });

    test('finds a repository as the host has it now, by its id or a name; null where there is none', async () => {
      const isAsked = ({ path, method }: { path: string; method: string }) =>
        method === 'GET' && /repos|projects/.test(path) && !/installation|\/orgs\//.test(path);
      opened.standIn.fail({ status: 200, body: withId(item(nameOf(9)), 7) }, 2, isAsked);
      const asked = nameOf(9);
      for (const id of ['7', null])
        expect(await host.findRepository(repository, id)).toMatchObject({
          id: expect.stringMatching(/^\{?7\}?$/) as string,
          name: asked,
          url: urlOf(asked),
        });
      opened.standIn.fail({ status: 404, body: { message: 'Not Found' } }, 1, isAsked);
      expect(await host.findRepository(repository, '7')).toBeNull();
      for (const answer of [[], 7, 'x', { id: 7, full_name: '../x' }]) {
        opened.standIn.fail({ status: 200, body: answer }, 1, isAsked);
        expect(await host.findRepository(repository, null)).toBeNull();
      }
      const elsewhere = { ...repository, credential: opened.credentials.elsewhere };
      await expect(host.findRepository(elsewhere, null)).rejects.toMatchObject({ code: 'forbidden' });
    });

    test('says what is archived and what is a fork', async () => {
      const abouts = [true, false].flatMap((isArchived) => [true, false].map((isFork) => ({ isArchived, isFork })));
      opened.standIn.owned.repositories.push(...abouts.map((about, number) => given.ownedItem(nameOf(number), about)));
      const { repositories } = await host.listRepositories(owner());
      const hasArchived = given.hasArchived !== false;
      expect(repositories.map(({ isArchived, isFork }) => ({ isArchived, isFork }))).toEqual(
        abouts.map(({ isArchived, isFork }) => ({ isArchived: isArchived && hasArchived, isFork })),
      );
    });

    test('lists no more than 2,000 repositories, and says that there are more', async () => {
      const numbers = Array.from({ length: 2100 }, (_, index) => index);
      opened.standIn.owned.repositories.push(...numbers.map((number) => item(nameOf(number))));
      const { repositories, isComplete } = await host.listRepositories(owner());
      expect([repositories.length, isComplete]).toEqual([2000, false]);
    });

    test('repositories that cannot be are not listed', async () => {
      const bad = given.badNames ?? badNames;
      opened.standIn.owned.repositories.push(...bad.map(item), null, 7, [], {}, 'x', item(nameOf(1)));
      const listed = (await owned(host)).map(({ url }) => url);
      expect(listed).toContain(urlOf(nameOf(1)));
      for (const url of listed) expect(url).toMatch(/^https:\/\/git\.example\.test\/[^?#\s\\]+$/);
      expect(listed.join(' ')).not.toMatch(/null|undefined/);
      expect(listed.join(' ')).not.toMatch(/\/\.\.?(?:\/|$)/);
    });

    test('an answer that is not a list is a failure, not an owner without repositories', async () => {
      for (const answer of ['<html>', 7, null, { value: {} }, { values: 'x' }]) {
        opened.standIn.fail({ status: 200, body: answer }, 1, ({ path }) => /repos|projects/.test(path));
        await expect(owned(host)).rejects.toMatchObject({ code: 'unreachable' });
      }
    });

    (given.hasUsers === false ? noTest : test)('an owner may be a user', async () => {
      opened.standIn.owned.isUser = true;
      opened.standIn.owned.repositories.push(item(nameOf(1)));
      expect(await owned(host)).toHaveLength(1);
    });

    test('the repositories of an owner are asked for with its credential, or as nobody', async () => {
      const elsewhere = opened.credentials.elsewhere;
      await expect(host.listRepositories(owner(elsewhere))).rejects.toMatchObject({ code: 'forbidden' });
      expect(opened.standIn.requests).toEqual([]);
      if (given.isOpenToAll === false)
        await expect(host.listRepositories(owner(null))).rejects.toMatchObject({ code: 'unreachable' });
      else expect((await host.listRepositories(owner(null))).repositories).toEqual([]);
      expect(opened.standIn.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
    });

    test('the error for a missing owner names it', async () => {
      const missing = host.listRepositories({ ...owner(), path: 'nobody' });
      await expect(missing).rejects.toMatchObject({
        code: 'unreachable',
        message: expect.stringContaining('nobody/*'),
      });
    });

    test('git gets nothing of its own for a token', async () => {
      expect(await host.gitCredential({ ...repository, credential: null })).toBeNull();
      expect(await host.gitCredential({ ...repository, credential: opened.credentials.ssh })).toBeNull();
    });

    test('git gets nothing by a credential that may not be used here, or that there is not', async () => {
      const elsewhere = { ...repository, credential: opened.credentials.elsewhere };
      await expect(host.gitCredential(elsewhere)).rejects.toMatchObject({ code: 'forbidden' });
      const absent = host.gitCredential({ ...repository, credential: 'no-such' });
      await expect(absent).rejects.toMatchObject({ code: 'malformed' });
    });
  });
}

/** The object with one value, somewhere in it, replaced by another kind of value. */
function spoilt(payload: object): fc.Arbitrary<unknown> {
  const paths: string[][] = [];
  const walk = (value: unknown, path: string[]): void => {
    if (path.length > 0) paths.push(path);
    if (typeof value === 'object' && value !== null)
      for (const [key, member] of Object.entries(value)) walk(member, [...path, key]);
  };
  walk(payload, []);
  const values = fc.constantFrom<unknown>(null, true, -1, 0.5, '', '../..', [], {}, [[]], 'x'.repeat(5000), {
    length: 1,
  });
  return fc.tuple(fc.constantFrom(...paths), values).map(([path, value]) => {
    const copy = structuredClone(payload) as Record<string, unknown>;
    const holder = path.slice(0, -1).reduce((node, key) => node[key] as Record<string, unknown>, copy);
    holder[path.at(-1)!] = value;
    return copy;
  });
}

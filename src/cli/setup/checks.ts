import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { findIsolation } from '../../compile/sandbox/isolation.ts';
import type { Config } from '../../config.ts';
import { readSecret, type SecretName } from '../../config/environment.ts';
import { openFolders } from '../../registry/maintenance/open-folders.ts';
import { readGitVersion, usualFolders } from '../../source/command.ts';
import { once } from 'node:events';
import { request as requestPlain, type IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { json } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { providersOf } from '../../config/login-config.ts';
import { createDiscovery, explain } from '../../server/login/provider.ts';
import { isSecureUrl } from '../../server/login/same-site.ts';
import { listWebhooks } from '../../events/endpoints.ts';
import { readHealth } from '../../events/delivery.ts';
import { reachEndpoint } from '../../events/send-event.ts';
import { readPrivateKey } from '../../hosts/hosts.ts';
import { openBucket, openRegistry } from '../../open.ts';
import { missingDefaults } from '../../registry/gate/ruleset-gate.ts';
import { listOrganizations } from '../../registry/maintenance/organizations.ts';
import type { Registry } from '../../registry/registry.ts';
import { hasFormat } from '../../store/format.ts';
import { holdsStore } from '../command-context.ts';

/** One line of `stele doctor`. A problem stops some of the registry, a warning does not. */
export interface DoctorCheck {
  name: string;
  state: 'ok' | 'warning' | 'problem';
  detail: string;
  /** What to do. Null where nothing is to be done. */
  advice: string | null;
}

const check =
  (state: DoctorCheck['state']) =>
  (name: string, detail: string, advice: string | null = null): DoctorCheck => ({ name, state, detail, advice });
const [ok, warning, problem] = [check('ok'), check('warning'), check('problem')];

/** Its first line without a full stop, since advice may follow. */
function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0]!.replace(/\.$/, '');
}

/** Whoever looks in another folder than the server's would be told about a registry of defaults. */
export function checkFile(file: string | null): DoctorCheck {
  if (file !== null) return ok('config', file);
  const advice = 'Run this in the folder of the configuration, or name it with --config.';
  return warning('config', `no configuration found in ${process.cwd()}, so the defaults hold`, advice);
}

/** Bytes that should be free, and without which writing soon fails. */
const [enough, tooFew] = [2 ** 30, 256 * 2 ** 20];

/** What the machine has: programs, isolation, secrets in the environment, disk. */
export async function checkMachine(config: Config): Promise<DoctorCheck[]> {
  return [
    ok('node', process.versions.node),
    await checkGit(),
    await checkSandbox(config),
    checkSecrets(config),
    ...checkKeys(config),
    ...(await checkDisk(config)),
    ...(await checkFolders(config)),
  ];
}

async function checkGit(): Promise<DoctorCheck> {
  try {
    return ok('git', await readGitVersion(process.cwd(), usualFolders, AbortSignal.timeout(10_000)));
  } catch (error) {
    return problem('git', reasonOf(error), `Install git 2.38 or newer in one of ${usualFolders}.`);
  }
}

async function checkSandbox({ sandbox }: Config): Promise<DoctorCheck> {
  try {
    const isolation = await findIsolation(sandbox);
    if (isolation.kind === 'bwrap') return ok('sandbox', `bwrap (${isolation.bwrap})`);
    const detail = `only Node's permission model. ${reasonOf(isolation.reason)}`;
    if (sandbox === 'node') return ok('sandbox', detail);
    return warning('sandbox', detail, 'Install bubblewrap, and allow user namespaces to it.');
  } catch (error) {
    return problem('sandbox', reasonOf(error), 'Mend bwrap, or set sandbox to auto.');
  }
}

function checkSecrets(config: Config): DoctorCheck {
  const unset = [...new Set(secretsIn(config))].filter((env) => !isSet({ env }));
  if (unset.length === 0) return ok('secrets', 'every variable that the configuration names is set');
  return problem('secrets', `not set: ${unset.join(', ')}`, 'Set the variables in the environment of the server.');
}

function secretsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('env' in value && typeof value.env === 'string') return [value.env];
  return Object.values(value).flatMap(secretsIn);
}

function isSet(secret: SecretName): boolean {
  try {
    return readSecret(secret) !== '';
  } catch {
    return false;
  }
}

const keyReader = 'ssh-keygen';

/** The key files of credentials, as ssh and git hosts take them. */
function checkKeys({ credentials }: Config): DoctorCheck[] {
  return Object.entries(credentials).flatMap(([name, credential]) => {
    const advice = 'Name a file with a private key without a passphrase, readable by the server alone.';
    try {
      if ('githubApp' in credential) readPrivateKey(name, credential.githubApp.privateKeyFile);
      else if ('sshKeyFile' in credential)
        execFileSync(keyReader, ['-y', '-P', '', '-f', credential.sshKeyFile], { stdio: 'pipe', timeout: 10_000 });
      else return [];
      return [ok(`key ${name}`, 'can be used')];
    } catch (error) {
      const { stderr, syscall } = error as { stderr?: Buffer; syscall?: string };
      if (syscall?.startsWith('spawn'))
        return [problem(`key ${name}`, `${keyReader} is not installed`, 'Install ssh.')];
      const said = String(stderr ?? '').split(/\r?\n/);
      return [problem(`key ${name}`, reasonOf(said.findLast((line) => line !== '') ?? error), advice)];
    }
  });
}

/** One line for each volume. */
async function checkDisk({ store, cacheFolder }: Config): Promise<DoctorCheck[]> {
  const folders = [...('path' in store ? [store.path] : []), cacheFolder].map(nearest);
  const volumes = new Map(folders.toReversed().map((folder) => [statSync(folder).dev, folder]));
  const checks = [...volumes.values()].map(async (folder) => {
    const { bavail, bsize } = await statfs(folder);
    const free = bavail * bsize;
    const detail = `${(free / 2 ** 30).toFixed(1)} GiB free at ${folder}`;
    if (free >= enough) return ok('disk', detail);
    return (free < tooFew ? problem : warning)('disk', detail, 'Make room, or move the data folder.');
  });
  return Promise.all(checks);
}

function nearest(folder: string): string {
  return existsSync(folder) ? folder : nearest(dirname(folder));
}

async function checkFolders(config: Config): Promise<DoctorCheck[]> {
  const says = (folder: string) => `${folder} is open to other users of this machine`;
  return (await openFolders(config)).map((folder) => warning('folders', says(folder), `chmod -R go= ${folder}`));
}

const day = 24 * 60 * 60_000;
/** Days before the end of a certificate at which to warn. Most are renewed 30 days before. */
const daysAhead = 14;
/** Seconds by which clocks may differ: tokens of CI jobs allow a minute. */
const warnedAfter = 5;
const maxDifference = 60;

/** The public URL as readers see it, the issuers of tokens, and the clock beside theirs. */
export async function checkNetwork({ url, proxies, login, trustedPublishing }: Config): Promise<DoctorCheck[]> {
  const clients = new Map(providersOf(login).map(({ issuer, clientId }) => [issuer, clientId]));
  const issuers = new Set([...clients.keys(), ...trustedPublishing.map(({ issuer }) => issuer)]);
  const asked = [...issuers].map((issuer) => checkIssuer(issuer, clients.get(issuer) ?? null));
  return (await Promise.all([checkUrl(url, proxies), ...asked])).flat();
}

async function checkUrl(url: string | null, proxies: number): Promise<DoctorCheck[]> {
  const without = 'not configured, so that links name the address that the server listens on';
  const set = 'Set url to the address that people open, such as https://contracts.example.com.';
  if (url === null) return [warning('url', without, set)];
  const secure = isSecureUrl(url)
    ? []
    : [problem('tls', `${url} is not https, so that nobody can sign in`, 'Put a proxy with TLS in front, and set url to https.')]; // prettier-ignore
  let answer: IncomingMessage;
  try {
    answer = await ask(`${url}/readyz`);
  } catch (error) {
    const advice = 'Start stele serve and the proxy, and check the name and the certificate.';
    return [...secure, problem('url', `${url} cannot be reached: ${reasonOf(error)}`, advice)];
  }
  type Readiness = { status?: string; forwarded?: number; detail?: string } | null;
  const body = (await json(answer).catch(() => null)) as Readiness;
  const around = [...secure, ...checkCertificate(answer), ...checkClock(url, answer)];
  if (answer.statusCode !== 200 || body?.status !== 'ready') {
    const result = `${url}/readyz returns ${answer.statusCode}${body?.detail === undefined ? '' : `: ${body.detail}`}`;
    return [...around, problem('url', result, 'Read the log of the server, and of the proxy in front of it.')];
  }
  return [ok('url', `${url} is ready`), ...around, checkProxies(body.forwarded ?? 0, proxies)];
}

/** Each proxy adds one address to `X-Forwarded-For`, and the request had none. */
function checkProxies(forwarded: number, proxies: number): DoctorCheck {
  const came = `a request came with ${forwarded} ${forwarded === 1 ? 'address' : 'addresses'} in X-Forwarded-For`;
  if (forwarded === proxies) return ok('proxies', `${came}, as proxies says`);
  const risk = forwarded < proxies ? 'anybody can pretend to be another address' : 'all readers count as one address';
  return problem(
    'proxies',
    `${came}, and proxies is ${proxies}: ${risk}`,
    `Set proxies to ${forwarded}, if that many proxies are in front; else let each set X-Forwarded-For.`,
  );
}

function checkCertificate({ socket }: IncomingMessage): DoctorCheck[] {
  if (!('getPeerCertificate' in socket)) return [];
  const { valid_to: end } = (socket as TLSSocket).getPeerCertificate();
  const days = Math.floor((Date.parse(end) - Date.now()) / day);
  const detail = `the certificate is valid for ${days} days`;
  return [days > daysAhead ? ok('tls', detail) : warning('tls', detail, 'Renew the certificate.')];
}

function checkClock(url: string, { headers }: IncomingMessage): DoctorCheck[] {
  const there = Date.parse(headers.date ?? '');
  if (Number.isNaN(there)) return [];
  const seconds = Math.round(Math.abs(Date.now() - there) / 1000);
  const detail = `${seconds} s from that of ${new URL(url).host}`;
  if (seconds <= warnedAfter) return [ok('clock', detail)];
  return [(seconds > maxDifference ? problem : warning)('clock', detail, 'Set the clock by NTP on both machines.')];
}

async function checkIssuer(issuer: string, clientId: string | null): Promise<DoctorCheck[]> {
  const client = clientId === null ? null : { id: clientId, secret: 'not sent to find out' };
  try {
    const monotonic = () => performance.now();
    await createDiscovery({ issuer, client, monotonic, log: () => undefined })();
    const answer = await ask(issuer);
    answer.resume();
    return [ok('oidc', `${issuer} answers`), ...checkClock(issuer, answer)];
  } catch (error) {
    const advice = `Open ${issuer}/.well-known/openid-configuration from this machine.`;
    return [problem('oidc', `${issuer}: ${explain(error)}`, advice)];
  }
}

/** Asks once, on a connection of its own, and follows no redirect. */
async function ask(url: string): Promise<IncomingMessage> {
  const send = url.startsWith('https:') ? request : requestPlain;
  const asked = send(url, { agent: false, signal: AbortSignal.timeout(10_000) }).end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return answer;
}

/** The store as `/readyz` checks it, the logs as the start does, and webhook endpoints. Writes nothing where there is no store yet. */
export async function examineStore(config: Config): Promise<DoctorCheck[]> {
  const { store } = config;
  const place = 'path' in store ? store.path : `bucket ${store.bucket}`;
  const none = ok('store', `${place}: none yet. The first start makes it.`);
  try {
    if ('path' in store && !(await holdsStore(store.path))) return [none];
    if (!(await hasFormat(await openBucket(store)))) return [none];
    const registry = await openRegistry(config, () => undefined);
    try {
      await registry.bucket.check();
      const parts = [await checkLogs(registry), await checkRulesets(registry), await checkWebhooks(registry)];
      return [ok('store', `${place} takes writes`), ...parts.flat()];
    } finally {
      await registry.close();
    }
  } catch (error) {
    return [problem('store', reasonOf(error), `Check ${place}: the account of the server must read and write it.`)];
  }
}

async function checkLogs({ refs }: Registry): Promise<DoctorCheck[]> {
  await refs.examine();
  return refs
    .damages()
    .map(({ log }) => problem('log', `the log ${log} is damaged`, 'Run stele fsck, and repair it from a backup.'));
}

async function checkRulesets(registry: Registry): Promise<DoctorCheck[]> {
  const missing = await missingDefaults(registry);
  const advice = 'Until then, no API of it can be published.';
  return missing.map(({ org, detail }) =>
    problem('ruleset', `default of @${org}: ${detail.replace(/\.$/, '')}`, advice),
  );
}

async function checkWebhooks(registry: Registry): Promise<DoctorCheck[]> {
  const organizations = await listOrganizations(registry);
  const all = (await Promise.all(organizations.map((org) => listWebhooks(registry, org)))).flat();
  const active = all.map(({ value }) => value).filter(({ state }) => state === 'enabled');
  return Promise.all(
    active.map(async (webhook) => {
      const name = `webhook ${webhook.id}`;
      const where = `@${webhook.org} ${new URL(webhook.url).origin}`;
      const advice = `Look at its deliveries: GET /v1/webhooks/${webhook.id}/deliveries.`;
      const fault = await reachEndpoint(registry, webhook.url);
      if (fault !== null) return warning(name, `${where}: ${fault}`, advice);
      const failingSince = (await readHealth(registry, webhook))?.value.failingSince ?? null;
      if (failingSince === null) return ok(name, `${where} accepts connections`);
      return warning(name, `${where}: deliveries fail since ${failingSince}`, advice);
    }),
  );
}

import { once } from 'node:events';
import { request as requestPlain, type IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { json } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import type { Config } from '../../config.ts';
import { providersOf } from '../../config/login-config.ts';
import { createDiscovery, explain } from '../../server/login/issuer-discovery.ts';
import { isSecureUrl } from '../../server/login/secure-url.ts';
import { ok, problem, reasonOf, warning, type Check } from './check.ts';

const day = 24 * 60 * 60_000;
/** Days before the end of a certificate at which to warn. Most are renewed 30 days before. */
const daysAhead = 14;
/** Seconds by which clocks may differ: tokens of CI jobs allow a minute. */
const warnedAfter = 5;
const maxDifference = 60;

/** The public URL as readers see it, the issuers of tokens, and the clock beside theirs. */
export async function checkNetwork({ url, proxies, login, trustedPublishing }: Config): Promise<Check[]> {
  const issuers = [...providersOf(login).map(({ issuer }) => issuer), ...trustedPublishing.map(({ issuer }) => issuer)];
  const checks = await Promise.all([
    checkUrl(url, proxies),
    ...[...new Set(issuers)].map((issuer) =>
      checkIssuer(issuer, providersOf(login).find((provider) => provider.issuer === issuer)?.clientId ?? null),
    ),
  ]);
  return checks.flat();
}

async function checkUrl(url: string | null, proxies: number): Promise<Check[]> {
  if (url === null)
    return [
      warning(
        'url',
        'not configured, so that links name the address that the server listens on',
        'Set url to the address that people open, such as https://contracts.example.com.',
      ),
    ];
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
  const body = (await json(answer).catch(() => null)) as {
    status?: string;
    forwarded?: number;
    detail?: string;
  } | null;
  const around = [...secure, ...checkCertificate(answer), ...checkClock(url, answer)];
  if (answer.statusCode !== 200 || body?.status !== 'ready') {
    const result = `${url}/readyz returns ${answer.statusCode}${body?.detail === undefined ? '' : `: ${body.detail}`}`;
    return [...around, problem('url', result, 'Read the log of the server, and of the proxy in front of it.')];
  }
  return [ok('url', `${url} is ready`), ...around, checkProxies(body.forwarded ?? 0, proxies)];
}

/** Each proxy adds one address to `X-Forwarded-For`, and the request had none. */
function checkProxies(forwarded: number, proxies: number): Check {
  const came = `a request came with ${forwarded} ${forwarded === 1 ? 'address' : 'addresses'} in X-Forwarded-For`;
  if (forwarded === proxies) return ok('proxies', `${came}, as proxies says`);
  const risk = forwarded < proxies ? 'anybody can pretend to be another address' : 'all readers count as one address';
  return problem(
    'proxies',
    `${came}, and proxies is ${proxies}: ${risk}`,
    `Set proxies to ${forwarded}, if that many proxies are in front; else let each set X-Forwarded-For.`,
  );
}

function checkCertificate({ socket }: IncomingMessage): Check[] {
  if (!('getPeerCertificate' in socket)) return [];
  const { valid_to: end } = (socket as TLSSocket).getPeerCertificate();
  const days = Math.floor((Date.parse(end) - Date.now()) / day);
  const detail = `the certificate is valid for ${days} days`;
  return [days > daysAhead ? ok('tls', detail) : warning('tls', detail, 'Renew the certificate.')];
}

function checkClock(url: string, { headers }: IncomingMessage): Check[] {
  const there = Date.parse(headers.date ?? '');
  if (Number.isNaN(there)) return [];
  const seconds = Math.round(Math.abs(Date.now() - there) / 1000);
  const detail = `${seconds} s from that of ${new URL(url).host}`;
  if (seconds <= warnedAfter) return [ok('clock', detail)];
  return [(seconds > maxDifference ? problem : warning)('clock', detail, 'Set the clock by NTP on both machines.')];
}

async function checkIssuer(issuer: string, clientId: string | null): Promise<Check[]> {
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

import { setGlobalProxyFromEnv } from 'node:http';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { malformed } from '../model/errors.ts';
import type { Proxies } from '../model/proxy.ts';

/** The name of an environment variable that holds a secret. */
export interface SecretName {
  env: string;
}

/** Reads a secret from the environment. Throws `malformed` if the variable is not set. */
export function readSecret({ env }: SecretName): string {
  const secret = process.env[env];
  if (!secret) throw malformed(`The environment variable ${env} is not set. The configuration needs it.`);
  return secret;
}

/**
 * The proxies of the environment: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, or the same in lower case, which
 * win. Throws `malformed` if a value is not the URL of a proxy.
 */
export function readProxies(): Proxies {
  const except = (read('no_proxy') ?? '').split(/[\s,]+/).filter(Boolean);
  return { http: readProxy('http_proxy'), https: readProxy('https_proxy'), except };
}

function read(name: string): string | undefined {
  return process.env[name] || process.env[name.toUpperCase()] || undefined;
}

function readProxy(name: string): string | null {
  const text = read(name);
  if (text === undefined) return null;
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text;
  throw malformed(
    `The environment variable ${name.toUpperCase()} is not the URL of a proxy, such as http://proxy.example:3128.`,
  );
}

/** Addresses that never go through a proxy: this machine, and the metadata services of clouds. */
const near = ['localhost', '.localhost', '127.0.0.1', '::1', '[::1]', '169.254.169.254', '169.254.170.2'];

/** Lets `fetch` go through the proxies of the environment. To be called once, at the start. */
export function useProxies(): void {
  const { http, https, except } = readProxies();
  if (http === null && https === null) return;
  setGlobalProxyFromEnv({
    ...(http !== null && { http_proxy: http }),
    ...(https !== null && { https_proxy: https }),
    no_proxy: [...except, ...near].join(','),
  });
}

/**
 * Whether this process trusts more certificates than Node's own: `NODE_EXTRA_CA_CERTS` names a file with those of
 * a private authority.
 */
export function hasExtraCertificates(): boolean {
  return Boolean(process.env['NODE_EXTRA_CA_CERTS']);
}

/** Returns the environment's defaults for command line options. Empty is as if it were not set. */
export function readEnvironment(): Record<'port' | 'key' | 'data' | 'registry' | 'org', string | undefined> {
  return {
    port: process.env.PORT || undefined,
    key: process.env.STELE_KEY || undefined,
    data: process.env.STELE_DATA || undefined,
    registry: process.env.STELE_REGISTRY || undefined,
    org: process.env.STELE_ORG || undefined,
  };
}

/**
 * Whether the standard variables of OpenTelemetry ask for traces. The SDK reads the rest of them: headers, sampler,
 * service name.
 */
export function wantsTraces(): boolean {
  const { env } = process;
  if (env['OTEL_SDK_DISABLED'] === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none') return false;
  return Boolean(env['OTEL_EXPORTER_OTLP_ENDPOINT'] || env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']);
}

/** Where SwaggerHub is, and the key for it. */
export function readSwaggerHubAccess(): { url: string; key: string | undefined } {
  const { SWAGGERHUB_URL: url, SWAGGERHUB_API_KEY: key } = process.env;
  return { url: url || 'https://api.swaggerhub.com', key };
}

/** The user's cache folder (XDG Base Directory Specification). */
export function userCacheFolder(): string {
  return process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
}

/** The user's configuration folder (XDG Base Directory Specification). */
export function userConfigFolder(): string {
  return process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config');
}

/** Has this process colour its output, as `FORCE_COLOR` does, whatever it is written to. */
export function forceColor(): void {
  delete process.env['NO_COLOR'];
  process.env['FORCE_COLOR'] = '1';
}

/** The file with the user's passwords for hosts, as curl and git read it. */
export function netrcFile(): string {
  return process.env['NETRC'] || join(homedir(), '.netrc');
}

/** The place of this process among the workers that share a port: 0 for the first, and where there is no other. */
export function readWorkerPlace(): number {
  return Number(process.env['STELE_WORKER'] ?? 0);
}

/**
 * Lets this process work on so many files at once, unless the environment says how many. To be
 * called before the first file is opened. A thread for files waits as long as the disk takes to
 * confirm a write: with Node's four, four slow writes of one organization would stop the file
 * operations of all others.
 */
export function haveFileThreads(threads: number): void {
  process.env['UV_THREADPOOL_SIZE'] ??= String(threads);
}

/** The proxies through which other servers are reached. */
export interface Proxies {
  /** For `http:` and `https:` URLs; null: none. */
  http: string | null;
  https: string | null;
  /** Hosts that are reached without one, as `NO_PROXY` names them: `*`, `example.com` with all names below it, `host:8443`. */
  except: readonly string[];
}

export const noProxies: Proxies = { http: null, https: null, except: [] };

/** The URL of the proxy through which a URL is reached; null: none. This machine is never reached through one. */
export function proxyFor(target: string, { http, https, except }: Proxies): string | null {
  const { protocol, hostname, port } = new URL(target);
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  const proxy = protocol === 'https:' ? https : http;
  if (proxy === null || isThisMachine(host)) return null;
  const actual = port || (protocol === 'https:' ? '443' : '80');
  return except.some((entry) => isExcepted(entry.toLowerCase(), host, actual)) ? null : proxy;
}

function isExcepted(entry: string, host: string, port: string): boolean {
  if (entry === '*' || entry.replace(/^\[(.*)\]$/, '$1') === host) return true;
  const [name = '', only = port] = entry.replace(/^\*?\./, '').split(':');
  return only === port && name !== '' && (host === name || host.endsWith(`.${name}`));
}

/** Whether a name, or an address without brackets, means this machine. */
function isThisMachine(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '::1' || host.startsWith('127.');
}

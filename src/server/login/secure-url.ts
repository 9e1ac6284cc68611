/**
 * Whether a host name is this machine: `localhost` and names below it (RFC 6761 §6.3), 127.0.0.0/8,
 * `[::1]`.
 */
function isLoopback(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}

/** Whether secrets may be sent to the URL: it uses https, or http on this machine. */
export function isSecureUrl(url: string): boolean {
  const parsed = URL.parse(url);
  if (parsed === null) return false;
  return parsed.protocol === 'https:' || (parsed.protocol === 'http:' && isLoopback(parsed.hostname));
}

/** Whether the URL is one of this machine only. */
export function isOnThisMachine(url: string): boolean {
  const parsed = URL.parse(url);
  return parsed !== null && isLoopback(parsed.hostname);
}

import type { IncomingMessage } from 'node:http';

/**
 * Why a request that Node accepts is ambiguous: another version of HTTP (RFC 9112 §2.3), no
 * Host (§3.2), or a header that two readers may understand differently (RFC 9110 §5.3, §7.2). Null
 * for a proper request.
 */
export function requestFault({ httpVersion, headers, rawHeaders }: IncomingMessage): string | null {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return `Send HTTP/1.1: HTTP/${httpVersion} is not supported.`;
  if (httpVersion === '1.1' && headers.host === undefined) return 'Send a Host header.';
  if (isRepeated(rawHeaders, 'host')) return 'Send only one Host header.';
  if (isRepeated(rawHeaders, 'authorization')) return 'Send only one Authorization header.';
  return null;
}

function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const field = rawHeaders[i]!;
    if (field.length === name.length && field.toLowerCase() === name) count++;
  }
  return count > 1;
}

/** The longest that a host's word of its rate limit is believed, in seconds. */
export const longestLimit = 3600;
/** The longest limit that names no time, in seconds: what GitHub asks for after a secondary one. */
export const longestUnnamed = 60;

/** Parses `Retry-After` (RFC 9110 §10.2.3), which may be a date by the host's own clock. Returns seconds, or null. */
export function readRetryAfter(headers: Headers): number | null {
  const value = headers.get('retry-after');
  if (value === null) return null;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const seconds = Date.parse(value) / 1000 - timeOf(headers);
  return Number.isNaN(seconds) ? null : Math.max(0, Math.ceil(seconds));
}

/** When a host answered, by its own clock, in seconds. */
export function timeOf(headers: Headers): number {
  return (Date.parse(headers.get('date') ?? '') || Date.now()) / 1000;
}

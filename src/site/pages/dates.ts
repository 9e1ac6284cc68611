const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** A moment (ISO 8601) with its day (UTC) as people write it: `1 Mar 2026`. The same on every machine. */
export function dayOf(iso: string): { iso: string; text: string } {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return { iso, text: iso };
  return { iso, text: `${date.getUTCDate()} ${months[date.getUTCMonth()]} ${date.getUTCFullYear()}` };
}

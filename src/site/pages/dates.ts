const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Formats a time (ISO 8601) as its day in UTC: `1 Mar 2026`. Independent of the locale. */
export function dayOf(iso: string): { iso: string; text: string } {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return { iso, text: iso };
  return { iso, text: `${date.getUTCDate()} ${months[date.getUTCMonth()]} ${date.getUTCFullYear()}` };
}

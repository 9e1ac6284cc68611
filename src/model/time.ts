const timePattern = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/;

/** A date, or a time of RFC 3339, in milliseconds. NaN for anything else, and for a day that its month does not have. */
export function timeOf(text: string): number {
  const [, date] = timePattern.exec(text) ?? [];
  const day = Date.parse(date ?? '');
  return new Date(day).toJSON()?.startsWith(date!) ? Date.parse(text) : Number.NaN;
}

/** Whether one time is after another; null: never. */
export function isLater(time: string | null, other: string | null): boolean {
  return other !== null && (time === null || Date.parse(time) > Date.parse(other));
}

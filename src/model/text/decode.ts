/** Percent-encoded text, decoded (RFC 3986 §2.1). Null if an escape is invalid. */
export function decodePercent(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** A segment of a path, decoded. Null if that is impossible, or gives a slash or control character. */
export function decodeSegment(segment: string): string | null {
  const text = decodePercent(segment);
  return text === null || /[/\\\p{Cc}]/u.test(text) ? null : text;
}

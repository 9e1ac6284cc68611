const character = String.raw`[^\\^$.*+?()[\]{}|\x00-\x1f\x7f-\uffff]|\\[\\^$.*+?()[\]{}|/]|\\x[0-9a-f]{2}`;
const member = String.raw`(?:[^\\[\]&|~^\x00-\x1f\x7f-\uffff-]|~(?!~)|\^|\\[\\[\]^-]|\\x[0-9a-f]{2})`;
const set = String.raw`\[\^?(?:${member}(?:-${member})?)+-?\]`;
const count = String.raw`(?:[*+?]|\{(?:1000|\d{1,3})(?:,(?:1000|\d{1,3})?)?\})`;
const flat = String.raw`(?:(?:${character}|${set})${count}?|[\^$|])*`;
const group = new RegExp(String.raw`\(\?:${flat}\)${count}?`);
const whole = new RegExp(`^${flat}$`);

/**
 * Whether ECMA-262 (with `u`), Python's `re`, RE2 and `java.util.regex` all read the pattern, and the same way. They share alternatives,
 * groups that capture nothing, classes of ASCII characters, and counts up to RE2's 1,000. Refused is what one of them lacks or reads
 * otherwise: lookarounds, backreferences, `\p`, `\u`, `\d \w \s \b` (Unicode in Python, ASCII in RE2), the dot (line ends differ), lazy and
 * possessive counts, classes within classes (Java). One difference is left: in Python and Java `$` also stands before a last line feed.
 */
export function isPortable(pattern: string): boolean {
  // A group becomes an anchor, which takes no count: what stands around it is read as if it were one piece.
  const without = pattern.replace(group, '$$');
  return without === pattern ? whole.test(pattern) : isPortable(without);
}

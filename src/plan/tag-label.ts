import { labelFromVersion } from '../model/label.ts';

/**
 * The label for a tag: its name without the `v` before a number, and without the pattern's text
 * before its first star (`payments-v*`) unless that text starts a number (`v1.*`).
 */
export function labelFromTag(name: string, pattern: string): string | null {
  const prefix = pattern.includes('*') ? pattern.slice(0, pattern.indexOf('*')) : '';
  const { length } = prefix.replace(/(?:^|(?<=[-/_@+]))v?\d[\d.]*$/, '');
  return labelFromVersion(name.slice(length).replace(/^v(?=\d)/, ''));
}

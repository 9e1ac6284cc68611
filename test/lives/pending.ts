/**
 * Items of the issue that lives have found, and that are mended elsewhere: until a mend is here, the model looks away, unless
 * the variable `STELE_LIVES` names them. A mend removes its line.
 */
const pending = new Set<string>(['organization', 'renamed', 'previews']);

export function isMended(item: string): boolean {
  return process.env['STELE_LIVES']?.split(',').includes(item) || !pending.has(item);
}

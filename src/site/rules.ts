import { rulesTable, type Written } from './rules-table.ts';

/** The rules of every web server that a build is made for, by file. */
export function rulesFor(written: Written): Record<string, string> {
  rulesTable(written);
  return {};
}

import { edgeRules, type EdgeHost } from './rules-edge.ts';
import { fileRules } from './rules-files.ts';
import { serverRules } from './rules-nginx-server.ts';
import { httpRules } from './rules-nginx.ts';
import { rulesTable, type RuleFile } from './rules-table.ts';

/** The rules for each supported web server, by file. `host`: with an edge function for it. */
export function rulesFor(written: RuleFile, host: EdgeHost | null): Record<string, string> {
  const table = rulesTable(written);
  const files = fileRules(table);
  return {
    'rules/nginx-http.conf': httpRules(table),
    'rules/nginx-server.conf': serverRules(table),
    _redirects: files.redirects,
    _headers: files.headers,
    // GitHub Pages would leave out what starts with a dot or an underscore.
    '.nojekyll': '',
    ...(host === null ? {} : edgeRules(table, host)),
  };
}

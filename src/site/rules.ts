import { nginxRules } from './rules-nginx.ts';
import { rulesTable, type Written } from './rules-table.ts';

/** The rules of every web server that a build is made for, by file. */
export function rulesFor(written: Written): Record<string, string> {
  const table = rulesTable(written);
  const nginx = nginxRules(table);
  return { 'rules/nginx-http.conf': nginx.http, 'rules/nginx-server.conf': nginx.server };
}

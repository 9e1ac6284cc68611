import { caddyRules } from './rules-caddy.ts';
import { fileRules } from './rules-files.ts';
import { nginxRules } from './rules-nginx.ts';
import { rulesTable, type Written } from './rules-table.ts';

/** The rules of every web server that a build is made for, by file. */
export function rulesFor(written: Written): Record<string, string> {
  const table = rulesTable(written);
  const nginx = nginxRules(table);
  const files = fileRules(table);
  return {
    'rules/nginx-http.conf': nginx.http,
    'rules/nginx-server.conf': nginx.server,
    'rules/Caddyfile': caddyRules(table),
    _redirects: files.redirects,
    _headers: files.headers,
  };
}

/**
 * The origins of a server's URL as a `Content-Security-Policy` names them (CSP 3, host-source);
 * empty if that is not safe. A variable as scheme means http and https; as port, any port; at the
 * start of the host, any subdomain of at least two labels: `https://{region}.api.example.com` gives
 * `https://*.api.example.com`, and `https://{anything}.com` gives none.
 */
export function serverOrigins(url: string): string[] {
  const parts = /^(https?|\{[^{}]*\}):\/\/([^/?#:@\\]+)(?::([^/?#:@\\]*))?(?:[/?#]|$)/i.exec(url);
  if (!parts) return [];
  const [, scheme, name, port] = parts;
  const host = hostSource(name!.toLowerCase());
  const place = port === undefined ? '' : /^\d{1,5}$/.test(port) ? `:${port}` : /^\{[^{}]*\}$/.test(port) ? ':*' : null;
  if (host === null || place === null) return [];
  const schemes = scheme!.startsWith('{') ? ['https', 'http'] : [scheme!.toLowerCase()];
  return schemes.map((each) => `${each}://${host}${place}`);
}

function hostSource(name: string): string | null {
  // A variable may contain dots, so it is replaced before parsing the host.
  const labels = name.replace(/\{[^{}]*\}/g, '*').split('.');
  const variable = labels.findLastIndex((label) => label.includes('*'));
  const rest = labels.slice(variable + 1);
  if (!rest.every((label) => /^[a-z0-9-]+$/.test(label))) return null;
  // Rejects a literal `*` in the document, which is neither a variable nor a host.
  if (variable < 0) return rest.join('.');
  return name.includes('*') || rest.length < 2 ? null : `*.${rest.join('.')}`;
}

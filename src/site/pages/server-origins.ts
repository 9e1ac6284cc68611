/**
 * The origins of a server's URL as a `Content-Security-Policy` names them (CSP 3, host-source); none where it cannot name them safely. A variable of the
 * scheme stands for http and https, one of the port for any, one at the beginning of the name for whatever is below a name of at least two
 * labels: `https://{region}.api.example.com` is `https://*.api.example.com`, and `https://{anything}.com` is nothing.
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
  // A variable may hold dots: it is taken out before the name is.
  const labels = name.replace(/\{[^{}]*\}/g, '*').split('.');
  const variable = labels.findLastIndex((label) => label.includes('*'));
  const rest = labels.slice(variable + 1);
  if (!rest.every((label) => /^[a-z0-9-]+$/.test(label))) return null;
  // A `*` that the document wrote itself is no variable, and no name.
  if (variable < 0) return rest.join('.');
  return name.includes('*') || rest.length < 2 ? null : `*.${rest.join('.')}`;
}

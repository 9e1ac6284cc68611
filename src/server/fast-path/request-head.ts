/** The header fields that a cached response depends on. Absent fields are undefined. */
export interface RequestHead {
  accept: string | undefined;
  acceptEncoding: string | undefined;
  authorization: string | undefined;
  ifNoneMatch: string | undefined;
  host: string;
}

/**
 * Reads the fields of a request, names and values in turn. Null if the fast path cannot answer:
 * there is a body, a cookie, a range, another condition, an expectation or a repeated field.
 */
export function readHead(rawHeaders: readonly string[]): RequestHead | null {
  const head: Omit<RequestHead, 'host'> = {
    accept: undefined,
    acceptEncoding: undefined,
    authorization: undefined,
    ifNoneMatch: undefined,
  };
  let host: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    // Most fields mean nothing here, and their length says so.
    const kind = byLength[name.length];
    if (kind === undefined) continue;
    const field = kind.get(name) ?? kind.get(name.toLowerCase());
    if (field === undefined) continue;
    if (field === 'host') {
      if (host !== undefined) return null;
      host = rawHeaders[i + 1]!;
    } else if (field === 'other' || head[field] !== undefined) return null;
    else head[field] = rawHeaders[i + 1]!;
  }
  return host === undefined ? null : { ...head, host };
}

const fields: Readonly<Record<string, keyof RequestHead | 'other'>> = {
  Host: 'host',
  Accept: 'accept',
  'Accept-Encoding': 'acceptEncoding',
  Authorization: 'authorization',
  'If-None-Match': 'ifNoneMatch',
  'Content-Length': 'other',
  'Transfer-Encoding': 'other',
  Cookie: 'other',
  Expect: 'other',
  'If-Match': 'other',
  'If-Range': 'other',
  Range: 'other',
  Upgrade: 'other',
};

/** The fields, as usually written and in lower case, by the length of their names. */
const byLength: Map<string, keyof RequestHead | 'other'>[] = [];
for (const [name, field] of Object.entries(fields)) {
  const same = (byLength[name.length] ??= new Map());
  same.set(name, field).set(name.toLowerCase(), field);
}

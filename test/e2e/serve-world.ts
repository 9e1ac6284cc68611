import { type Serving } from './stele.ts';

export function api(title: string, version: string, description = 'Pays.'): string {
  return `openapi: 3.1.0
info:
  title: ${title}
  version: ${version}
  description: ${description}
paths:
  /payments:
    get:
      responses:
        '200':
          description: All of them.
`;
}

export function synced(stele: Serving, commit: string): Promise<Record<string, unknown>> {
  return stele.logged(({ msg, to }) => msg === 'sync' && to === commit);
}

export async function get(
  url: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string; type: string | null }> {
  const response = await fetch(url, { headers, redirect: 'manual' });
  return { status: response.status, text: await response.text(), type: response.headers.get('content-type') };
}

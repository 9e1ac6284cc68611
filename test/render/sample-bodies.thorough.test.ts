import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { curlOf, type SampleRequest } from '../../src/render/openapi/sample-request.ts';
import { type Code, xml, multipart } from './sample-bodies-world.ts';

/** Bodies that are not JSON: what they look like, and that samples send just that. */

const { languages, parseCurl } = (await import(
  new URL('../../templates/assets/languages.js', import.meta.url).href
)) as { languages: Record<string, Code>; parseCurl(text: string): unknown };

describe('samples, sent to a server', () => {
  const hasCurl = spawnSync('curl', ['--version']).status === 0;
  let folder: string;
  let url: string;
  let received: Promise<{ fields: [string, string][] | null; text: string; type: string }>;
  const server = createServer((request, response) => {
    received = read(request);
    void received.then(() => response.end('ok'));
  });
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stele-samples-'));
    await writeFile(join(folder, 'upload.bin'), '…');
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });
  afterAll(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });

  async function read(request: IncomingMessage) {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const type = request.headers['content-type'] ?? '';
    if (!/multipart|urlencoded/.test(type)) return { fields: null, text: body.toString(), type };
    const form = await new Response(body, { headers: { 'Content-Type': type } }).formData();
    const fields = await Promise.all(
      [...form].map(async ([name, value]): Promise<[string, string]> =>
        typeof value === 'string' ? [name, value] : [name, `${value.name} ${await value.text()}`],
      ),
    );
    return { fields, text: '', type: type.replace(/;.*/, '') };
  }

  async function send(name: string, request: SampleRequest): Promise<Awaited<typeof received>> {
    const code = languages[name]!(parseCurl(curlOf(request)));
    if (name === 'javascript')
      await (new Function('console', `return (async () => { ${code} })()`) as (log: object) => Promise<void>)({
        log: () => undefined,
      });
    else await promisify(execFile)('sh', ['-c', `${code} -s --max-time 10`], { cwd: folder });
    return received;
  }

  const tricky = `<@x';"\u202e$(id)\`\\\n&=%`;
  const bodies: [string, SampleRequest['body'], Partial<Awaited<typeof received>>][] = [
    [
      'a form with files',
      {
        kind: 'multipart',
        fields: [...multipart.fields.slice(0, 2), { name: 'more', value: tricky, file: null, type: null }],
      },
      {
        type: 'multipart/form-data',
        fields: [
          ['note', '@/etc/passwd'],
          ['file', 'upload.bin …'],
          ['more', tricky],
        ],
      },
    ],
    ['a form', { kind: 'form', fields: [['a', tricky]] }, { fields: [['a', tricky]] }],
    ['XML', { kind: 'text', type: 'application/xml', text: `@${xml}` }, { text: `@${xml}`, type: 'application/xml' }],
    ['a file', { kind: 'file', type: 'image/png', file: 'upload.bin' }, { text: '…', type: 'image/png' }],
  ];
  for (const [what, body, expected] of bodies)
    test.for(['javascript', ...(hasCurl ? ['curl'] : [])])(`${what}: %s`, async (name) => {
      const headers = body && 'type' in body ? [{ name: 'Content-Type', value: body.type, secret: null }] : [];
      const sent = await send(name, { method: 'POST', url, headers, body });
      // Forms have CRLF (HTML, "multipart/form-data encoding algorithm").
      const fields = sent.fields?.map(([key, value]) => [key, value.replaceAll('\r\n', '\n')]) ?? null;
      expect({ ...sent, fields }).toMatchObject(expected);
    });
});

import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKey } from '../../../src/registry/keys/keys.ts';
import { openConsole, type ConsoleServer } from '../../console/harness.ts';
import { author, deploy } from './site-world.ts';

/** What a site's author could try, over the same server that readers ask. */

const payload = `"'></title></a><script>alert(1)</script><img src=x onerror=alert(1)>]]>`;
const hostile = { org: 'acme', slug: 'hostile' };

let served: ConsoleServer;
let key: string;
beforeAll(async () => {
  served = await openConsole();
  key = (await createKey(served.registry, { org: 'acme', name: 'author', scopes: ['admin'] }, author)).text;
});
afterAll(() => served[Symbol.asyncDispose]());

const authorization = () => `Bearer ${key}`;

async function send(method: string, path: string, body: unknown, type = 'application/json') {
  const headers = { authorization: authorization(), 'content-type': type };
  const answer = await fetch(`${served.url}/v1/sites${path}`, {
    method,
    headers,
    body: type === 'application/json' ? JSON.stringify(body) : (body as string),
  });
  return { status: answer.status, text: await answer.text() };
}

async function read(path: string): Promise<{ status: number; headers: Headers; text: string }> {
  const answer = await fetch(served.url + path, { headers: { accept: 'text/html' } });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

describe('in this order', { shuffle: false }, () => {
  test('what an author writes is text on every page and list, whatever it is', async () => {
    const made = await send('POST', '', {
      slug: 'hostile',
      title: payload,
      description: payload,
      visibility: 'public',
      navigation: [{ title: payload, items: [{ page: 'index.md', title: payload }, { page: 'more.md' }] }],
      versions: [{ title: payload, folder: 'v1/' }],
    });
    expect([made.status, made.text]).toEqual([201, expect.any(String)]);
    const quoted = JSON.stringify(payload);
    const head = `---\ntitle: ${quoted}\ndescription: ${quoted}\n---\n`;
    const pages = {
      'index.md': `${head}# ${payload}\n\n## ${payload}\n\n${payload}\n\n| ${payload} |\n| --- |\n| ${payload} |\n\n![${payload}](x "${payload}")\n`,
      'more.md': `---js\n{ title: process.exit() }\n---\n\nimport X from '../../server/sites/x'\n\n<X>{alert(1)}</X>\n\n<!--#include file="/etc/passwd" -->\n\n{% include "x" %} {{ 7 * 7 }} <%= 7 * 7 %>\n\n[x](javascript:alert(1)) [y](data:text/html,x) [z](//evil.example)\n`,
      'v1/index.md': '# Old\n',
    };
    for (const [path, text] of Object.entries(pages))
      expect((await send('PUT', `/hostile/files/${path}`, text, 'text/markdown')).status, path).toBe(200);
    await deploy(served.registry, hostile);
    const own = '/sites/acme/hostile/';
    const everywhere = ['', 'more', 'none', '?q=alert', 'feed.atom', 'sitemap.xml', 'v1/'].map((path) => own + path);
    for (const path of [...everywhere, '/', '/@acme']) {
      const { text } = await read(path);
      expect(text, path).not.toMatch(/<script>alert|<img src=x|\]\]>/);
      expect(text, path).not.toMatch(/href="?(?:javascript|data):/i);
    }
    const more = (await read(`${own}more`)).text;
    expect(more).toContain('---js');
    // Tags of other site generators are left out; what stands between them is text.
    expect(more).toContain('{alert(1)}');
    expect(more).not.toMatch(/<\/?X>/);
    expect(more).toContain('{{ 7 * 7 }} &lt;%= 7 * 7 %&gt;');
    expect(more).not.toContain('root:');
  });

  test('no page of a site may be framed, and none loads a script from elsewhere', async () => {
    for (const path of ['', 'more', 'none']) {
      const policy = (await read(`/sites/acme/hostile/${path}`)).headers.get('content-security-policy')!;
      for (const wall of ["frame-ancestors 'none'", "script-src 'self'", "form-action 'self'"])
        expect(policy, path).toContain(wall);
    }
  });

  describe('settings', () => {
    test.for<[string, object]>([
      ['a theme that is CSS', { theme: { accent: 'red;}body{background:url(//evil.example)' } }],
      ['a logo from elsewhere', { theme: { logo: 'https://evil.example/logo.png' } }],
      ['a font that leaves the site', { theme: { font: '../../font.woff2' } }],
      ['a theme member that is none', { theme: { css: 'x' } }],
      ['a redirect to elsewhere', { redirects: { old: 'https://evil.example/' } }],
      ['a redirect to another host', { redirects: { old: '//evil.example' } }],
      ['a redirect that is a script', { redirects: { old: 'javascript:alert(1)' } }],
      ['a redirect that adds a header', { redirects: { old: 'x\r\nSet-Cookie: a=b' } }],
      ['a redirect out of the site', { redirects: { old: '../../console' } }],
      ['navigation that is a script', { navigation: [{ title: 'x', href: 'javascript:alert(1)' }] }],
      ['navigation to a path of the server', { navigation: [{ page: '../../etc/passwd' }] }],
      ['navigation without an end', { navigation: nested(20) }],
      ['a version that leaves the site', { versions: [{ title: 'x', folder: '../' }] }],
      ['a version at another host', { versions: [{ title: 'x', site: 'https://evil.example' }] }],
    ])('are never %s', async ([, change]) => {
      const answer = await send('PATCH', '/hostile', change);
      expect([answer.status, answer.text]).toEqual([400, expect.any(String)]);
    });
  });

  function nested(depth: number): object[] {
    return depth === 0 ? [] : [{ title: 'x', items: nested(depth - 1) }];
  }

  test('a file of a gigabyte is refused before it is read', async () => {
    const socket = connect(Number(new URL(served.url).port), '127.0.0.1');
    socket.write(
      `PUT /v1/sites/hostile/files/logo.png HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization()}\r\n` +
        'Content-Type: image/png\r\nContent-Length: 1073741824\r\n\r\n',
    );
    const { promise, resolve } = Promise.withResolvers<string>();
    socket.once('data', (bytes) => resolve(bytes.toString()));
    expect((await promise).split('\r\n')[0]).toBe('HTTP/1.1 413 Payload Too Large');
    socket.destroy();
  });
});

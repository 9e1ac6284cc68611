import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hiddenIn, openConsole, textOf, type ConsoleServer, type Person } from '../../console/harness.ts';
import { createBrowser } from '../../server/login/browser.ts';

let server: ConsoleServer;
let writer: Person;
let reader: Person;
beforeAll(async () => {
  server = await openConsole();
  writer = await server.signIn({ name: 'writer' });
  reader = await server.signIn({ name: 'reader', scopes: ['read'] });
  await writer.send('/console/acme/new-site', { '/title': 'The guide', '/slug': 'guide', '/visibility': 'public' });
});
afterAll(() => server[Symbol.asyncDispose]());

const guide = '/console/acme/sites/guide';
const edit = (file: string) => `${guide}/edit?file=${encodeURIComponent(file)}`;
const page = (title: string, text: string) => `---\ntitle: ${title}\n---\n\n${text}\n`;

async function write(path: string, text: string): Promise<void> {
  const answer = await writer.send(`${guide}/edit`, { '/path': path, '/text': text, do: 'go' });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, `${guide}?done=%2Fsites%2F%3Asite%2Fedit`]);
}

async function readerSees(path: string): Promise<string> {
  return (await createBrowser().request(`${server.url}/sites/acme/guide/${path}`)).text;
}

describe('in this order', { shuffle: false }, () => {
  describe('a site', () => {
    test('is written, checked, published, changed, and published again as it was', async () => {
      expect((await writer.get(`${guide}/edit`)).text).toContain('value="index.md"');
      await write('index.md', page('Home', 'First words, and [a link](guide/start.md).'));
      expect((await writer.get(`${guide}/edit`)).text).not.toContain('value="index.md"');
      const checked = await writer.get(`${guide}/publish`);
      expect(checked.text).toContain('guide/start.md');
      await write('guide/start.md', page('Start', 'Begin here.'));
      expect(textOf((await writer.get(`${guide}/publish`)).text, 'good')).toContain('This can be published');
      const published = await writer.send(`${guide}/publish`, { do: 'go' });
      expect(published.status).toBe(303);
      expect(await readerSees('')).toContain('First words');

      const shown = await writer.get(edit('index.md'));
      expect(shown.text).toContain('title: Home');
      await writer.send(edit('index.md'), { '/text': page('Home', 'Second words.'), do: 'go' });
      expect(await readerSees('')).toContain('First words');
      await writer.send(`${guide}/publish`, { do: 'go' });
      expect(await readerSees('')).toContain('Second words');

      const again = await writer.send(`${guide}/deployments/1/publish`);
      expect(again.status).toBe(303);
      expect(await readerSees('')).toContain('First words');
      const overview = (await writer.get(guide)).text;
      expect(overview).toContain('1 again');
      expect(overview).toContain('guide/start.md');
    });

    test('says who published it: the name of a key while there is one, and its id to who may not list keys', async () => {
      const of = async (person: Person) => /<td data-name="By">(.*?)<\/td>/s.exec((await person.get(guide)).text)![1]!;
      const namely = await server.signIn({ name: 'pipeline' });
      await namely.send(`${guide}/deployments/2/publish`);
      expect(await of(writer)).toMatch(new RegExp(`pipeline.*key:${namely.key}`, 's'));
      expect(await of(reader)).toContain(`key:${namely.key}`);
      expect(await of(reader)).not.toContain('pipeline');
      await writer.send(`/console/acme/keys/${namely.key}/revoke`);
      expect(await of(writer)).toContain(`key:${namely.key}`);
      expect(await of(writer)).not.toContain('pipeline');
    });

    test('that is public shows its files, published or not, to those alone who may read what is private', async () => {
      const narrow = await server.signIn({ name: 'narrow', scopes: ['read'], resources: ['apis/*'] });
      const [shown, whole] = [await narrow.get(guide), await reader.get(guide)];
      expect([shown.status, whole.text.includes('guide/start.md')]).toEqual([200, true]);
      expect(shown.text).not.toContain('guide/start.md');
    });

    test('is previewed by what renders it for readers, and nothing is saved', async () => {
      const text = page('<b>Title', 'Some *words*. <script>alert(1)</script>\n\n[x](javascript:alert(1))');
      const answer = await writer.send(`${guide}/edit`, { '/path': 'preview.md', '/text': text, do: 'check' });
      expect(answer.status).toBe(200);
      const preview = /<div class="preview prose">(.*)<\/div>/s.exec(answer.text)![1]!;
      expect(preview).toContain('<h1>&lt;b&gt;Title</h1>');
      expect(preview).toContain('<em>words</em>');
      expect(preview).not.toMatch(/<script|href="javascript/);
      expect(answer.text).toContain('Some *words*. &lt;script&gt;');
      expect((await writer.get(edit('preview.md'))).status).toBe(404);
    });

    test('is previewed whole, at an address that its readers need no account for, and is not published', async () => {
      const plan = { '/title': 'Plan', '/slug': 'plan', '/visibility': 'public' };
      await writer.send('/console/acme/new-site', plan);
      const at = '/console/acme/sites/plan';
      await writer.send(`${at}/edit`, { '/path': 'index.md', '/text': page('Plan', 'Not yet.'), do: 'go' });
      expect((await writer.get(`${at}/edit?file=index.md`)).text).toContain(`href="${at}/preview"`);
      expect((await reader.get(`${at}/preview`)).status).toBe(403);
      const made = await writer.send(`${at}/preview`, { do: 'go' });
      expect(made.status).toBe(200);
      const path = /\/previews\/[0-9a-z]{9}-[0-9a-f]{32}\//.exec(made.text)![0];
      expect((await createBrowser().request(server.url + path)).text).toContain('Not yet.');
      expect((await createBrowser().request(`${server.url}/sites/acme/plan/`)).status).toBe(404);
    });

    test('is connected to a folder, says how it is synced, and is disconnected', async () => {
      const at = '/console/acme/sites/linked';
      await writer.send('/console/acme/new-site', { '/title': 'Linked', '/slug': 'linked', '/visibility': 'public' });
      expect((await writer.get(at)).text).toContain(`href="${at}/connection"`);
      const bad = { '/repository': 'https://github.com/acme/docs', '/folder': '../out' };
      const refused = await writer.send(`${at}/connection`, bad);
      expect([refused.status, refused.text.includes('../out')]).toEqual([400, true]);
      expect((await writer.send(`${at}/connection`, { ...bad, '/folder': 'docs' })).status).toBe(303);
      const connected = (await writer.get(at)).text;
      expect(connected).toContain(
        'They come from https://github.com/acme/docs. Change them there: each push is published.',
      );
      expect(connected).toContain('a push waits to be read');
      expect(connected).not.toContain(`${at}/upload`);
      expect((await writer.get(`${at}/connection`)).text).toContain('value="docs"');
      expect((await reader.get(`${at}/connection`)).status).toBe(403);
      expect((await writer.send(`${at}/disconnect`, { do: 'go' })).status).toBe(303);
      expect((await writer.get(at)).text).toContain('Not connected');
    });

    test('shows what embeds a reference as text, whatever is written there', async () => {
      const text = '---\ntitle: A\napi: "<img src=x onerror=alert(1)>"\n---\n\nWords.\n';
      const answer = await writer.send(`${guide}/edit`, { '/path': 'embeds.md', '/text': text, do: 'check' });
      expect(answer.text).not.toContain('<img');
    });

    test('has two editors at once: the second sees what the first wrote, and loses nothing', async () => {
      await write('shared.md', page('Shared', 'Before.'));
      const hidden = hiddenIn((await writer.get(edit('shared.md'))).text);
      await writer.send(edit('shared.md'), { '/text': page('Shared', 'Theirs.'), do: 'go' });
      const second = await writer.send(edit('shared.md'), { '/text': page('Shared', 'Mine.'), do: 'go' }, { hidden });
      expect(second.status).toBe(412);
      expect(second.text).toContain('Somebody changed this page');
      expect(second.text).toContain('Mine.');
      expect(second.text).toContain('Theirs.');
      const anyway = await writer.send(
        edit('shared.md'),
        { '/text': page('Shared', 'Mine.'), do: 'go' },
        { hidden: hiddenIn(second.text) },
      );
      expect(anyway.status).toBe(303);
      expect((await writer.get(edit('shared.md'))).text).toContain('Mine.');
    });

    test('brings back a page that was deleted while somebody was editing it', async () => {
      await write('gone.md', page('Gone', 'Before.'));
      const hidden = hiddenIn((await writer.get(edit('gone.md'))).text);
      await writer.send(`${guide}/remove?file=gone.md`);
      const typed = { '/text': page('Gone', 'Mine.'), do: 'go' };
      const second = await writer.send(edit('gone.md'), typed, { hidden });
      expect(second.status).toBe(412);
      expect(second.text).toContain('Somebody deleted this page');
      expect(second.text).toContain('Mine.');
      const again = await writer.send(edit('gone.md'), typed, { hidden: hiddenIn(second.text) });
      expect(again.status).toBe(303);
      expect((await writer.get(edit('gone.md'))).text).toContain('Mine.');
    });

    test('takes a new page in place of one that was deleted', async () => {
      await write('twice.md', page('Twice', 'Before.'));
      await writer.send(`${guide}/remove?file=twice.md`);
      await write('twice.md', page('Twice', 'After.'));
      expect((await writer.get(edit('twice.md'))).text).toContain('After.');
    });

    test('does not lose a page to another new one of the same name', async () => {
      await write('taken.md', page('Taken', 'First.'));
      const answer = await writer.send(`${guide}/edit`, { '/path': 'taken.md', '/text': 'Other.', do: 'go' });
      expect([answer.status, answer.text.includes('has taken.md already')]).toEqual([412, true]);
      expect((await writer.get(edit('taken.md'))).text).toContain('First.');
    });

    test.for(['../../secret.md', '/etc/passwd', 'page.html', 'a//b.md', ''])(
      'refuses the path %j, and keeps what was typed',
      async (path) => {
        const answer = await writer.send(`${guide}/edit`, { '/path': path, '/text': 'Typed words.', do: 'go' });
        expect(answer.status).toBe(400);
        expect(answer.text).toContain('Typed words.');
      },
    );

    test('takes files byte by byte, and refuses what is not what its name says', async () => {
      const upload = async (name: string, bytes: Uint8Array, type: string) => {
        const form = new FormData();
        for (const [key, value] of Object.entries(hiddenIn((await writer.get(`${guide}/upload`)).text)))
          form.append(key, value);
        form.append('/path', `images/${name}`);
        form.append('/file', new File([bytes.slice()], name, { type }));
        const init = { method: 'POST', body: form, headers: { 'sec-fetch-site': 'same-origin' } };
        return writer.browser.request(`${server.url}${guide}/upload`, init);
      };
      const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0xff, 0x00, 0x0d, 0x0a, 0x80);
      expect((await upload('dot.png', png, 'image/png')).status).toBe(303);
      expect((await writer.get(guide)).text).toContain('images/dot.png');
      const html = await upload('page.png', Buffer.from('<script>alert(1)</script>'), 'image/png');
      expect(html.status).toBe(415);
      const named = await upload('b//dot.png', png, 'image/png');
      expect(named.text).toContain('A site cannot have a file of this name');
      expect(html.text).not.toContain('of this name');
      await writer.send(`${guide}/publish`, { do: 'go' });
      const served = await fetch(`${server.url}/sites/acme/guide/images/dot.png`);
      expect(new Uint8Array(await served.arrayBuffer())).toEqual(png);
    });

    test('deletes a file after it was asked once', async () => {
      await write('old.md', page('Old', 'Old.'));
      const asked = await writer.get(`${guide}/remove?file=old.md`);
      expect(asked.text).toContain('Delete old.md');
      expect((await writer.get(edit('old.md'))).status).toBe(200);
      expect((await writer.send(`${guide}/remove?file=old.md`)).status).toBe(303);
      expect((await writer.get(edit('old.md'))).status).toBe(404);
    });
  });

  test('a site may have any name, also that of an address of the console', async () => {
    const made = await writer.send('/console/acme/new-site', {
      '/title': 'Newest',
      '/slug': 'new',
      '/visibility': 'public',
    });
    expect(made.headers.get('location')).toMatch(/^\/console\/acme\/sites\/new\?/);
    expect((await writer.get('/console/acme/sites/new')).text).toContain('<h1>Newest');
  });

  test('a site that was deleted comes back as it was served, and one that takes its name has nothing of it', async () => {
    const form = { '/title': 'Lost', '/slug': 'lost', '/visibility': 'public' };
    await writer.send('/console/acme/new-site', form);
    const at = '/console/acme/sites/lost';
    await writer.send(`${at}/edit`, { '/path': 'index.md', '/text': page('Lost', 'Found again.'), do: 'go' });
    await writer.send(`${at}/publish`, { do: 'go' });
    const seen = async () => (await createBrowser().request(`${server.url}/sites/acme/lost/`)).text;
    const deleted = await writer.send(`${at}/delete`);
    expect(deleted.headers.get('location')).toMatch(/^\/console\/acme\/deleted\?/);
    expect(await seen()).not.toContain('Found again.');
    expect((await writer.get('/console/acme/deleted')).text).toContain(`href="${at}/undelete"`);
    const { token } = hiddenIn((await reader.get('/console/acme')).text) as { token: string };
    expect((await reader.send(`${at}/undelete`, {}, { hidden: { token: token ?? '' } })).status).toBe(403);
    expect((await writer.send(`${at}/undelete`)).status).toBe(303);
    expect(await seen()).toContain('Found again.');
    expect((await writer.get(at)).text).toContain('index.md');

    await writer.send(`${at}/delete`);
    expect((await writer.send('/console/acme/new-site', form)).status).toBe(303);
    expect((await writer.get(at)).text).toContain('No pages yet.');
    expect((await writer.send(`${at}/undelete`)).status).toBe(409);
  });

  describe('how a site looks and what leads through it', () => {
    const at = '/console/acme/sites/looks';
    const settings = async () =>
    JSON.parse((await writer.get('/v1/sites/looks')).text) as Record<'theme' | 'navigation' | 'redirects' | 'versions', unknown>; // prettier-ignore
    beforeAll(async () => {
      await writer.send('/console/acme/new-site', { '/title': 'Looks', '/slug': 'looks', '/visibility': 'public' });
      for (const [path, text] of [
        ['index.md', 'Home.'],
        ['guide/start.md', 'Begin.'],
        ['v2/index.md', 'Two.'],
      ] as const)
        await writer.send(`${at}/edit`, { '/path': path, '/text': text, do: 'go' });
    });

    test('is changed with forms, and readers see it with the next deployment', async () => {
      const overview = (await writer.get(at)).text;
      const forms: Record<string, Record<string, string>> = {
        theme: { '/theme/accent': '#0a7d55', '/theme/accentDark': '' },
        navigation: {
          '/navigation':
            '- page: index.md\n- title: Guides\n  items:\n    - title: Start (here)\n      page: guide/start.md\n- title: Wiki\n  href: https://wiki.example/a_(b)',
        },
        redirects: { '/redirects': 'old: guide/start\nolder: guide/start#a' },
        versions: { '/versions': '- title: Version 2\n  folder: v2/' },
      };
      for (const [name, typed] of Object.entries(forms)) {
        expect(overview).toContain(`href="${at}/${name}"`);
        expect((await writer.send(`${at}/${name}`, typed)).status, name).toBe(303);
      }
      expect(await settings()).toMatchObject({
        theme: { accent: '#0a7d55' },
        navigation: [
          { page: 'index.md' },
          { title: 'Guides', items: [{ title: 'Start (here)', page: 'guide/start.md' }] },
          { title: 'Wiki', href: 'https://wiki.example/a_(b)' },
        ],
        redirects: { old: 'guide/start', older: 'guide/start#a' },
        versions: [{ title: 'Version 2', folder: 'v2/' }],
      });
      const before = await settings();
      for (const [name, typed] of Object.entries(forms)) {
        const shown = (await writer.get(`${at}/${name}`)).text;
        for (const value of Object.values(typed)) expect(shown, name).toContain(value);
        await writer.send(`${at}/${name}`, typed);
      }
      expect(await settings()).toEqual(before);
      await writer.send(`${at}/publish`, { do: 'go' });
      const seen = (await createBrowser().request(`${server.url}/sites/acme/looks/`)).text;
      expect(seen).toContain('Start (here)');
      expect((await fetch(`${server.url}/sites/acme/looks/old`, { redirect: 'manual' })).status).toBe(301);
      for (const [name, typed] of Object.entries(forms))
        await writer.send(`${at}/${name}`, Object.fromEntries(Object.keys(typed).map((field) => [field, ''])));
      expect(await settings()).toMatchObject({ theme: {}, navigation: null, redirects: {}, versions: [] });
    });

    test('has no navigation, or that of its pages, and the form tells the one from the other', async () => {
      const shown = async () =>
        /<textarea[^>]*>\n?(.*?)<\/textarea>/s.exec((await writer.get(`${at}/navigation`)).text)![1];
      for (const [typed, navigation] of [
        ['[]', []],
        ['', null],
      ] as const) {
        expect((await writer.send(`${at}/navigation`, { '/navigation': typed })).status).toBe(303);
        expect(await settings()).toMatchObject({ navigation });
        expect(await shown()).toBe(typed);
      }
    });

    test.for([
      ['theme', '/theme/accent', 'red;}', 'must be a colour'],
      ['theme', '/theme/logo', '../../logo.png', 'must be a file of the site'],
      ['navigation', '/navigation', 'no list', 'Navigation must be an array or null, not a string.'],
      ['navigation', '/navigation', '- page: [', 'Navigation is no YAML: '],
      ['navigation', '/navigation', '- title: x\n  href: javascript:alert(1)', 'which is not a web address'],
      [
        'navigation',
        '/navigation',
        '- {title: a, items: [{title: b, items: [{title: c, items: [{title: d, items: [{title: e, items: [{title: f}]}]}]}]}]}',
        'levels deep',
      ],
      ['redirects', '/redirects', 'a: https://evil.example/', 'must name two paths of the site'],
      ['redirects', '/redirects', 'a: b\na: c', 'Redirects is no YAML: Map keys must be unique at line 2, column 1.'],
      ['redirects', '/redirects', 'only', 'Redirects must be an object, not a string.'],
      ['redirects', '/redirects', 'a: *d', 'Redirects is no YAML: '],
      ['versions', '/versions', '- folder: v2/', 'Versions at /0/title is missing.'],
      ['versions', '/versions', '- title: Up\n  folder: ../', 'is not written as it must be'],
    ])('the form %s says what is wrong at %s: %j', async ([name, field, text, why]) => {
      const answer = await writer.send(`${at}/${name}`, { [field!]: text! });
      expect(answer.status).toBe(400);
      expect(answer.text).toContain(text!.replaceAll('>', '&gt;'));
      expect(textOf(answer.text, 'error')).toContain(why);
      // The keyboard goes on there.
      expect(answer.text.match(/name="([^"]*)"[^>]* autofocus/g)).toHaveLength(1);
    });

    test.for([
      ['navigation', '/navigation', `-${' '.repeat(500_000)}`],
      ['navigation', '/navigation', `- [${']('.repeat(200_000)}`],
      ['versions', '/versions', `a${' '.repeat(500_000)}`],
      ['redirects', '/redirects', `a: ${'['.repeat(200_000)}`],
    ])('the form %s takes no time for a long line of nothing', async ([name, field, text]) => {
      expect((await writer.send(`${at}/${name}`, { [field!]: text! })).status).toBe(400);
    });

    test('the second of two editors sees what the first saved', async () => {
      const hidden = hiddenIn((await writer.get(`${at}/redirects`)).text);
      await writer.send(`${at}/redirects`, { '/redirects': 'theirs: index' });
      const second = await writer.send(`${at}/redirects`, { '/redirects': 'mine: index' }, { hidden });
      expect([second.status, second.text.includes('mine: index')]).toEqual([412, true]);
      expect(textOf(second.text, 'error')).toBe('Theirs: theirs: index');
      const hiddenNow = hiddenIn(second.text);
      expect(
        (await writer.send(`${at}/redirects`, { '/redirects': 'mine: index' }, { hidden: hiddenNow })).status,
      ).toBe(303);
      expect(await settings()).toMatchObject({ redirects: { mine: 'index' } });
    });
  });

  describe('who may only read', () => {
    test('sees the site without its forms', async () => {
      const seen = (await reader.get(guide)).text;
      expect(seen).not.toMatch(/New page|Upload a file|\/publish/);
      for (const path of [
        '/edit',
        '/upload',
        '/publish',
        '/settings',
        '/theme',
        '/navigation',
        '/redirects',
        '/versions',
        '/delete',
      ])
        expect((await reader.get(guide + path)).status, path).toBe(403);
    });

    test('cannot send one', async () => {
      const { token } = hiddenIn((await reader.get('/console/acme')).text) as { token: string };
      const forged = { hidden: { token: token ?? '' } };
      for (const path of ['/edit', '/upload', '/publish', '/remove?file=index.md'])
        expect((await reader.send(guide + path, { do: 'go' }, forged)).status, path).toBe(403);
    });
  });

  test('what was typed into the editor outlives the session, with the page that it is for', async () => {
    const answer = await createBrowser().request(server.url + edit('index.md'), {
      method: 'POST',
      headers: { 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams({ '/text': 'Hours of work.', etag: '"1"' }),
    });
    expect(answer.status).toBe(401);
    expect(answer.text).toContain('Hours of work.');
    expect(answer.text).toContain(`action="${edit('index.md')}"`);
  });
});

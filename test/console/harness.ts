import { setTimeout as delay } from 'node:timers/promises';
import { createKey, type NewKey } from '../../src/registry/keys/keys.ts';
import type { Registry } from '../../src/registry/registry.ts';
import { openServer, type Server } from '../../src/open-server.ts';
import { createBrowser, type Browser, type Page } from '../server/login/browser.ts';
import { unlimited } from '../server/v1/api.ts';
import { createTestQueue, createTestRegistry } from '../server/registry.ts';

/** A registry on this machine, without an identity provider. */
export interface ConsoleServer extends AsyncDisposable {
  url: string;
  server: Server;
  registry: Registry;
  /** A browser that is signed in with a new key. */
  signIn(key?: Partial<NewKey>): Promise<Person>;
  /** A browser that is signed in as the operator. */
  operate(): Promise<Person>;
}

/** A browser with a session. */
export interface Person {
  browser: Browser;
  /** The id of the key that signed in. */
  key: string | null;
  get(path: string): Promise<Page>;
  /** As `get`, once the page no longer says when to look again. */
  follow(path: string): Promise<Page>;
  /** Sends the form at a path as the page does: with its hidden fields, and what is typed into it. */
  send(path: string, typed?: Record<string, string | string[]>, init?: Sending): Promise<Page>;
}

export interface Sending {
  headers?: Record<string, string>;
  /** Hidden fields in place of those of the page. */
  hidden?: Record<string, string>;
}

export const ownPage = { 'sec-fetch-site': 'same-origin' };

export async function openConsole(
  registry: Registry = createTestRegistry(unlimited),
  { port = 0 } = {},
): Promise<ConsoleServer> {
  const queue = createTestQueue(registry);
  const server = await openServer(registry, queue, { host: '127.0.0.1', port });
  const { url } = server;

  function personIn(browser: Browser, key: string | null): Person {
    return {
      browser,
      key,
      get: (path) => browser.request(url + path),
      async follow(path) {
        for (;;) {
          const page = await browser.request(url + path);
          if (!page.text.includes('data-again=')) return page;
          await delay(20);
        }
      },
      async send(path, typed = {}, { headers = ownPage, hidden } = {}) {
        const fields = hidden ?? hiddenIn((await browser.request(url + path)).text);
        const body = new URLSearchParams(fields);
        for (const [name, values] of Object.entries(typed))
          for (const value of [values].flat()) body.append(name, value);
        return browser.request(url + path, { method: 'POST', body, headers });
      },
    };
  }

  return {
    url,
    server,
    registry,
    async signIn(given = {}) {
      const whole: NewKey = { org: 'acme', name: 'ada', scopes: ['admin'], ...given };
      const { key, text } = await createKey(registry, whole, { actor: 'operator:test', origin: null });
      const browser = createBrowser();
      const body = new URLSearchParams({ key: text });
      const page = await browser.request(`${url}/login`, { method: 'POST', body, headers: ownPage });
      if (page.status !== 303) throw new Error(`Signing in answered ${page.status}: ${page.text}`);
      return personIn(browser, key.id);
    },
    async operate() {
      const browser = createBrowser();
      await useLink(browser, server.signInUrl()!);
      return personIn(browser, null);
    },
    async [Symbol.asyncDispose]() {
      await queue.close();
      await server.close(500);
    },
  };
}

/** Opens a link that signs in, presses the button of its page, and follows where that leads. */
export async function useLink(browser: Browser, link: string): Promise<Page> {
  const page = await browser.open(link);
  const body = new URLSearchParams(hiddenIn(page.text));
  const answer = await browser.request(link.replace(/\?.*$/, ''), { method: 'POST', body, headers: ownPage });
  return answer.status === 303 ? browser.open(answer.headers.get('location')!) : answer;
}

/** The hidden fields of the form in a page. */
export function hiddenIn(html: string): Record<string, string> {
  const found = html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g);
  return Object.fromEntries(
    [...found].map(([, name, value]) => [name!, value!.replaceAll('&quot;', '"').replaceAll('&amp;', '&')]),
  );
}

/** The text of the first element that the pattern finds, without tags. */
export function textOf(html: string, className: string): string | null {
  const found = new RegExp(`class="[^"]*\\b${className}\\b[^"]*"[^>]*>(.*?)</(?:p|div|section)>`, 's').exec(html);
  return found && found[1]!.replace(/<[^>]*>/g, '').trim();
}

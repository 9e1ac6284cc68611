/** What a browser does about cookies and redirects, as far as signing in needs it. It runs no scripts and draws nothing. */
export interface Browser {
  /** Opens a URL and follows redirects to the end. */
  open(url: string, init?: RequestInit): Promise<Page>;
  /** One request, no redirect followed. */
  request(url: string, init?: RequestInit): Promise<Page>;
  /** Follows redirects until one goes to a URL that starts so, and answers that URL without opening it. */
  until(url: string, prefix: string, init?: RequestInit): Promise<string>;
  /** Its cookies for a host name, by name. A browser tells hosts apart, not ports. */
  cookies(hostname: string): Map<string, string>;
  setCookie(hostname: string, name: string, value: string): void;
}

export interface Page {
  url: string;
  status: number;
  headers: Headers;
  text: string;
}

interface Cookie {
  hostname: string;
  path: string;
  name: string;
  value: string;
}

export function createBrowser(): Browser {
  let jar: Cookie[] = [];

  function store(url: URL, line: string): void {
    const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
    const name = pair.slice(0, pair.indexOf('='));
    const value = pair.slice(pair.indexOf('=') + 1);
    const find = (attribute: string) =>
      attributes.find((text) => text.toLowerCase().startsWith(`${attribute}=`))?.slice(attribute.length + 1);
    const path = find('path') ?? '/';
    if (name.startsWith('__Host-')) {
      const isProper = attributes.includes('Secure') && path === '/' && find('domain') === undefined;
      if (!isProper) throw new Error(`A browser refuses this cookie: ${line}`);
    }
    jar = jar.filter((cookie) => cookie.name !== name || cookie.hostname !== url.hostname || cookie.path !== path);
    const expires = find('expires');
    const isOver = Number(find('max-age') ?? 1) <= 0 || (expires !== undefined && Date.parse(expires) <= Date.now());
    if (!isOver) jar.push({ hostname: url.hostname, path, name, value });
  }

  async function request(target: string, init: RequestInit = {}): Promise<Page> {
    const url = new URL(target);
    const headers = new Headers(init.headers);
    const sent = jar.filter(({ hostname, path }) => hostname === url.hostname && url.pathname.startsWith(path));
    if (sent.length > 0) headers.set('Cookie', sent.map(({ name, value }) => `${name}=${value}`).join('; '));
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) store(url, line);
    return { url: url.href, status: response.status, headers: response.headers, text: await response.text() };
  }

  async function follow(
    url: string,
    init: RequestInit | undefined,
    stop: (url: string) => boolean,
  ): Promise<Page | string> {
    let page = await request(url, init);
    for (let hops = 0; hops < 20; hops++) {
      const location = page.headers.get('Location');
      if (location === null) return page;
      const next = new URL(location, page.url).href;
      if (stop(next)) return next;
      page = await request(next);
    }
    throw new Error(`${url} redirects for ever.`);
  }

  return {
    request,
    open: async (url, init) => (await follow(url, init, () => false)) as Page,
    async until(url, prefix, init) {
      const end = await follow(url, init, (next) => next.startsWith(prefix));
      if (typeof end === 'string') return end;
      throw new Error(`${end.url} answered ${end.status}, and nothing led to ${prefix}: ${end.text}`);
    },
    cookies: (host) => new Map(jar.filter(({ hostname }) => hostname === host).map(({ name, value }) => [name, value])),
    setCookie(hostname, name, value) {
      jar = jar.filter((cookie) => cookie.name !== name || cookie.hostname !== hostname);
      jar.push({ hostname, path: '/', name, value });
    },
  };
}

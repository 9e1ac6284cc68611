import { existsSync } from 'node:fs';
import axe from 'axe-core';
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core';

/** The shell draws the same pages without the windows of a browser: a context takes a quarter of the processor's time. */
export const executablePath = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']
  .map((name) => `/usr/bin/${name}`)
  .find((path) => existsSync(path));

/** What a suite's name ends in where there is no browser to run it. */
export const whySkipped = executablePath === undefined ? ' (skipped: there is no Chromium)' : '';

export const chromiumArgs = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A real browser, in which every test opens a context of its own. */
export interface OpenChromium extends AsyncDisposable {
  open(options?: BrowserContextOptions): Promise<Watched>;
}

/** A page, and all that went wrong on it: errors and warnings of the console, of scripts, of its policy, and requests to any other origin. */
export interface Watched extends AsyncDisposable {
  page: Page;
  context: BrowserContext;
  wrong: string[];
}

let launched: Promise<Browser> | null = null;

/** One process for all the files of a worker, which it ends with: it takes seconds to start. Contexts share nothing. */
function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: executablePath!,
    headless: true,
    // It ends when the worker does, however that ends: its pipe is closed.
    handleSIGHUP: false,
    handleSIGINT: false,
    handleSIGTERM: false,
    args: chromiumArgs,
  });
}

export async function openChromium(origin: string, elsewhere: readonly string[] = []): Promise<OpenChromium> {
  const browser = await (launched ??= launch());
  const contexts = new Set<BrowserContext>();
  return {
    async open(options = {}) {
      const context = await browser.newContext(options);
      contexts.add(context);
      context.setDefaultTimeout(120_000);
      const page = await context.newPage();
      const wrong: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') wrong.push(`console: ${message.text()}`);
      });
      page.on('pageerror', (error) => wrong.push(`script: ${error.message}`));
      page.on('dialog', (dialog) => {
        wrong.push(`dialog: ${dialog.message()}`);
        void dialog.dismiss();
      });
      page.on('request', (request) => {
        const url = new URL(request.url());
        const isOurs = url.origin === origin || elsewhere.includes(url.origin) || url.protocol === 'data:';
        if (!isOurs) wrong.push(`request: ${url.href}`);
      });
      // What the page's policy stopped never left: it is told as a violation of that.
      page.on('requestfailed', (request) => {
        const line = `request: ${new URL(request.url()).href}`;
        if (request.failure()?.errorText === 'csp' && wrong.includes(line)) wrong.splice(wrong.indexOf(line), 1);
      });
      const tellViolations = `addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
        console.error('policy: ' + violatedDirective + ' ' + blockedURI))`;
      await page.addInitScript(tellViolations);
      return { page, context, wrong, [Symbol.asyncDispose]: () => context.close() };
    },
    async [Symbol.asyncDispose]() {
      for (const context of contexts) await context.close();
    },
  };
}

interface Violation {
  id: string;
  impact: string;
  nodes: { target: unknown[]; failureSummary: string }[];
}

type WithAxe = typeof globalThis & { axe: { run(options: object): Promise<{ violations: Violation[] }> } };

/** What axe-core finds serious or critical, one line each. */
export async function seriousFindings(page: Page): Promise<string[]> {
  return (await allFindings(page))
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ line }) => line);
}

/** Everything that axe-core finds. */
export async function allFindings(page: Page): Promise<{ impact: string; line: string }[]> {
  // Reading it takes a fifth of the time: once on a page.
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(axe.source);
  const violations = await page.evaluate(async () => {
    // Style sheets are not collected for rules: none that is on and serious reads them.
    const result = await (globalThis as WithAxe).axe.run({ resultTypes: ['violations'], preload: false });
    return result.violations.map(({ id, impact, nodes }) => ({
      id,
      impact,
      nodes: nodes.slice(0, 3).map(({ target, failureSummary }) => ({ target, failureSummary })),
    }));
  });
  return violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ target, failureSummary }) => ({ impact, line: `${id}: ${String(target)} ${failureSummary}` })),
  );
}

/**
 * The first evening of a new engineer, with a real browser, a shell, an identity provider and a mail server on this machine:
 * signs in, gets a key with `stele login`, finds an API with an assistant and in Backstage's model, has the editor check a
 * file, watches the API and gets the mail of its next version. Counts commands, clicks and seconds: `docs/journeys.md`.
 *
 *   node scripts/story.ts [--write]
 */
import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { apiEntityV1alpha1Validator, type Entity } from '@backstage/catalog-model';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { parseAllDocuments } from 'yaml';
import { $, argv, echo, tmpdir } from 'zx';
import { openChromium } from '../test/e2e/browser/chromium.ts';
import { openIdentityProvider } from '../test/servers/oidc.ts';
import { answers, freePort } from '../test/servers/ports.ts';
import { openMailServer } from '../test/servers/smtp.ts';
import { diagnose } from '../test/servers/yaml-language-server.ts';

const root = new URL('..', import.meta.url).pathname;
const folder = tmpdir();
const port = await freePort();
const url = `http://localhost:${port}`;
const stack = new AsyncDisposableStack();

interface Step {
  name: string;
  commands: number;
  clicks: number;
  seconds: number;
}
const steps: Step[] = [];

/** One step of the story: what it says is counted. */
async function step(name: string, work: (count: { commands: number; clicks: number }) => Promise<void>): Promise<void> {
  const count = { commands: 0, clicks: 0 };
  const startedAt = performance.now();
  await work(count);
  const seconds = (performance.now() - startedAt) / 1000;
  steps.push({ name, ...count, seconds });
  echo(`${name}: ${count.commands} commands, ${count.clicks} clicks, ${seconds.toFixed(1)} s`);
}

function fail(what: string, saw: unknown): never {
  throw new Error(`${what}: ${JSON.stringify(saw)}`);
}

// What is there before the evening: a registry with an identity provider and mail, a private API and a schema.
const api = (version: string, more: string) =>
  `openapi: 3.1.0\ninfo: {title: Payments, version: ${version}}\npaths:\n  /payments:\n    post: {operationId: createPayment, summary: Takes a payment, responses: {'201': {description: Taken}}}\n${more}`;
const schema = { $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'Order', type: 'object', properties: { quantity: { type: 'integer' } } }; // prettier-ignore
const party = { clientId: 'stele', clientSecret: 'secret', redirectUri: `${url}/login/callback`, postLogoutRedirectUri: `${url}/` }; // prettier-ignore
const provider = stack.use(await openIdentityProvider({ clients: [party], groups: { eva: ['engineers'] } }));
const mail = stack.use(await openMailServer());
const login = {
  issuer: provider.issuer,
  clientId: party.clientId,
  clientSecret: { env: 'CLIENT' },
  sessionSecret: { env: 'SESSION' },
  scope: 'openid profile email groups',
};
const config = { url, organizations: { acme: {} }, login, mail: { smtp: mail.url, from: 'Stele <stele@example.com>' } };
await writeFile(join(folder, 'registry.config.json'), JSON.stringify(config));
await writeFile(join(folder, 'pay.yaml'), api('1.0.0', ''));
await writeFile(join(folder, 'order.json'), JSON.stringify(schema));
await mkdir(join(folder, 'home'));
const env = { ...process.env, CLIENT: party.clientSecret, SESSION: 'a secret of at least thirty-two characters', HOME: join(folder, 'home'), XDG_CONFIG_HOME: join(folder, 'home/.config') }; // prettier-ignore
const cli = join(root, 'src/cli.ts');
const operator = (...words: string[]) => $({ cwd: folder, env, quiet: true })`node ${cli} ${words} --data data`;
await operator('publish', 'pay.yaml', '@acme/apis/payments');
await operator('publish', 'order.json', '@acme/schemas/order', '--version', '1.0.0', '--public');
const adminKey = (await operator('keys', 'create', '--org', 'acme', '--name', 'ci', '--scope', 'admin')).stdout.trim();
const server = spawn(process.execPath, [cli, 'serve', '--port', String(port), '--data', 'data'], { cwd: folder, env, stdio: 'ignore' }); // prettier-ignore
stack.defer(() => void server.kill());
while (!(await answers(port))) await new Promise((resolve) => void setTimeout(resolve, 100));
const asAdmin = (method: string, path: string, body: object) =>
  fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
await asAdmin('PATCH', '/v1/schemas/order', { fileMatch: ['orders/*.yaml'] });
const given = await asAdmin('POST', '/v1/rights', { group: 'engineers', scopes: ['read'] });
if (given.status !== 201) fail('An administrator gives a group rights while the server runs', await given.text());

const chromium = stack.use(await openChromium(url, [provider.issuer]));
const { page } = stack.use(await chromium.open());
/** Follows a link or presses a button. */
const press = async (count: { clicks: number }, name: string) => {
  count.clicks++;
  await page.getByRole('button', { name, exact: true }).or(page.getByRole('link', { name, exact: true })).first().click(); // prettier-ignore
};
let key = '';

await step('signs in and gets a key with stele login', async (count) => {
  count.commands++;
  const program = spawn(process.execPath, [cli, 'login', '--registry', url], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  program.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  const ended = new Promise<number | null>((resolve) => void program.once('close', resolve));
  while (!/code [A-Z]{4}-[A-Z]{4}/.test(said)) await new Promise((resolve) => void setTimeout(resolve, 50));
  const [, address, code] = /Open (\S+) and enter the code (\S+)/.exec(said)!;
  await page.goto(address!);
  await page.getByLabel('Name').fill('eva');
  await press(count, 'Sign in');
  await page.getByLabel('Code').fill(code!);
  await press(count, 'Continue');
  await press(count, 'Give it a key');
  if ((await ended) !== 0) fail('stele login', said);
  const saved = await readFile(join(folder, 'home/.config/stele/keys.json'), 'utf8');
  key = /stele_[0-9a-z]{12}_[0-9A-Za-z]{38}/.exec(saved)![0];
});

await step('finds the API with an assistant (MCP)', async () => {
  const client = new Client({ name: 'assistant', version: '1' });
  const requestInit = { headers: { Authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }) as never);
  const call = async (name: string, asked: Record<string, string>) =>
    ((await client.callTool({ name, arguments: asked })) as { content: { text: string }[] }).content[0]!.text;
  const hits = await call('search', { query: 'take a payment' });
  if (!hits.includes('@acme/apis/payments')) fail('search', hits);
  const operation = await call('read_operation', { document: '@acme/apis/payments', operation: 'createPayment' });
  if (!operation.includes('Takes a payment')) fail('read_operation', operation);
  await client.close();
});

await step("finds it in Backstage's model", async (count) => {
  count.commands++;
  const response = await fetch(`${url}/@acme/catalog-info.yaml`, { headers: { authorization: `Bearer ${key}` } });
  const entities = parseAllDocuments(await response.text()).map((document) => document.toJS() as Entity);
  const entity = entities.find(({ kind, metadata }) => kind === 'API' && metadata.name === 'payments');
  if (!entity) fail('catalog-info.yaml', entities);
  const { $text } = entity.spec!['definition'] as { $text: string };
  const text = await fetch($text, { headers: { authorization: `Bearer ${key}` } });
  Object.assign(entity.spec!, { definition: await text.text() });
  if (!(await apiEntityV1alpha1Validator.check(entity))) fail('The validator', entity);
});

await step("sets up the editor's catalogue", async (count) => {
  // `yaml.schemaStore.url` in its settings.
  count.clicks++;
  const found = await diagnose(`${url}/@acme/catalog.json`, 'file:///project/orders/first.yaml', 'quantity: many\n');
  if (!found.some((line) => line.includes('Expected "integer"'))) fail('The editor', found);
});

await step('watches the API', async (count) => {
  await page.goto(`${url}/@acme/apis/payments`);
  await press(count, 'Watch');
  await page.getByLabel('Mail').selectOption('once');
  count.clicks++;
  await press(count, 'Watch');
  await page.getByText('You watch it.').waitFor();
});

await step('gets the mail of the next version', async () => {
  const document = api('1.1.0', "    get: {operationId: listPayments, responses: {'200': {description: All}}}\n");
  const published = await asAdmin('POST', '/v1/apis/payments/spec', { document });
  if (published.status !== 201) fail('publish', await published.text());
  while (mail.mails.length === 0) await new Promise((resolve) => void setTimeout(resolve, 50));
  const [{ headers, to, body }] = mail.mails as [(typeof mail.mails)[0]];
  const subject = headers.get('subject');
  if (to[0] !== 'eva@example.com' || subject !== '@acme/apis/payments@1.1.0 was published') fail('The mail', { to, subject, body }); // prettier-ignore
});

await stack.disposeAsync();

const sum = (of: 'commands' | 'clicks' | 'seconds') => steps.reduce((total, each) => total + each[of], 0);
const all = [...steps, { name: '**the evening**', commands: sum('commands'), clicks: sum('clicks'), seconds: sum('seconds') }]; // prettier-ignore
const rows = all.map(({ name, commands, clicks, seconds }) => `| ${name} | ${commands} | ${clicks} | ${seconds.toFixed(1)} |`); // prettier-ignore
const table = ['| step | commands | clicks | seconds |', '| --- | ---: | ---: | ---: |', ...rows].join('\n');
echo(table);
if (argv['write'] === true) {
  const file = join(root, 'docs/journeys.md');
  const text = (await readFile(file, 'utf8')).replace(/^\| step [^]*?\n(?!\|)/m, `${table}\n`);
  await writeFile(file, text);
}

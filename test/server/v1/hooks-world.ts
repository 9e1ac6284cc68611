import { createHmac } from 'node:crypto';
import { expect } from 'vitest';
import { type UserConfig } from '../../../src/config.ts';
import { createHosts } from '../../../src/hosts/hosts.ts';
import { createTestRegistry } from '../registry.ts';
import { openApi, unlimited, type Api } from './api.ts';
import { createTestRepository } from './repository.ts';

/** The repository of GitHub's own examples. */
export const url = 'https://github.com/Codertocat/Hello-World.git';

export const secrets = {
  github: 'github-secret',
  gitlab: 'gitlab-secret',
  gitea: 'gitea-secret',
  bitbucket: 'bitbucket-secret',
  azure: 'azure-secret',
};

/** An API that nobody answers: the payloads name repositories of the hosts themselves. */
const apiUrl = 'http://127.0.0.1:9';

export const user: UserConfig = {
  ...unlimited,
  hosts: Object.fromEntries(
    Object.keys(secrets).map((kind) => [kind, { apiUrl, webhookSecret: { env: `STELE_TEST_HOOK_${kind}` } }]),
  ),
};

/** An API `pay` that follows a repository in memory, and hosts as they are. */
export async function open(more: UserConfig = {}, followed = url) {
  const repository = createTestRepository(followed);
  const plain = createTestRegistry({ ...user, ...more });
  const registry = { ...plain, source: repository.source, hosts: createHosts(plain.config) };
  const api = await openApi(registry);
  await api.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay' } });
  await api.call('PUT', '/v1/apis/pay/connection', { body: { repository: followed, path: 'pay.json' } });
  return { api, repository, registry, [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() };
}

export const hmac = (secret: string, body: string | Uint8Array) =>
  createHmac('sha256', secret).update(body).digest('hex');

export const push = JSON.stringify({ ref: 'refs/heads/master', repository: { full_name: 'Codertocat/Hello-World' } });

/** Sends a delivery of GitHub. */
export function send(
  api: Api,
  body: string | Uint8Array<ArrayBuffer>,
  fields: Record<string, string> = {},
  query = '',
) {
  const signature = `sha256=${hmac(secrets.github, body)}`;
  const headers = { 'x-github-event': 'push', 'x-hub-signature-256': signature, ...fields };
  return api.call('POST', `/v1/hooks/github${query}`, { key: null, raw: body, headers });
}

/** The labels of what is published, once there are so many. */
export async function published(api: Api, count: number): Promise<unknown[]> {
  let labels: string[] = [];
  const read = async () => {
    const { json } = await api.call('GET', '/v1/apis/pay/versions');
    labels = (json['items'] as { version: string }[]).map(({ version }) => version);
    return labels.length;
  };
  await expect.poll(read).toBeGreaterThanOrEqual(count);
  return labels;
}

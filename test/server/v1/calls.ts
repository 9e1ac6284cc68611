import type { Client as TypedClient } from 'openapi-fetch';
import type { paths } from '../../../src/server/v1/management.d.ts';

export type Client = TypedClient<paths>;

/** Every operation on one type's resources, as a program calls it through the generated client. */
export const calls = {
  apis: {
    list: (client: Client) => client.GET('/v1/apis', { params: { query: { limit: 10, q: 'pay' } } }),
    create: (client: Client, slug: string, key: string) =>
      client.POST('/v1/apis', { params: { header: { 'Idempotency-Key': key } }, body: { name: 'Payments', slug } }),
    get: (client: Client, slug: string) => client.GET('/v1/apis/{api}', { params: { path: { api: slug } } }),
    update: (client: Client, slug: string, match: string) =>
      client.PATCH('/v1/apis/{api}', {
        params: { path: { api: slug }, header: { 'If-Match': match } },
        body: { visibility: 'public' },
      }),
    remove: (client: Client, slug: string) => client.DELETE('/v1/apis/{api}', { params: { path: { api: slug } } }),
    undelete: (client: Client, slug: string) =>
      client.POST('/v1/apis/{api}/undelete', { params: { path: { api: slug } } }),
    publish: (client: Client, slug: string, document: string) =>
      client.POST('/v1/apis/{api}/spec', { params: { path: { api: slug } }, body: { document } }),
    compare: (client: Client, slug: string, document: string, from: string) =>
      client.POST('/v1/apis/{api}/diff', { params: { path: { api: slug } }, body: { document, from } }),
    versions: (client: Client, slug: string) =>
      client.GET('/v1/apis/{api}/versions', { params: { path: { api: slug } } }),
    version: (client: Client, slug: string, version: string) =>
      client.GET('/v1/apis/{api}/versions/{version}', { params: { path: { api: slug, version } } }),
    yank: (client: Client, slug: string, version: string) =>
      client.PATCH('/v1/apis/{api}/versions/{version}', {
        params: { path: { api: slug, version } },
        body: { status: { state: 'yanked', reason: 'broken' } },
      }),
    connect: (client: Client, slug: string, repository: string, path: string) =>
      client.PUT('/v1/apis/{api}/connection', { params: { path: { api: slug } }, body: { repository, path } }),
    connection: (client: Client, slug: string) =>
      client.GET('/v1/apis/{api}/connection', { params: { path: { api: slug } } }),
    disconnect: (client: Client, slug: string) =>
      client.DELETE('/v1/apis/{api}/connection', { params: { path: { api: slug } } }),
    sync: (client: Client, slug: string) =>
      client.POST('/v1/apis/{api}/sync', { params: { path: { api: slug }, query: { wait: 30 } } }),
    dependants: (client: Client, slug: string) =>
      client.GET('/v1/apis/{api}/dependants', { params: { path: { api: slug } } }),
    syncs: (client: Client, slug: string) => client.GET('/v1/apis/{api}/syncs', { params: { path: { api: slug } } }),
    syncRun: (client: Client, slug: string, run: string) =>
      client.GET('/v1/apis/{api}/syncs/{run}', { params: { path: { api: slug, run } } }),
  },
  schemas: {
    list: (client: Client) => client.GET('/v1/schemas', { params: { query: { limit: 10, q: 'pay' } } }),
    create: (client: Client, slug: string, key: string) =>
      client.POST('/v1/schemas', { params: { header: { 'Idempotency-Key': key } }, body: { name: 'Payments', slug } }),
    get: (client: Client, slug: string) => client.GET('/v1/schemas/{schema}', { params: { path: { schema: slug } } }),
    update: (client: Client, slug: string, match: string) =>
      client.PATCH('/v1/schemas/{schema}', {
        params: { path: { schema: slug }, header: { 'If-Match': match } },
        body: { visibility: 'public' },
      }),
    remove: (client: Client, slug: string) =>
      client.DELETE('/v1/schemas/{schema}', { params: { path: { schema: slug } } }),
    undelete: (client: Client, slug: string) =>
      client.POST('/v1/schemas/{schema}/undelete', { params: { path: { schema: slug } } }),
    publish: (client: Client, slug: string, document: string) =>
      client.POST('/v1/schemas/{schema}/document', { params: { path: { schema: slug } }, body: { document } }),
    compare: (client: Client, slug: string, document: string, from: string) =>
      client.POST('/v1/schemas/{schema}/diff', { params: { path: { schema: slug } }, body: { document, from } }),
    versions: (client: Client, slug: string) =>
      client.GET('/v1/schemas/{schema}/versions', { params: { path: { schema: slug } } }),
    version: (client: Client, slug: string, version: string) =>
      client.GET('/v1/schemas/{schema}/versions/{version}', { params: { path: { schema: slug, version } } }),
    yank: (client: Client, slug: string, version: string) =>
      client.PATCH('/v1/schemas/{schema}/versions/{version}', {
        params: { path: { schema: slug, version } },
        body: { status: { state: 'yanked', reason: 'broken' } },
      }),
    connect: (client: Client, slug: string, repository: string, path: string) =>
      client.PUT('/v1/schemas/{schema}/connection', { params: { path: { schema: slug } }, body: { repository, path } }),
    connection: (client: Client, slug: string) =>
      client.GET('/v1/schemas/{schema}/connection', { params: { path: { schema: slug } } }),
    disconnect: (client: Client, slug: string) =>
      client.DELETE('/v1/schemas/{schema}/connection', { params: { path: { schema: slug } } }),
    sync: (client: Client, slug: string) =>
      client.POST('/v1/schemas/{schema}/sync', { params: { path: { schema: slug }, query: { wait: 30 } } }),
    dependants: (client: Client, slug: string) =>
      client.GET('/v1/schemas/{schema}/dependants', { params: { path: { schema: slug } } }),
    syncs: (client: Client, slug: string) =>
      client.GET('/v1/schemas/{schema}/syncs', { params: { path: { schema: slug } } }),
    syncRun: (client: Client, slug: string, run: string) =>
      client.GET('/v1/schemas/{schema}/syncs/{run}', { params: { path: { schema: slug, run } } }),
  },
  rulesets: {
    list: (client: Client) => client.GET('/v1/rulesets', { params: { query: { limit: 10, q: 'pay' } } }),
    create: (client: Client, slug: string, key: string) =>
      client.POST('/v1/rulesets', { params: { header: { 'Idempotency-Key': key } }, body: { name: 'Payments', slug } }),
    get: (client: Client, slug: string) =>
      client.GET('/v1/rulesets/{ruleset}', { params: { path: { ruleset: slug } } }),
    update: (client: Client, slug: string, match: string) =>
      client.PATCH('/v1/rulesets/{ruleset}', {
        params: { path: { ruleset: slug }, header: { 'If-Match': match } },
        body: { visibility: 'public' },
      }),
    remove: (client: Client, slug: string) =>
      client.DELETE('/v1/rulesets/{ruleset}', { params: { path: { ruleset: slug } } }),
    undelete: (client: Client, slug: string) =>
      client.POST('/v1/rulesets/{ruleset}/undelete', { params: { path: { ruleset: slug } } }),
    publish: (client: Client, slug: string, document: string) =>
      client.POST('/v1/rulesets/{ruleset}/document', { params: { path: { ruleset: slug } }, body: { document } }),
    compare: (client: Client, slug: string, document: string, from: string) =>
      client.POST('/v1/rulesets/{ruleset}/diff', { params: { path: { ruleset: slug } }, body: { document, from } }),
    versions: (client: Client, slug: string) =>
      client.GET('/v1/rulesets/{ruleset}/versions', { params: { path: { ruleset: slug } } }),
    version: (client: Client, slug: string, version: string) =>
      client.GET('/v1/rulesets/{ruleset}/versions/{version}', { params: { path: { ruleset: slug, version } } }),
    yank: (client: Client, slug: string, version: string) =>
      client.PATCH('/v1/rulesets/{ruleset}/versions/{version}', {
        params: { path: { ruleset: slug, version } },
        body: { status: { state: 'yanked', reason: 'broken' } },
      }),
    connect: (client: Client, slug: string, repository: string, path: string) =>
      client.PUT('/v1/rulesets/{ruleset}/connection', {
        params: { path: { ruleset: slug } },
        body: { repository, path },
      }),
    connection: (client: Client, slug: string) =>
      client.GET('/v1/rulesets/{ruleset}/connection', { params: { path: { ruleset: slug } } }),
    disconnect: (client: Client, slug: string) =>
      client.DELETE('/v1/rulesets/{ruleset}/connection', { params: { path: { ruleset: slug } } }),
    sync: (client: Client, slug: string) =>
      client.POST('/v1/rulesets/{ruleset}/sync', { params: { path: { ruleset: slug }, query: { wait: 30 } } }),
    dependants: (client: Client, slug: string) =>
      client.GET('/v1/rulesets/{ruleset}/dependants', { params: { path: { ruleset: slug } } }),
    syncs: (client: Client, slug: string) =>
      client.GET('/v1/rulesets/{ruleset}/syncs', { params: { path: { ruleset: slug } } }),
    syncRun: (client: Client, slug: string, run: string) =>
      client.GET('/v1/rulesets/{ruleset}/syncs/{run}', { params: { path: { ruleset: slug, run } } }),
  },
} as const;

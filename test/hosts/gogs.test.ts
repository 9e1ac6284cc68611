import { hostContract, type HostCase } from '../contract/host.ts';
import { openGogsApi } from '../servers/gogs-api.ts';
import { credentials, hmac, hostAt, named } from './world.ts';

const headers = { 'x-gogs-event': 'push' };
const repository = { full_name: 'acme/contracts' };

async function open(second: number) {
  const standIn = await openGogsApi();
  return {
    host: hostAt('gogs', `${standIn.url}/api/v1`, second, { credentials }),
    standIn,
    credentials: named,
    stands: () => ({}),
    [Symbol.asyncDispose]: () => standIn[Symbol.asyncDispose](),
  };
}

const given: HostCase = {
  open,
  secrets: { right: 'right', other: 'other' },
  sign: (body, secret) => ({ 'x-gogs-signature': hmac(secret, body) }),
  field: 'x-gogs-signature',
  push: { headers, payload: { ref: 'refs/heads/main', repository } },
  pull: {
    headers: { 'x-gogs-event': 'pull_request' },
    payload: { action: 'synchronized', number: 7, pull_request: { base_branch: 'main' }, repository },
    ref: 'refs/pull/7/head',
  },
  pullItem: null,
  ownedItem: (full_name, { isFork }) => ({ full_name, fork: isFork }),
  hasArchived: false,
  isOpenToAll: false,
  refOf: (number) => `refs/pull/${number}/head`,
  states: null,
};

hostContract('gogs', given);

import { afterAll, beforeAll, expect } from 'vitest';
import { ask, type Answer } from '../http.ts';
import { openServed, type Served } from '../served.ts';

type Headers = [string, string][];

/** A registry that is asked as OCI clients ask it. */
export interface OciWorld {
  readonly served: Served;
  /** An answer whose length is the one that it says. */
  get(target: string, headers?: Headers, method?: string): Promise<Answer>;
  json(target: string, headers?: Headers): Promise<Record<string, never>>;
  withKey(): Headers;
}

/** For all tests of the file that calls it. */
export function openOci(): OciWorld {
  let served: Served;
  beforeAll(async () => {
    served = await openServed({ rateLimit: { failures: 1000 } });
  });
  afterAll(() => served[Symbol.asyncDispose]());

  async function get(target: string, headers: Headers = [], method = 'GET'): Promise<Answer> {
    const answer = await ask(served.port, { method, target, headers });
    if (method === 'GET' && answer.status !== 304)
      expect(answer.headers.get('content-length'), target).toBe(String(answer.body.length));
    return answer;
  }

  return {
    get served() {
      return served;
    },
    get,
    json: async (target, headers) => JSON.parse((await get(target, headers)).body.toString()) as Record<string, never>,
    withKey: () => [['Authorization', `Basic ${served.values['basic']}`]],
  };
}

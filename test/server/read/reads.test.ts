import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe } from 'vitest';
import { testScript } from '../script.ts';
import { openServed, type Served } from '../served.ts';

const folder = new URL('scripts/', import.meta.url);
let served: Served;

beforeAll(async () => {
  served = await openServed({ rateLimit: { failures: 1000 } });
});
afterAll(() => served[Symbol.asyncDispose]());

describe.for(readdirSync(folder).filter((name) => name.endsWith('.http.txt')))('%s', (name) => {
  testScript(
    new URL(name, folder),
    () => served.port,
    () => served.values,
  );
});

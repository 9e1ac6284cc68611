import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { expect, test } from 'vitest';
import { isAlive, processName } from '../../src/store/process.ts';

test('this process is alive, one that is gone is not, and those of other machines may be', () => {
  expect(isAlive(processName())).toBe(true);
  expect(isAlive(`${processName()}/a-purge`)).toBe(true);
  expect(isAlive(`${hostname()}/999999999`)).toBe(false);
  expect(isAlive(`${hostname()}/999999999.1`)).toBe(false);
  expect(isAlive('elsewhere/999999999.1')).toBe(true);
});

// In a container, the server has the same host name and number after each crash.
test.runIf(existsSync('/proc/self/stat'))('a process whose number was given to another one is not alive', () => {
  expect(isAlive(`${hostname()}/${process.pid}.1`)).toBe(false);
  // Who wrote the name did not know when it was started.
  expect(isAlive(`${hostname()}/${process.pid}`)).toBe(true);
});

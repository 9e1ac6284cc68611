import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { RegistryError } from '../../src/model/errors.ts';
import { createDoor, type Face } from '../../src/server/door.ts';
import { ask } from './http.ts';

const bug = new Error('A bug.');
const calm: Face = {
  answer: async (_request, response) => void response.writeHead(204).end(),
  refuse: (_request, response, error) =>
    void response.writeHead(error instanceof RegistryError ? 404 : 500, { 'X-Face': 'calm' }).end(),
  routeOf: () => '/calm',
};
const throwIt = (): never => {
  throw bug;
};

/** Asks a server whose door leads to this face. Returns the answer, what was logged and what was counted. */
async function enter(face: Face, choose: () => Face = () => face) {
  const logged: string[] = [];
  const counted: string[] = [];
  const observer = {
    observe: (_request: unknown, _response: unknown, route: string) => void counted.push(route),
  } as unknown as Parameters<typeof createDoor>[1];
  const door = createDoor({ log: (_level, event) => void logged.push(event) }, observer, calm);
  const server = createServer((request, response) => door(request, response, choose)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { status, headers } = await ask((server.address() as AddressInfo).port, { target: '/' });
  server.close();
  return { status, face: headers.get('x-face'), logged, counted };
}

test('what a face rejects with is answered in its own form', async () => {
  const rejected = { ...calm, answer: () => Promise.reject(new RegistryError('not_found', 'Nothing.')) };
  expect(await enter(rejected)).toEqual({ status: 404, face: 'calm', logged: [], counted: ['/calm'] });
  expect(await enter({ ...calm, answer: throwIt })).toMatchObject({ status: 500, face: 'calm' });
});

test('what no face can be chosen for is answered too', async () => {
  expect(await enter(calm, throwIt)).toMatchObject({ status: 500, face: 'calm', counted: ['/calm'] });
});

test('an error whose answer fails is answered with nothing but 500, and logged', async () => {
  const refuse: Face['refuse'] = (_request, response) => {
    response.setHeader('X-Face', 'half');
    throw bug;
  };
  expect(await enter({ ...calm, answer: throwIt, refuse })).toEqual({
    status: 500,
    face: undefined,
    logged: ['an error could not be answered'],
    counted: ['/calm'],
  });
  expect(await enter({ ...calm, routeOf: throwIt })).toMatchObject({
    status: 204,
    logged: ['a request was not counted'],
  });
});

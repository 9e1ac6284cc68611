import { RegistryError } from '../../../model/errors.ts';
import { askForKey, takeKey } from '../../../registry/keys/devices.ts';
import { nothingHere } from '../../nothing-here.ts';
import type { ServerContext } from '../../server-context.ts';
import type { Answer } from '../call.ts';
import { keyRecord } from '../resource-records.ts';

/** Seconds between two questions of a program. */
const interval = 3;

type Context = Pick<ServerContext, 'registry' | 'url'>;

/** `POST /v1/devices`: a program asks for a key of a person. */
export async function askForKeyOf({ registry, url }: Context, body: unknown, address: string | null): Promise<Answer> {
  if (registry.config.login === null) throw new RegistryError('not_found', nothingHere);
  const asked = await askForKey(registry, body as Parameters<typeof askForKey>[1], address);
  const place = `${url}/console/-/device`;
  const complete = `${place}?code=${asked.userCode}`;
  return { status: 201, body: { ...asked, verificationUri: place, verificationUriComplete: complete, interval } };
}

/** `POST /v1/devices/token`: the program takes the key, or learns that there is none yet. */
export async function takeKeyOf({ registry }: Context, body: unknown, address: string | null): Promise<Answer> {
  const taken = await takeKey(registry, (body as { deviceCode: string }).deviceCode, address);
  if (taken.state !== 'granted') return { status: 200, body: { state: taken.state } };
  return { status: 201, body: { ...keyRecord(taken.key, null), secret: taken.text } };
}

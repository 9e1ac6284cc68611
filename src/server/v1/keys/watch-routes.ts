import type { Watch } from '../../../model/event.ts';
import { createWatch, deleteWatch, listWatches, type NewWatch } from '../../../registry/keys/watches.ts';
import { bodyOf, type Handler } from '../call.ts';
import { isText, positionOf, sendPage } from '../list-pages.ts';
import { personOf } from './personal-key-routes.ts';

export const listMine: Handler = async (call) => {
  const after = positionOf(call, isText);
  const watches = await listWatches(call.registry, personOf(call));
  const start = after === null ? 0 : watches.findIndex(({ id }) => id === after) + 1;
  return sendPage(call, watches.slice(start), watchRecord, ({ id }) => id);
};

export const createMine: Handler = async (call) => {
  const { organization: org, ...given } = bodyOf<Omit<NewWatch, 'org'> & { organization: string }>(call);
  const watch = await createWatch(call.registry, personOf(call), { ...given, org }, call.author);
  return { status: 201, body: watchRecord(watch) };
};

export const deleteMine: Handler = async (call) => {
  await deleteWatch(call.registry, personOf(call), call.path['watch']!, call.author);
  return { status: 204 };
};

function watchRecord({ id, org, resources, events, rhythm, begins }: Watch): object {
  return { id, organization: org, resources, events, rhythm, createdAt: begins };
}

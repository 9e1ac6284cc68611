import type { ReportedContract } from '../../../model/dependency.ts';
import { listConsumers, reportConsumer } from '../../../registry/graph/consumers.ts';
import { bodyOf, type Handler } from '../call.ts';
import { isText, matchesQuery, positionOf, sendPage } from '../list-pages.ts';

export const listAll: Handler = async (call) => {
  const after = positionOf(call, isText);
  const all = await listConsumers(call.registry, call.org);
  return sendPage(
    call,
    all.filter(({ name }) => (after === null || name > after) && matchesQuery(call, name)),
    (consumer) => consumer,
    ({ name }) => name,
  );
};

export const reportOne: Handler = async (call) => {
  const { registry, org, path, author } = call;
  const { contracts } = bodyOf<{ contracts: ReportedContract[] }>(call);
  return { status: 200, body: await reportConsumer(registry, org, path['consumer']!, contracts, author) };
};

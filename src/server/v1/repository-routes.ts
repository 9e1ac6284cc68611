import { describeOwners, describeRepositories } from '../../sync/owners/describe-followed.ts';
import type { Handler } from './call.ts';
import { isText, matchesQuery, positionOf, sendPage } from './list-pages.ts';

export const listRepositories: Handler = async (call) => {
  const { registry, context, org, query } = call;
  const after = positionOf(call, isText);
  const all = await describeRepositories(registry, org, (owner, id) => context.queue.hasNews(owner, id));
  const keyOf = ({ repository, id }: (typeof all)[number]) => `${repository} ${id}`;
  const items = all.filter((each) => {
    if (after !== null && keyOf(each) <= after) return false;
    if (query['state'] !== undefined && each.state !== query['state']) return false;
    return matchesQuery(call, each.repository);
  });
  return sendPage(call, items, (item) => item, keyOf);
};

export const listOwners: Handler = async ({ registry, org }) => ({
  status: 200,
  body: { items: await describeOwners(registry, org) },
});

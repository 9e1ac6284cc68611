import type { HeldAuthor } from '../../model/versions/approval.ts';
import type { Connection } from '../../model/connection.ts';
import { isRegistryError } from '../../model/errors.ts';
import { keyRef } from '../../model/keys/key.ts';
import type { CommitPerson, Snapshot } from '../../source/snapshot.ts';
import type { PublishRequest } from '../append-version.ts';
import { signerOf } from '../commit-signer.ts';
import { remoteOf } from '../remote.ts';
import type { Registry } from '../registry.ts';

/** Keys that made each other, which are followed to the person who made the first. */
const maxKeys = 10;

/**
 * Who wrote what is published: the author, committer and verified signer of its commit, and of the commits that a
 * merge brings in. Of an upload, who sent it, and who made the key that was sent.
 */
export async function authorsOf(
  registry: Registry,
  { coordinate, snapshot, author, signal }: PublishRequest,
  connection: Connection | null,
): Promise<HeldAuthor[]> {
  if (snapshot.people === undefined) return (await makersOf(registry, author.actor)).map((actor) => ({ actor }));
  const authors: HeldAuthor[] = snapshot.people.map(authorFrom);
  const signer = await signerOf(registry, coordinate.org, snapshot.signature);
  if (signer !== null) authors.push({ name: signer.name });
  const [, ...merged] = snapshot.parents ?? [];
  if (merged.length === 0 || connection === null) return authors;
  const { repository: url, branch, credential } = connection;
  const remote = await remoteOf(registry, { org: coordinate.org, url, branch, credential });
  for (const commit of merged) {
    const brought = await registry.source.snapshot(remote, commit, signal).catch(unlessGone);
    authors.push(...(brought?.people ?? []).map(authorFrom));
  }
  return authors;
}

/** A repository need not provide what is not the tip of anything. */
function unlessGone(error: unknown): Snapshot | null {
  if (isRegistryError(error)) return null;
  throw error;
}

/** An address that a host gives to whoever hides theirs says nothing about a person. */
function authorFrom({ name, email }: CommitPerson): HeldAuthor {
  return { ...(name !== '' && { name }), ...(email !== '' && !/[@.]noreply\./.test(email) && { email }) };
}

/** Who sent an upload, and if that is a key of the organization, whoever made it. */
async function makersOf({ refs }: Pick<Registry, 'refs'>, actor: string): Promise<string[]> {
  const makers = [actor];
  for (let last = actor; last.startsWith('key:') && makers.length < maxKeys; last = makers.at(-1)!) {
    const [made] = await Array.fromAsync(refs.history(keyRef(last.slice('key:'.length))));
    if (made === undefined || makers.includes(made.actor)) return makers;
    makers.push(made.actor);
  }
  return makers;
}

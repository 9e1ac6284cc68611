import type { Digest } from '../../model/digest.ts';
import { formatCoordinate } from '../../model/address.ts';
import { findVersion } from '../../model/resource.ts';
import type { Tag } from '../../source/source.ts';
import { plannedFor } from '../../plan/plan.ts';
import type { ImportWork } from './import-past.ts';
import { rulesetNow } from '../gate-now.ts';

/** The result of importing a tag. `label` is null when its document was refused. */
export interface ImportedTag {
  commit: string;
  label: string | null;
  /** What refused it. It is tried again when one of these changes. */
  refused?: Judge;
}

/** What decides whether a document is refused. */
export interface Judge {
  ruleset: Digest | null;
  compiler: string;
  validation: string | null;
}

/** The tags of a document that were imported: the value of one record. */
interface ImportedTags {
  /** The file that was imported. */
  repository: string;
  path: string;
  tags: Record<string, ImportedTag>;
}

/** Which tags of a document need not be read again. */
export interface TagNotes {
  judge: Judge;
  /** What is known of the tag; null: it must be read. */
  find(tag: Tag): ImportedTag | null;
  add(name: string, imported: ImportedTag): void;
  /** Saves what was added. */
  save(): Promise<void>;
}

/** Opens the notes of earlier imports and syncs about the tags of a document. */
export async function openTagNotes(work: ImportWork): Promise<TagNotes> {
  const { registry, repository: followed, run, connected } = work;
  const { org, type, slug, connection, validation } = connected;
  const ref = `imported-tags/${org}/${type}/${slug}`;
  const { repository, path } = connection;
  const before = (await registry.refs.readFresh<ImportedTags>(ref))?.value;
  const tags = new Map(before?.repository === repository && before.path === path ? Object.entries(before.tags) : []);
  const ruleset = await rulesetNow(registry, plannedFor(connected));
  const judge: Judge = { ruleset, compiler: registry.compiler.id, validation };
  let isSaved = true;
  return {
    judge,
    find({ name, commit }) {
      const key = `${formatCoordinate({ org, type, slug })} ${name}`;
      const synced = Object.hasOwn(followed.tags, key) ? followed.tags[key]! : null;
      const noted = tags.get(name) ?? (synced && { commit: synced.commit, label: synced.label });
      if (!noted || (noted.label === null && noted.commit !== commit)) return null;
      if (noted.label !== null) return findVersion(connected, noted.label) === null ? null : noted;
      return JSON.stringify(noted.refused) === JSON.stringify(judge) ? noted : null;
    },
    add(name, imported) {
      tags.set(name, imported);
      isSaved = false;
    },
    async save() {
      if (isSaved) return;
      const change = { actor: `sync:${run.org}`, origin: `run:${run.id}`, action: 'import tags' };
      const value = { repository, path, tags: Object.fromEntries(tags) };
      await registry.refs.update<ImportedTags>(ref, () => ({ value, change }));
      isSaved = true;
    },
  };
}

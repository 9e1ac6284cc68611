import type { Draw } from './draw.ts';
import type { Bucket } from '../../src/store/bucket.ts';
import {
  changesOf,
  compatibilityOf,
  latestOf,
  publish,
  textOf,
  type Defaults,
  type Doc,
  type Overlay,
  type Resource,
} from './model.ts';
import type { Scope } from '../../src/model/access.ts';
import type { Gated } from './gated-verbs.ts';
import type { References } from './reference-verbs.ts';
import type { Answer, LifeWorld, Sent } from './world.ts';

/** A repository that is followed, as git has it. */
export interface Repo {
  name: string;
  url: string;
  /** `audience`: by the configuration, with a `stele.yaml`; its files here are what the entries in it publish. */
  by: 'configuration' | 'hand' | 'owner' | 'audience';
  isFollowed: boolean;
  id: string;
  files: Map<string, Doc>;
  /** Every commit of the branch, the newest last. */
  commits: { id: string; files: Map<string, Doc> }[];
  /** What of it was last synced, by path. */
  seen: Map<string, { text: string; outcome: string; checkedBy: string }>;
  /** Release tags, with the documents of their commits by resource. */
  tags: { label: string; commit: string; docs: Map<string, Doc> }[];
  /** Which resource each file was published to. A file that moves unchanged takes it along. */
  slugs: Map<string, string>;
}

export interface ModelKey {
  id: string;
  secret: string;
  scopes: readonly string[];
  isRevoked: boolean;
  expiresAt: number | null;
}

/** By label: whether a version is there, or was withdrawn. */
export interface SmallResource {
  deletedAt: number | null;
  versions: Map<string, boolean>;
}

/** A key of a person. `organizations`: null for all of the person's. */
export interface PersonsKey {
  id: string;
  secret: string;
  scope: Scope;
  organizations: string[] | null;
  expiresAt: number;
  isRevoked: boolean;
}

export interface ModelPerson {
  who: string;
  groups: string[];
  signedInAt: number;
  keys: PersonsKey[];
}

export interface ModelSite {
  slug: string;
  visibility: 'public' | 'private';
  files: Map<string, string>;
  deployments: { id: string; files: Map<string, string> }[];
  current: string | null;
  deletedAt: number | null;
}

export interface ModelPreview {
  path: string;
  /** The site as it was made; another one may have its name since. */
  site: ModelSite;
  index: string;
  madeAt: number;
}

/** A life so far: the world, and what the model says of it. */
export interface Life {
  world: LifeWorld;
  resources: Map<string, Resource>;
  /** The newest document of each resource, accepted or not. */
  drafts: Map<string, Doc>;
  /** The versions of `@acme/rulesets/style`: whether each wants summaries. */
  ruleset: { labels: string[]; isStrict: boolean };
  keys: ModelKey[];
  /** What counts for every resource that says nothing of its own. */
  defaults: Defaults;
  /** Organizations that were created. */
  organizations: Set<string>;
  /** What consumers reported last, and when. */
  consumers: Map<string, { uses: Map<string, string>; at: number }>;
  /** Backups, with the model as it was then. */
  moments: { bucket: Bucket; at: number; model: Pick<Life, 'resources' | 'keys' | 'sites' | 'gated'> }[];
  /** The contracts of a consumer's repository: what each was added as, and which version it has. */
  lock: Map<string, { major: number; version: string }>;
  /** What people were given. */
  rights: { id: string; person: string; scope: string }[];
  /** An organization with small quotas: its administrator's key, and what it has. */
  small: { key: string; resources: Map<string, SmallResource> };
  /** People with keys of their own, as of their last sign-in. */
  persons: ModelPerson[];
  /** What groups were given, in all of the organization or in a part of it. */
  groupRights: { id: string; group: string; scope: string; isPart: boolean }[];
  sites: Map<string, ModelSite>;
  previews: ModelPreview[];
  repos: Map<string, Repo>;
  /** The overlay of the repository with two audiences. */
  overlay: Overlay;
  /** The folder of Markdown in that repository: its page, and the sites that `stele.yaml` makes of it. */
  book: { text: string; sites: string[] };
  references: References;
  gated: Gated;
  /** The leaves of the public log that were seen last. */
  logSize: number;
  /** What people watch, and since when. */
  watches: { id: string; who: string; slug: string; begins: number }[];
  /** What was uploaded since the mail was sent last. */
  published: { slug: string; label: string; at: number }[];
  /** Answers to requests with an `Idempotency-Key`. */
  answers: { path: string; body: unknown; once: string; answer: Answer; at: number }[];
  admin: string;
  partner: string;
  /** Number of the step. */
  step: number;
}

/** One step as it was drawn: what is asked of the program, and what the model expects of the answer. */
export interface Plan {
  says: string;
  ask(): Promise<unknown>;
  expected: unknown;
  /** Resources whose standing is compared afterwards. */
  touches?: readonly string[];
  /** Whether it may be asked again after the process died while it worked. */
  isRepeatable?: boolean;
}

/** `plan` changes the model, and returns null where the verb does not apply. */
export interface Verb {
  weight: number;
  /** The operations of `/v1` that it asks for, but GET. */
  asks?: readonly string[];
  plan(life: Life, draw: Draw): Plan | null;
}

export type Verbs = Readonly<Record<string, Verb>>;

export const day = 24 * 60 * 60_000;

/** The standing of a resource as `/v1` tells it, and as the model has it. */
export async function standingOf({ world, admin }: Life, slug: string): Promise<unknown> {
  const { json } = await world.call('GET', `/v1/apis/${slug}`, { key: admin });
  const { json: list } = await world.call('GET', `/v1/apis/${slug}/versions?limit=100`, { key: admin });
  const items = (list['items'] ?? []) as {
    version: string;
    status: { state: string };
    changes?: { from: string; verdict: string };
  }[];
  return {
    visibility: json['visibility'],
    latest: json['latest'],
    versions: Object.fromEntries(items.map(({ version, status }) => [version, status.state])),
    changes: Object.fromEntries(
      items.map(({ version, changes }) => [version, changes ? `${changes.verdict} since ${changes.from}` : null]),
    ),
  };
}

export function expectedStanding(resource: Resource): unknown {
  const { versions, visibility } = resource;
  return {
    visibility,
    latest: latestOf(resource)?.label ?? null,
    versions: Object.fromEntries(versions.map(({ label, status }) => [label, status])),
    changes: Object.fromEntries(
      versions.map((version) => {
        const changes = changesOf(version);
        return [version.label, changes && `${changes.verdict} since ${changes.from}`];
      }),
    ),
  };
}

export function newResource({ defaults }: Life, slug: string, given: Partial<Resource> = {}): Resource {
  return {
    slug,
    defaults,
    visibility: 'private',
    wasPublic: given.visibility === 'public',
    versions: [],
    pinned: null,
    deletedAt: null,
    compatibility: null,
    hasRuleset: false,
    approval: false,
    waiting: null,
    wrote: [],
    decisions: [],
    from: null,
    ...given,
  };
}

/** Another document: a change that is safe, one that breaks, or one of texts, under this version or a higher one. */
export function evolve(doc: Doc, draw: Draw): Doc {
  const next = { ...doc };
  const change = draw.number(6);
  if (change < 2) next.operations = [...new Set([...doc.operations, draw.of(['a', 'b', 'c', 'd', 'e'])])].sort();
  else if (change === 2) next.operations = doc.operations.filter((_, at) => at !== draw.number(doc.operations.length));
  else if (change === 3) next.summaries = !doc.summaries;
  else if (change === 4) next.note = draw.number(1000);
  const [major = 0, minor = 0, patch = 0] = doc.version.split(/[.+-]/).map(Number);
  const bump = draw.number(8);
  if (bump < 3) next.version = `${major}.${minor}.${patch + 1}`;
  else if (bump === 3) next.version = `${major}.${minor + 1}.0`;
  else if (bump === 4) next.version = `${major + 1}.0.0`;
  else if (bump === 5) next.version = `${major}.${minor + 1}.0-beta.${draw.number(3) + 1}`;
  return next;
}

export function firstDoc(title: string, draw: Draw): Doc {
  return { title, version: draw.of(['1.0.0', '0.1.0']), operations: ['a', 'b'], summaries: draw.chance(0.7), note: 0 };
}

/** Whether every file of a repository is a document with a resource of its own. */
export const isPlain = ({ by }: Repo): boolean => by === 'configuration' || by === 'hand';

/** What a sync makes of a repository: each file that is not as it was is published. Returns the resources that it touches. */
export function syncModel(life: Life, repo: Repo): string[] {
  const touched: string[] = [];
  const { id: commit = '' } = repo.commits.at(-1) ?? {};
  const files = [...repo.files].sort(([a], [b]) => (a < b ? -1 : 1));
  // A file that moved unchanged takes its resource along.
  for (const [path, doc] of files) {
    if (repo.seen.has(path)) continue;
    const [from] = [...repo.seen].find(([old, { text }]) => !repo.files.has(old) && text === textOf(doc)) ?? [];
    if (from === undefined) continue;
    for (const kept of [repo.slugs, repo.seen] as Map<string, unknown>[]) {
      kept.set(path, kept.get(from));
      kept.delete(from);
    }
    // Under its new name, what was rejected is looked at again: what it is compared with may be yanked by now.
    if (repo.seen.get(path)?.outcome === 'rejected') repo.seen.delete(path);
  }
  for (const path of repo.seen.keys()) if (!repo.files.has(path)) repo.seen.delete(path);
  for (const [path, doc] of files) {
    const text = textOf(doc);
    const slug = repo.slugs.get(path) ?? doc.title.replace(' ', '-');
    repo.slugs.set(path, slug);
    const resource =
      life.resources.get(slug) ?? newResource(life, slug, { visibility: repo.by === 'owner' ? 'private' : 'public' });
    resource.from = { repository: repo.name, path };
    life.resources.set(slug, resource);
    touched.push(slug);
    const checkedBy = `${compatibilityOf(resource)} ${resource.hasRuleset ? life.ruleset.labels.length : 0}`;
    const seen = repo.seen.get(path);
    // What was rejected is looked at again when its gate is another one.
    if (seen?.text === text && (seen.outcome !== 'rejected' || seen.checkedBy === checkedBy)) continue;
    const { outcome } = publish(resource, {
      doc,
      commit,
      date: repo.commits.length - 1,
      isStrict: life.ruleset.isStrict,
    });
    repo.seen.set(path, { text, outcome, checkedBy });
  }
  return touched;
}

/** What a start or the timer makes of all repositories. Returns the resources that they touch. */
export function syncAll(life: Life): string[] {
  const { repos } = life;
  return [...repos.values()].flatMap((repo) =>
    repo.isFollowed && repo.commits.length > 0 ? syncModel(life, repo) : [],
  );
}

/** Sends a request of the administrator. A POST has an `Idempotency-Key`, and its answer is remembered. */
export async function send(
  life: Life,
  method: string,
  path: string,
  body?: unknown,
  key = life.admin,
): Promise<Answer> {
  const { world, step } = life;
  const once = method === 'POST' ? `step-${step}` : undefined;
  const sent: Sent = { key, ...(body !== undefined && { body }), ...(once !== undefined && { once }) };
  const answer = await world.call(method, path, sent);
  // What may pass is tried again: there may be room, or something, by then.
  if (once !== undefined && answer.status < 500 && ![403, 404, 410].includes(answer.status) && key === life.admin)
    life.answers.push({ path, body, once, answer, at: world.now() });
  return answer;
}

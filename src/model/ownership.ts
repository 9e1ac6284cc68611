/** The lifecycle of a resource, as in Backstage's `spec.lifecycle`. */
export const lifecycles = ['experimental', 'production', 'deprecated', 'retired'] as const;
export type Lifecycle = (typeof lifecycles)[number];

/** Where to read more. */
export interface Link {
  title: string;
  /** Of http, https or mailto (`linksOf`). */
  url: string;
}

/** What a resource states of itself for people and catalogues. Pages show it; it decides nothing. */
export interface Ownership {
  /** A team of the organization's, or another text. Null or absent: not stated. */
  owner?: string | null;
  /** Null or absent: not stated. */
  lifecycle?: Lifecycle | null;
  /** Lower-case words with hyphens. */
  topics?: string[];
  /** What it is a part of: a word as a topic is. Null or absent: not stated. */
  system?: string | null;
  links?: Link[];
  /** Of a schema: globs of files that follow it, for editors. */
  fileMatch?: string[];
}

const unstated: Required<Ownership> = {
  owner: null,
  lifecycle: null,
  topics: [],
  system: null,
  links: [],
  fileMatch: [],
};

/** What something states of a resource's ownership, and nothing else of it. */
export function ownershipOf(given: Ownership): Ownership {
  return Object.fromEntries(
    Object.keys(unstated).flatMap((name) => {
      const value = given[name as keyof Ownership];
      return value ? [[name, value]] : [];
    }),
  );
}

/** All of a resource's ownership, with null or an empty list for what is not stated. */
export function wholeOwnership(given: Ownership): Required<Ownership> {
  return Object.fromEntries(
    Object.entries(unstated).map(([name, none]) => [name, given[name as keyof Ownership] ?? none]),
  ) as unknown as Required<Ownership>;
}

/** The links of a resource that a page may show: no script, and no file. */
export function linksOf({ links = [] }: Pick<Ownership, 'links'>): Link[] {
  const safe = /^(?:https?:\/\/|mailto:)[^\p{C}\s"<>\\^`{|}]+$/u;
  return links.filter(({ url }) => url.length <= 500 && safe.test(url) && URL.canParse(url));
}

/** How to reach a team. */
export interface Team {
  title?: string;
  /** An address. */
  mail?: string;
  /** URLs. */
  chat?: string;
  onCall?: string;
}

/** The team that an owner names: `payments`, `@acme/payments` as in CODEOWNERS, or `group:payments` as in Backstage. */
export function teamOf(teams: Readonly<Record<string, Team>> = {}, owner: string | null | undefined): Team | null {
  const name = /^(?:@[\w.-]+\/|group:(?:[\w.-]+\/)?)?([\w.-]+)$/.exec(owner ?? '')?.[1]?.toLowerCase();
  return name !== undefined && Object.hasOwn(teams, name) ? teams[name]! : null;
}

import type { Site } from '../site.ts';

/** A page that says one thing: something is absent, was refused, or is done. */
export interface Message {
  title: string;
  /** A paragraph of plain text. */
  text: string;
  /** The status as people know it, `404`; left out where nothing went wrong. */
  status?: number;
  /** What somebody may do now; the first is the most likely. */
  actions?: { text: string; href: string }[];
  /** What to tell whoever runs the registry. */
  reference?: string;
  /** More about this kind of message. */
  about?: string;
}

export function messagePage(site: Site, message: Message): string {
  return site.page('message', {
    actions: [],
    reference: null,
    about: null,
    status: null,
    ...message,
    hidden: true,
  });
}

/** The page that signs people in and out. Knows whether somebody is signed in, and not who. */
export function accountPage(site: Site, { isSignedIn }: { isSignedIn: boolean }): string {
  const { links } = site;
  return site.page('account', {
    title: isSignedIn ? 'You are signed in' : 'Sign in',
    crumbs: [{ text: 'Account' }],
    hidden: true,
    isSignedIn,
    signIn: `${links.path('/login')}?returnTo=${encodeURIComponent(links.path('/account'))}`,
    signOut: links.path('/logout'),
  });
}

/** One kind of problem, as its page explains it. */
export interface ProblemKind {
  code: string;
  status: number;
  title: string;
  /** Plain text in which `…` is code. */
  meaning: string;
}

/** The list of every kind of problem. */
export function problemsPage(site: Site, kinds: readonly ProblemKind[]): string {
  return site.page('problems', {
    title: 'Problems',
    crumbs: [{ text: 'Problems' }],
    canonical: `${site.url}/problems`,
    kinds: kinds.map((kind) => ({
      ...kind,
      parts: codeParts(kind.meaning),
      href: site.links.path(`/problems/${kind.code}`),
    })),
  });
}

/** The page that a problem's type leads to. */
export function problemPage(site: Site, kind: ProblemKind): string {
  return site.page('problem', {
    ...kind,
    crumbs: [{ text: 'Problems', href: site.links.path('/problems') }, { text: kind.code }],
    canonical: `${site.url}/problems/${kind.code}`,
    parts: codeParts(kind.meaning),
  });
}

function codeParts(text: string): { text: string; isCode: boolean }[] {
  return text.split('`').map((part, index) => ({ text: part, isCode: index % 2 === 1 }));
}

import { pageAt } from '../model/page-path.ts';

type Redirects = Readonly<Record<string, string>>;

/** Where each page that has a redirect leads in the end (null: into a loop), and the anchor that its redirect names. */
interface Goals {
  goals: ReadonlyMap<string, string | null>;
  anchors: ReadonlyMap<string, string>;
}

const remembered = new WeakMap<Redirects, Goals>();

/** Where redirects lead from a page in the end; the page itself if none is for it, null for a loop. */
export function followRedirects(redirects: Redirects, page: string): string | null {
  const goal = goalsOf(redirects).goals.get(page);
  return goal === undefined ? page : goal;
}

/** The anchor that the redirect from a page names, or undefined. */
export function redirectAnchor(redirects: Redirects, page: string): string | undefined {
  return goalsOf(redirects).anchors.get(page);
}

/** The page that a path of a redirect means. */
export function pageOf(route: string): string {
  return pageAt(route.split('#', 1)[0]!.replace(/\.md$/, ''));
}

/** Worked out once: a site may have thousands of redirects, and every link that is broken asks for them. */
function goalsOf(redirects: Redirects): Goals {
  const before = remembered.get(redirects);
  if (before !== undefined) return before;
  const next = new Map(Object.entries(redirects).map(([from, to]) => [pageOf(from), pageOf(to)]));
  const anchors = new Map(
    Object.entries(redirects).flatMap(([from, to]) => {
      const anchor = to.split('#')[1];
      return anchor === undefined ? [] : [[pageOf(from), anchor] as const];
    }),
  );
  const goals = new Map<string, string | null>();
  for (const start of next.keys()) {
    const way = new Set<string>();
    let at: string | undefined = start;
    while (at !== undefined && next.has(at) && !goals.has(at) && !way.has(at)) {
      way.add(at);
      at = next.get(at);
    }
    const end = at === undefined || way.has(at) ? null : goals.has(at) ? goals.get(at)! : at;
    for (const page of way) goals.set(page, end);
  }
  const compiled = { goals, anchors };
  remembered.set(redirects, compiled);
  return compiled;
}

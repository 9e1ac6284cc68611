/** What is measured, with its peer and its goal. `npm run bench` runs the scripts, and docs/performance.md shows the table. */
export interface Bar {
  what: string;
  /** What the value is a ratio to, or its unit. */
  of: string;
  /** The value that is reached: at least this, or at most. */
  goal: { least: number } | { most: number };
  /** The file in this folder that measures it. */
  script: keyof typeof scripts;
  /** Whether it needs the documents of the corpus. */
  corpus?: true;
}

/** The scripts, in the order in which they run, and their arguments: a whole run, and a quick one. */
export const scripts = {
  read: { full: '--seconds 1', quick: '--rounds 1 --seconds 1' },
  head: { full: '', quick: '--rounds 3 --requests 5000' },
  registries: { full: '--seconds 1', quick: '--rounds 1 --seconds 1' },
  cold: { full: '', quick: '--documents 20' },
  lists: { full: '', quick: '--rounds 1 --seconds 1 --apis 60' },
  stalls: { full: '', quick: '--seconds 2 --changes 20000' },
  twin: { full: '', quick: '--rounds 2 --seconds 1' },
  clients: { full: '--rounds 5', quick: '--rounds 3 --each 5' },
  push: { full: '', quick: '--pushes 5 --repositories 40' },
  poll: { full: '', quick: '--rounds 3 --files 2000' },
  lint: { full: '--only redocly --document github', quick: '--only redocly --document github --rounds 1' },
  start: { full: '', quick: '--rounds 3 --resources 2000' },
  build: { full: '', quick: '--documents 60' },
  curves: { full: '', quick: '--quick' },
} as const satisfies Record<string, { full: string; quick: string }>;

const least = (value: number) => ({ least: value });
const most = (value: number) => ({ most: value });

export const bars = {
  noise: { what: 'GET 5 KB of nginx', of: '× an equal nginx beside it', goal: least(0.95), script: 'read' },
  '5kb-plain': { what: 'GET 5 KB', of: '× plain Node', goal: least(1.4), script: 'read' },
  '5kb-nginx': { what: 'GET 5 KB', of: '× nginx', goal: least(0.7), script: 'read' },
  '100kb-br-plain': { what: 'GET 100 KB, brotli', of: '× plain Node', goal: least(1.4), script: 'read' },
  '100kb-br-nginx': { what: 'GET 100 KB, brotli', of: '× nginx', goal: least(0.7), script: 'read' },
  '100kb-nginx': { what: 'GET 100 KB', of: '× nginx', goal: least(1), script: 'read' },
  '100kb-copying': { what: 'GET 100 KB', of: '× nginx without sendfile', goal: least(1), script: 'read' },
  '1mb-nginx': { what: 'GET 1 MB', of: '× nginx', goal: least(1), script: 'read' },
  '1mb-copying': { what: 'GET 1 MB', of: '× nginx without sendfile', goal: least(1), script: 'read' },
  '304-nginx': { what: '304 of 5 KB', of: '× nginx', goal: least(0.6), script: 'read' },
  '304-large': { what: '304 of 10 MB', of: '× 304 of 5 KB', goal: least(0.95), script: 'read' },
  latest: { what: 'GET latest', of: '× GET 5 KB', goal: least(0.95), script: 'read' },
  yaml: { what: 'GET YAML', of: '× GET 5 KB', goal: least(0.95), script: 'read' },
  head: { what: 'HEAD', of: '× GET 5 KB, by processor time', goal: least(0.95), script: 'head' },
  private: { what: 'GET private, with a key', of: '× GET 5 KB', goal: least(0.85), script: 'read' },
  'one-connection': { what: 'one connection, p50', of: '× nginx', goal: most(1.3), script: 'read' },
  verdaccio: { what: 'GET 5 KB', of: '× Verdaccio', goal: least(12), script: 'registries' },
  'docker-registry': { what: 'GET 5 KB', of: '× Docker’s registry', goal: least(80), script: 'registries' },
  workers: { what: 'two workers', of: '× one worker', goal: least(1.6), script: 'registries' },
  cold: { what: 'first read of 100 KB, verified', of: '× nginx', goal: least(0.5), script: 'cold' },
  page: { what: 'page of a small API', of: 'a second', goal: least(10_000), script: 'lists' },
  list: { what: 'list of 100 of 10,000 resources', of: 'a second', goal: least(2000), script: 'lists' },
  'list-end': { what: 'the last 100 of them', of: 'a second', goal: least(2000), script: 'lists' },
  'latest-busy': {
    what: 'GET latest, beside up to 10 publishes a second in its organization',
    of: '× quiet',
    goal: least(0.8),
    script: 'lists',
  },
  'page-busy': {
    what: 'page, beside up to 10 publishes a second in its organization',
    of: '× quiet',
    goal: least(0.7),
    script: 'lists',
  },
  'list-busy': {
    what: 'list of 10,000, beside up to 10 publishes a second',
    of: '× quiet',
    goal: least(0.7),
    script: 'lists',
  },
  search: { what: 'search over 300 APIs', of: 'a second', goal: least(500), script: 'lists', corpus: true },
  'search-new': { what: 'search, each query another', of: 'a second', goal: least(500), script: 'lists', corpus: true },
  'search-first': { what: 'first search after a start', of: 'ms', goal: most(300), script: 'lists', corpus: true },
  'p99-publish': {
    what: 'p99 of reads: 13 MB published',
    of: '× quiet',
    goal: most(2),
    script: 'stalls',
    corpus: true,
  },
  'stall-publish': { what: 'longest delay: 13 MB published', of: 'ms', goal: most(30), script: 'stalls', corpus: true },
  'p99-site': { what: 'p99 of reads: a site built', of: '× quiet', goal: most(2), script: 'stalls' },
  'stall-site': { what: 'longest delay: a site built', of: 'ms', goal: most(30), script: 'stalls' },
  'p99-list': { what: 'p99 of reads: lists of 10,000', of: '× quiet', goal: most(2), script: 'stalls' },
  'stall-list': { what: 'longest delay: lists of 10,000', of: 'ms', goal: most(30), script: 'stalls' },
  'p99-audit': { what: 'p99 of reads: audit of 100,000', of: '× quiet', goal: most(2), script: 'stalls' },
  'stall-audit': { what: 'longest delay: audit of 100,000', of: 'ms', goal: most(30), script: 'stalls' },
  again: { what: '1 MB again, beside its upload', of: 'ms', goal: most(20), script: 'stalls' },
  twin: { what: 'static build in nginx, our rules', of: '× nginx without rules', goal: least(0.95), script: 'twin' },
  'publish-cpu': { what: 'publish of 5 KB, processor time', of: 'ms', goal: most(8), script: 'clients' },
  'publish-clients': { what: '16 clients publish', of: '× bare writes', goal: least(0.5), script: 'clients' },
  'push-20kb': { what: 'push of 20 KB to visible', of: 'ms', goal: most(150), script: 'push' },
  'push-1mb': { what: 'push of 1 MB to visible', of: 'ms', goal: most(300), script: 'push' },
  pushes: { what: '200 repositories pushed at once', of: 'syncs a second', goal: least(10), script: 'push' },
  'lint-warm': {
    what: '13 MB, warm, recommended rules',
    of: '× redocly lint',
    goal: most(0.6),
    script: 'lint',
    corpus: true,
  },
  'lint-small': { what: 'stele lint small.yaml', of: '× redocly lint', goal: most(1.2), script: 'start' },
  help: { what: 'stele --help', of: 'ms', goal: most(150), script: 'start' },
  poll: { what: 'poll that finds nothing', of: '× git ls-remote', goal: most(0.3), script: 'poll' },
  'first-file': { what: 'first file of a large repository', of: '× blobless clone', goal: most(1.2), script: 'poll' },
  'one-file': { what: 'one changed file', of: '× git fetch', goal: most(2), script: 'poll' },
  'start-ready': { what: 'start with 10,000 × 20, ready', of: 's', goal: most(2), script: 'start' },
  'start-first': { what: 'first read after a start with 10,000 × 20', of: 'ms', goal: most(20), script: 'start' },
  'start-search': { what: 'start with 10,000 × 20, search complete', of: 's', goal: most(5), script: 'start' },
  'start-memory': { what: 'start with 10,000 × 20, memory', of: 'MB', goal: most(600), script: 'start' },
  build: {
    what: 'first build of 1,000 documents',
    of: 'pages a second',
    goal: least(100),
    script: 'build',
    corpus: true,
  },
  'build-more': { what: 'one more document', of: '× the first build', goal: most(0.1), script: 'build', corpus: true },
} as const satisfies Record<string, Bar>;

export type BarName = keyof typeof bars;

export function needsCorpus(name: BarName): boolean {
  return 'corpus' in bars[name];
}

/** Whether a value reaches its goal. */
export function isMet(name: BarName, value: number): boolean {
  const { goal } = bars[name];
  return 'least' in goal ? value >= goal.least : value <= goal.most;
}

export function showGoal(name: BarName): string {
  const { goal } = bars[name];
  return 'least' in goal ? `≥ ${goal.least.toLocaleString('en')}` : `≤ ${goal.most.toLocaleString('en')}`;
}

/** Three digits are more than a value is worth. */
export function showValue(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** What endpoints can be told of (DESIGN §9). Closed: one CloudEvents `type` each, `dev.stele.<type>`. */
export const eventTypes = [
  'version.published',
  'version.status-changed',
  'latest.moved',
  'visibility.changed',
  'sync.failed',
  'sync.recovered',
  'source.diverged',
  'site.published',
] as const;
export type EventType = (typeof eventTypes)[number];

import { styleText } from 'node:util';
import { pino } from 'pino';
import type { Config } from './config.ts';
import { withoutCredential } from './model/connection.ts';
import { countState, shownState } from './model/states.ts';
import { visible } from './model/escape.ts';
import type { Log } from './registry/registry.ts';

type Level = Parameters<Log>[0];
type Fields = Record<string, unknown>;

const ranks: Record<Level | 'silent', number> = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 };

const colors = { debug: ['dim'], info: [], warn: ['yellow'], error: ['red'] } as const;

/** Returns a logger to stderr: lines for people (by default on a terminal, with its colours), or JSON. */
export function createLog({ level: least, format = process.stderr.isTTY ? 'lines' : 'json' }: Config['log']): Log {
  if (format === 'lines') {
    return (level, event, fields = {}) => {
      if (ranks[level] < ranks[least]) return;
      const line = formatEvent(level, event, fields);
      process.stderr.write(`${styleText(colors[level], line, { stream: process.stderr })}\n`);
    };
  }
  const logger = pino({ level: least, base: null }, pino.destination({ dest: 2, sync: true }));
  return (level, event, fields = {}) => logger[level](withoutCredentials(fields), event);
}

/** Formats an event for people, with control characters escaped. */
export function formatEvent(level: Level, event: string, fields: Fields = {}): string {
  const format = Object.hasOwn(formats, event) ? formats[event]! : formatAny(event);
  const mark = level === 'error' || (level === 'warn' && !(event in formats)) ? `${level}: ` : '';
  return visible(`${mark}${format(withoutCredentials(fields))}`, { lines: level === 'error' });
}

/** The fields with credentials left out of their URLs, which old stores may have. */
function withoutCredentials(fields: Fields): Fields {
  const clean = (value: unknown) => (typeof value === 'string' ? withoutCredential(value) : value);
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, clean(value)]));
}

const formats: Record<string, (fields: Fields) => string> = {
  document({ outcome, resource, label, path, detail }) {
    const version = `${text(resource ?? '')}${label ? `@${text(label)}` : ''}`;
    if (outcome === 'published' || outcome === 'unchanged')
      return `${text(outcome)} ${version && `${version} `}${text(path)}${detail ? `: ${text(detail)}` : ''}`;
    if (outcome === 'waiting') return `${shownState('waiting').text} ${version} ${text(path)}: ${text(detail)}`;
    // The first line of a report starts with its location; other reasons need the path.
    const reason = text(detail ?? 'see its report');
    return `rejected ${reason.startsWith(`${text(path)}:`) ? reason : `${text(path)}: ${reason}`}`;
  },
  'release tag': ({ detail }) => text(detail),
  sync({ repository, state, to, published, documents, documentsRefused, documentsWaiting, detail }) {
    if (detail) return `${state === 'failed' ? 'not synced: ' : ''}${withName(text(repository), text(detail))}`;
    const counts =
      documents === 0
        ? 'no OpenAPI document, JSON Schema or ruleset found'
        : [
            `${text(published)} published`,
            ...(documentsWaiting ? [countState(Number(documentsWaiting), 'waiting')] : []),
            `${text(documentsRefused)} rejected`,
            `${text(documents)} followed`,
          ].join(', ');
    return `${text(repository)} at ${text(to ?? 'no commit').slice(0, 12)}: ${counts}`;
  },
  progress: ({ repository, done, total }) => `${text(repository)}: ${text(done)} of ${text(total)} documents`,
  sandbox({ kind, reason }) {
    return kind === 'bwrap'
      ? "Documents are parsed in bwrap and under Node's permission model."
      : `Warning: documents are parsed only under Node's permission model. ${text(reason)}`;
  },
};

function withName(repository: string, detail: string): string {
  return detail.includes(repository) ? detail : `${repository}: ${detail}`;
}

function formatAny(event: string): (fields: Fields) => string {
  return (fields) => {
    const members = Object.entries(fields).flatMap(([key, value]) =>
      value === null || value === undefined ? [] : [`${key}=${text(value)}`],
    );
    return [event, ...members].join(' ');
  };
}

function text(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

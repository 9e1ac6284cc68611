import { isSlug } from '../../model/address.ts';
import { blockOns } from '../../model/problem.ts';
import type { NavigationItem, SiteVersion } from '../../sites/model/documentation-site.ts';
import { themeFiles, type Theme } from '../../sites/model/theme.ts';
import type { Settings, SettingsSite } from '../repository-reader.ts';
import { isRecord, isText, readAll } from './checked-values.ts';

/** The settings with the documentation sites in them. Null if these are not what a sandbox may send. */
export function withSites(settings: Settings | null, value: unknown): Settings | null {
  const given = isRecord(value) ? value['sites'] : undefined;
  if (settings === null || given === undefined) return settings;
  const sites = readAll(given, readSite);
  return sites && { ...settings, sites };
}

function readSite(value: unknown): SettingsSite | null {
  if (!isRecord(value)) return null;
  const { path, slug, title, description } = value;
  if (!isText(path) || !isText(slug) || !isSlug(slug) || !isText(title)) return null;
  const visibility = (['private', 'public'] as const).find((known) => known === value['visibility']);
  const blockOn = blockOns.find((known) => known === value['blockOn']);
  const navigation = value['navigation'] === undefined ? undefined : readAll(value['navigation'], readItem);
  const versions = value['versions'] === undefined ? undefined : readAll(value['versions'], readVersion);
  if (navigation === null || versions === null) return null;
  const redirects = isRecord(value['redirects']) ? Object.entries(value['redirects']) : [];
  return {
    path,
    slug,
    title,
    ...(isText(description) && { description }),
    ...(visibility && { visibility }),
    ...(blockOn && { blockOn }),
    ...(isRecord(value['theme']) && { theme: readTheme(value['theme']) }),
    ...(navigation && { navigation }),
    ...(versions && { versions }),
    redirects: Object.fromEntries(redirects.filter((entry): entry is [string, string] => isText(entry[1]))),
  };
}

function readTheme(value: Record<string, unknown>): Theme {
  const names = ['accent', 'accentDark', ...themeFiles] as const;
  return Object.fromEntries(names.flatMap((name) => (isText(value[name]) ? [[name, value[name]]] : [])));
}

/** What a sandbox sends is a tree, so this ends. */
function readItem(value: unknown): NavigationItem | null {
  if (!isRecord(value)) return null;
  const items = value['items'] === undefined ? undefined : readAll(value['items'], readItem);
  if (items === null) return null;
  const { title, page, href } = value;
  return {
    ...(isText(title) && { title }),
    ...(isText(page) && { page }),
    ...(isText(href) && { href }),
    ...(items && { items }),
  };
}

function readVersion(value: unknown): SiteVersion | null {
  if (!isRecord(value) || !isText(value['title'])) return null;
  const { title, folder, site } = value;
  return { title, ...(isText(folder) && { folder }), ...(isText(site) && { site }) };
}

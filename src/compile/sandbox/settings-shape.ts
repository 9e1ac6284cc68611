import { isSlug, resourceTypes } from '../../model/address.ts';
import { approvalGates, compatibilities, impactGates } from '../../model/gate.ts';
import { blockOns } from '../../model/problem.ts';
import { isLinkUrl, lifecycles, type Link } from '../../model/ownership.ts';
import type { NavigationItem, SiteVersion } from '../../sites/model/documentation-site.ts';
import type { Theme } from '../../sites/model/theme.ts';
import type {
  Settings,
  SettingsDefaults,
  SettingsResource,
  SettingsSite,
  VersionSource,
} from '../repository-reader.ts';
import { exemption, position } from './report-shape.ts';
import { either, flag, list, map, oneOf, optional, record, text, textOrNull, where, type Read } from './shapes.ts';

const slug = where(text, isSlug);
const visibility = optional(oneOf(['private', 'public'] as const));
const blockOn = optional(oneOf(blockOns));

const versionSource = either<VersionSource>(
  record({ from: oneOf(['document'] as const) }),
  record({ from: oneOf(['next'] as const) }),
  record({ from: oneOf(['file'] as const), path: text, pointer: textOrNull }),
);

const defaults: { [K in keyof SettingsDefaults]-?: Read<SettingsDefaults[K]> } = {
  visibility,
  owner: optional(text),
  lifecycle: optional(oneOf(lifecycles)),
  topics: optional(list(text)),
  system: optional(text),
  links: optional(list(record<Link>({ title: text, url: where(text, isLinkUrl) }))),
  fileMatch: optional(list(text)),
  ruleset: optional(text),
  validation: optional(oneOf(['strict', 'lenient'] as const)),
  onConflict: optional(oneOf(['revise', 'reject'] as const)),
  blockOn,
  ratchet: optional(flag),
  compatibility: optional(oneOf(compatibilities)),
  impact: optional(oneOf(impactGates)),
  approval: optional(oneOf(approvalGates)),
  tags: optional(text),
  version: optional(versionSource),
};

const resource = record<SettingsResource>({
  path: text,
  at: position,
  type: optional(oneOf(resourceTypes)),
  slug: optional(text),
  name: optional(text),
  description: optional(text),
  overlays: optional(list(text)),
  audience: optional(text),
  exemptions: optional(list(exemption)),
  ...defaults,
});

/** A message from a sandbox is a tree, so the recursion ends. */
const navigationItem: Read<NavigationItem> = record<NavigationItem>({
  title: optional(text),
  page: optional(text),
  href: optional(text),
  items: optional((value) => list(navigationItem)(value)),
});

const site = record<SettingsSite>({
  path: text,
  slug,
  title: text,
  description: optional(text),
  visibility,
  blockOn,
  theme: optional(
    record<Theme>({
      accent: optional(text),
      accentDark: optional(text),
      logo: optional(text),
      logoDark: optional(text),
      icon: optional(text),
      font: optional(text),
      codeFont: optional(text),
    }),
  ),
  navigation: optional(list(navigationItem)),
  versions: optional(list(record<SiteVersion>({ title: text, folder: optional(text), site: optional(text) }))),
  redirects: optional(map(text)),
});

export const settings = record<Settings>({
  resources: list(resource),
  defaults: record<Settings['defaults']>({ ...defaults, at: position }),
  discover: flag,
  ignore: list(text),
  // Without them, a sync would take the sites for removed.
  sites: (value) => (value === undefined ? undefined : list(site)(value)),
});

import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { Config } from '../config.ts';
import type { OrganizationConfig } from '../config/organization-config.ts';
import { RegistryError } from '../model/errors.ts';
import { partsOf, contrastOf, leastContrast } from '../sites/model/theme.ts';

/** What an organization's pages look like: names of assets, or null for Stele's own. */
export interface Brand {
  style: string | null;
  logo: string | null;
}

/** The background colors of pages and of raised boxes, as in `style.css`. */
const grounds = { light: ['#fbfaf7', '#f3f1eb'], dark: ['#151613', '#272a25'] } as const;
const inks = { light: '#ffffff', dark: '#10231f' } as const;

/** How much of the accent is in the background of a tag, in percent. */
const wash = 11;

/** The largest logo in bytes. It is loaded with every page of the organization. */
const largestLogo = 100_000;

/** The branding of the configured organizations, and its assets. */
export function readBranding({ organizations }: Pick<Config, 'organizations'>): {
  brands: ReadonlyMap<string, Brand>;
  assets: ReadonlyMap<string, Uint8Array>;
} {
  const brands = new Map<string, Brand>();
  const assets = new Map<string, Uint8Array>();
  for (const [org, { accent, logo }] of Object.entries(organizations)) {
    const style = accent === undefined ? null : `brand-${org}.css`;
    const image = logo === undefined ? null : `logo-${org}${extname(logo).toLowerCase()}`;
    if (style !== null) assets.set(style, Buffer.from(styleOf(org, accent!)));
    if (image !== null) assets.set(image, readLogo(org, logo!));
    if (style !== null || image !== null) brands.set(org, { style, logo: image });
  }
  return { brands, assets };
}

function styleOf(org: string, accent: NonNullable<OrganizationConfig['accent']>): string {
  for (const scheme of ['light', 'dark'] as const) {
    for (const ground of [...grounds[scheme], washOf(accent[scheme], scheme)])
      assertReadable(org, scheme, accent[scheme], ground);
  }
  const both = (colorIn: (color: string, scheme: 'light' | 'dark') => string) =>
    `light-dark(${colorIn(accent.light, 'light')}, ${colorIn(accent.dark, 'dark')})`;
  const colors = `--accent: ${both((color) => color)}; --accent-ink: ${both(inkOn)}; --accent-wash: ${both(washOf)};`;
  return `:root { ${colors} }\n`;
}

function assertReadable(org: string, scheme: string, color: string, ground: string): void {
  const contrast = contrastOf(color, ground);
  if (contrast >= leastContrast) return;
  const than = scheme === 'light' ? 'darker' : 'lighter';
  throw new RegistryError(
    'malformed',
    `organizations.${org}.accent.${scheme}: ${color} has a contrast of ${contrast.toFixed(1)} with the ground ${ground}; text needs ${leastContrast}. Choose a ${than} color.`,
  );
}

/** Text on a button in the accent. */
function inkOn(color: string, scheme: 'light' | 'dark'): string {
  return contrastOf(inks[scheme], color) >= leastContrast ? inks[scheme] : scheme === 'light' ? '#000000' : '#ffffff';
}

function washOf(color: string, scheme: 'light' | 'dark'): string {
  const [own, ground] = [partsOf(color), partsOf(grounds[scheme][0])];
  const mixed = own.map((value, index) => Math.round((value * wash + ground[index]! * (100 - wash)) / 100));
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

function readLogo(org: string, path: string): Uint8Array {
  const fault = (why: string) => new RegistryError('malformed', `organizations.${org}.logo: ${path} ${why}`);
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(path);
  } catch {
    throw fault('cannot be read.');
  }
  if (bytes.byteLength > largestLogo) throw fault(`has ${bytes.byteLength} bytes; the limit is ${largestLogo}.`);
  return bytes;
}

import type { DeploymentContents } from '../model/documentation-site.ts';
import { inkOn, isColour, luminanceOf, mixed } from '../model/theme.ts';

/**
 * The stylesheet of a site: colours and fonts, and nothing else. Whatever is not exactly a colour or
 * a file of the site is left out, whoever stored it.
 */
export function themeCss({ settings, files }: Pick<DeploymentContents, 'settings' | 'files'>): string {
  const { theme } = settings;
  const colour = (text: string | undefined) => (text !== undefined && isColour(text) ? text : undefined);
  const accent = colour(theme.accent);
  const accentDark = colour(theme.accentDark) ?? (accent && lighten(accent));
  const colours = [accent ?? usual.accent, accentDark ?? usual.accentDark];
  const both = (of: (colour: string) => string) => `light-dark(${colours.map(of).join(',')})`;
  const shown = both((value) => value);
  // The paths of files need no quoting (`page-path.ts`).
  const face = (name: string, path: string | undefined, variable: string): string =>
    path !== undefined && Object.hasOwn(files, path)
      ? `@font-face{font-family:"${name}";src:url("${path}");font-display:swap}:root{${variable}:"${name}",system-ui,sans-serif}`
      : '';
  return [
    accent === undefined && accentDark === undefined
      ? ''
      : `:root{--accent:${shown};--accent-ink:${both(inkOn)};--accent-wash:color-mix(in srgb,${shown} 12%,var(--ground))}`,
    face('site', theme.font, '--sans'),
    face('site-code', theme.codeFont, '--mono'),
  ]
    .filter((rule) => rule !== '')
    .join('\n');
}

/** The accents of style.css. */
const usual = { accent: '#0a6657', accentDark: '#62cdb5' };

/** Luminance from which a colour is read on a dark page, also on its wash: 5.5 to 1 on the ground of style.css. */
const readable = 0.27;

/** A colour for dark pages: with as much white in it as makes it readable there. */
function lighten(colour: string): string {
  for (let white = 0; white < 1; white += 0.05) {
    const lighter = mixed(colour, '#ffffff', white);
    if (luminanceOf(lighter) >= readable) return lighter;
  }
  return '#ffffff';
}

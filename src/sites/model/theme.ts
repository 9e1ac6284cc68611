import { isFilePath } from './page-path.ts';

/**
 * How a site looks besides Stele's own styles. Colours are `#rgb` or `#rrggbb`; images and fonts are
 * files of the site. Nothing else gets into its stylesheet.
 */
export interface Theme {
  /** Of links and marks, on light ground. */
  accent?: string;
  /** The same on dark ground. Default: `accent`, lighter where that is hard to read. */
  accentDark?: string;
  /** An image for the header. */
  logo?: string;
  /** The same on dark ground. Default: `logo`. */
  logoDark?: string;
  icon?: string;
  /** A font for text, and one for code. */
  font?: string;
  codeFont?: string;
}

/** Members of a theme that are paths of files in the site. */
export const themeFiles = ['logo', 'logoDark', 'icon', 'font', 'codeFont'] as const;

const themeColours = ['accent', 'accentDark'] as const;

/** Whether the text is a colour that a theme may have. */
export function isColour(text: string): boolean {
  return /^#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text);
}

/** The luminance of a colour (WCAG 2): 0 is black, 1 is white. */
export function luminanceOf(colour: string): number {
  const [red, green, blue] = partsOf(colour).map((part) => {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Red, green and blue of a colour, from 0 to 255. */
function partsOf(colour: string): number[] {
  const digits = colour.length === 4 ? colour.slice(1).replaceAll(/./g, '$&$&') : colour.slice(1);
  return [0, 2, 4].map((at) => parseInt(digits.slice(at, at + 2), 16));
}

/** A colour with so much of another one in it: from 0 to 1. */
export function mixed(colour: string, other: string, share: number): string {
  const others = partsOf(other);
  const parts = partsOf(colour).map((part, at) => Math.round(part * (1 - share) + others[at]! * share));
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

/** Black or white, whichever is easier to read on a colour. */
export function inkOn(colour: string): string {
  return luminanceOf(colour) > 0.179 ? '#000000' : '#ffffff';
}

/** The grounds of light and of dark pages, as in `style.css`. */
const grounds = { accent: '#fbfaf7', accentDark: '#151613' } as const;

/** The contrast ratio of two colours (WCAG 2.2). */
export function contrastOf(one: string, other: string): number {
  const [lighter, darker] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => b - a);
  return (lighter! + 0.05) / (darker! + 0.05);
}

/** The contrast that a text needs (WCAG 2.2, 1.4.3). */
export const leastContrast = 4.5;

/** The colours of a theme that are hard to read as links, each with its contrast with the page. */
export function faintIn(theme: Theme): { name: (typeof themeColours)[number]; contrast: string }[] {
  return themeColours.flatMap((name) => {
    const colour = theme[name];
    if (colour === undefined || !isColour(colour)) return [];
    const contrast = contrastOf(colour, grounds[name]);
    return contrast < leastContrast ? [{ name, contrast: contrast.toFixed(1) }] : [];
  });
}

/** The invalid colours of a theme, each with what is wrong. */
export function faultsIn(theme: Theme): { name: string; fault: string }[] {
  return themeColours.flatMap((name) =>
    theme[name] === undefined || isColour(theme[name])
      ? []
      : [{ name, fault: `must be a colour such as #0a7d55: ${JSON.stringify(theme[name].slice(0, 50))} is not.` }],
  );
}

/** The extensions that a member may name. */
const extensions: Readonly<Record<(typeof themeFiles)[number], RegExp>> = {
  logo: /\.(?:png|jpe?g|gif|webp|avif|svg)$/i,
  logoDark: /\.(?:png|jpe?g|gif|webp|avif|svg)$/i,
  icon: /\.(?:png|ico|svg)$/i,
  font: /\.(?:woff2?|ttf|otf)$/i,
  codeFont: /\.(?:woff2?|ttf|otf)$/i,
};

/** Whether a file can be this part of a theme, by its name. */
export function fitsTheme(name: (typeof themeFiles)[number], path: string): boolean {
  return isFilePath(path) && extensions[name].test(path);
}

/** The largest file of a theme, in bytes: every page loads it. */
export const themeFileBytes = 1024 * 1024;

import { coordinateOf, nameOf } from '../../model/resource.ts';
import { renderedMarkdown } from '../../registry/derived.ts';
import { readConfig, type GrantedVersion } from '../../registry/read.ts';
import type { ResourcePage } from './resource-page.ts';
import type { Site } from '../site.ts';

/** The page of a version as Markdown, for programs and language models. */
export async function resourceMarkdown(site: Site, granted: GrantedVersion): Promise<ResourcePage> {
  const { registry, links } = site;
  const { resource, version } = granted;
  const coordinate = coordinateOf(resource);
  const [config, rendered] = await Promise.all([readConfig(registry, granted), renderedMarkdown(registry, granted)]);
  const to = (options: Parameters<typeof links.to>[1]) => links.whole(links.to(coordinate, options));
  const { status, label } = version;
  const lines = [
    `# ${plain(resource.name)} ${label}`,
    '',
    `- Coordinate: \`${nameOf(resource)}@${label}\``,
    `- Specification: ${plain(config.kind)} ${plain(config.specification)}`,
    `- Published: ${version.publishedAt}`,
    `- JSON: <${to({ label, format: 'json' })}>`,
    `- YAML: <${to({ label, format: 'yaml' })}>`,
    `- Latest: <${to({})}>`,
    ...(status.state === 'active' ? [] : [`- Status: ${status.state}. ${plain(status.reason)}`]),
    '',
  ];
  const shortened = 'The document is longer than this page. Get all of it at the URLs above.';
  const rest =
    rendered === null ? 'This document cannot be shown as Markdown. Get it at the URLs above.\n' : rendered.markdown;
  const text = `${lines.join('\n')}\n${rest.trimEnd()}\n${rendered?.truncated ? `\n${shortened}\n` : ''}`;
  return { text, isWhole: rendered !== null };
}

/** Escapes user text for one line of Markdown. */
function plain(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_{}[\]<>#|~!&]/g, (character) => `\\${character}`);
}

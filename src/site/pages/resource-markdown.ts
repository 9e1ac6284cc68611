import { coordinateOf, nameOf } from '../../model/resource.ts';
import { renderedOf } from '../../registry/derived.ts';
import { readConfig, type GrantedVersion } from '../../registry/read.ts';
import type { Made } from './resource-page.ts';
import type { Site } from '../site.ts';

/** The page of a version as Markdown, for readers of plain text: programs, and language models among them. */
export async function resourceMarkdown(site: Site, granted: GrantedVersion): Promise<Made> {
  const { registry, links } = site;
  const { resource, version } = granted;
  const coordinate = coordinateOf(resource);
  const [config, rendered] = await Promise.all([readConfig(registry, granted), renderedOf(registry, granted)]);
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
  const shortened = 'This is not all of the document; the whole of it is at the address above.';
  const rest = rendered === null ? 'This document has no readable form here.\n' : rendered.markdown;
  const text = `${lines.join('\n')}\n${rest.trimEnd()}\n${rendered?.truncated ? `\n${shortened}\n` : ''}`;
  return { text, isWhole: rendered !== null };
}

/** Text of others on one line, in which nothing is Markdown. */
function plain(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_{}[\]<>#|~!&]/g, (character) => `\\${character}`);
}

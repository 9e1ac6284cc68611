import { aboutOf, coordinateOf, nameOf, type Resource } from '../model/resource.ts';
import { docMarkdownPath } from './docs/docs.ts';
import type { Site } from './site.ts';

/**
 * `llms.txt` (llmstxt.org): the contents of the registry for language models. Links the Markdown
 * page of each resource, in a section per organization and type.
 */
export function llmsText(
  { url, links, docs }: Pick<Site, 'url' | 'links' | 'docs'>,
  resources: readonly Resource[],
): string {
  const sections = new Map<string, string[]>();
  for (const resource of resources) {
    if (resource.latest === null) continue;
    const heading = `@${resource.org}/${resource.type}`;
    const lines = sections.get(heading) ?? [];
    const page = links.whole(links.to(coordinateOf(resource), { view: 'markdown' }));
    const about = [resource.latest, oneLine(aboutOf(resource))].filter(Boolean).join(', ');
    lines.push(`- [${oneLine(resource.name)}](${page}): ${nameOf(resource)}${about === '' ? '' : `, ${about}`}`);
    sections.set(heading, lines);
  }
  const about = docs.map(
    ({ name, title, description }) => `- [${title}](${links.whole(links.path(docMarkdownPath(name)))}): ${description}`,
  );
  if (about.length > 0) sections.set('Documentation of Stele', about);
  const { host } = new URL(url);
  const text = [
    `# API contracts at ${host}`,
    '',
    '> OpenAPI documents, JSON Schemas and lint rulesets. Every version has its own URL, and its bytes never change.',
    '',
    `Each link is a page in Markdown. The document itself is at the same URL without \`/index.md\`: add \`.json\` or \`.yaml\` for a format, and \`@1.4.0\` before that for a version. ${links.whole(links.path('/search'))}?q= finds operations, schemas and properties, as JSON.`,
    ...[...sections].flatMap(([heading, lines]) => ['', `## ${heading}`, '', ...lines]),
    '',
  ];
  return text.join('\n');
}

/** Escapes user text for one line of Markdown. */
function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Z}]+/gu, ' ')
    .trim()
    .slice(0, 300)
    .replace(/[\\`*_{}[\]<>#|~!&]/g, '\\$&');
}

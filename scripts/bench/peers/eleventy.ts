import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const bareLayout =
  '<!doctype html><html lang="en"><head><title>{{ page.url }}</title></head><body><main>{{ content | safe }}</main></body></html>';

const bareEleventy = `import highlight from '@11ty/eleventy-plugin-syntaxhighlight';
export default (config) => {
  config.addPlugin(highlight);
  config.addGlobalData('layout', 'page.njk');
  return { dir: { input: 'docs', includes: '../_includes' }, markdownTemplateEngine: false };
};
`;

const wholeLayout = `<!doctype html><html lang="en"><head><title>{{ title }}</title></head><body>
{% set way = collections.pages | way(page.url) %}
<nav><ul>{% for folder in way.folders %}<li><a href="{{ folder.url }}">{{ folder.name }}</a>{% if folder.isOpen %}<ul>{% for entry in folder.entries %}<li><a href="{{ entry.url }}"{% if entry.url == page.url %} aria-current="page"{% endif %}>{{ entry.data.title }}</a></li>{% endfor %}</ul>{% endif %}</li>{% endfor %}</ul></nav>
<main>{{ content | safe }}</main>
<aside><ul>{% for heading in content | contents %}<li><a href="#{{ heading.id }}">{{ heading.text | safe }}</a></li>{% endfor %}</ul></aside>
{% if way.previous %}<a rel="prev" href="{{ way.previous.url }}">{{ way.previous.data.title }}</a>{% endif %}{% if way.next %}<a rel="next" href="{{ way.next.url }}">{{ way.next.data.title }}</a>{% endif %}
</body></html>`;

// Navigation is made once and not for each page, which the official plugin for it would do.
const wholeEleventy = `import highlight from '@11ty/eleventy-plugin-syntaxhighlight';
import { feedPlugin } from '@11ty/eleventy-plugin-rss';
import { InputPathToUrlTransformPlugin } from '@11ty/eleventy';
import anchor from 'markdown-it-anchor';
import MiniSearch from 'minisearch';
import { writeFileSync } from 'node:fs';
const ways = new WeakMap();
export default (config) => {
  config.addPlugin(highlight);
  config.addPlugin(InputPathToUrlTransformPlugin);
  config.addPlugin(feedPlugin, {
    type: 'atom',
    outputPath: '/feed.xml',
    collection: { name: 'pages', limit: 10 },
    metadata: { title: 'Handbook', base: 'https://bench.test/', author: { name: 'acme' } },
  });
  config.amendLibrary('md', (md) => md.use(anchor));
  config.addPassthroughCopy('docs/**/*.md');
  config.addCollection('pages', (api) => api.getAll().filter((item) => item.inputPath.endsWith('.md')));
  config.addGlobalData('layout', 'page.njk');
  config.addGlobalData('eleventyComputed', {
    title: (data) => /^# (.+)$/m.exec(data.page.rawInput ?? '')?.[1] ?? data.page.fileSlug,
  });
  config.addFilter('way', (pages, url) => {
    let made = ways.get(pages);
    if (!made) {
      const folders = new Map();
      for (const page of pages) {
        const name = page.url.split('/').slice(1, -2)[0] ?? '';
        if (!folders.has(name)) folders.set(name, { name, url: page.url, entries: [] });
        folders.get(name).entries.push(page);
      }
      made = { folders: [...folders.values()], places: new Map(pages.map((page, at) => [page.url, at])) };
      ways.set(pages, made);
    }
    const at = made.places.get(url);
    return {
      folders: made.folders.map((folder) => ({ ...folder, isOpen: folder.entries.some((entry) => entry.url === url) })),
      previous: pages[at - 1],
      next: pages[at + 1],
    };
  });
  config.addFilter('contents', (html) =>
    [...html.matchAll(/<h[23] id="([^"]*)"[^>]*>(.*?)<\\/h[23]>/g)].map(([, id, text]) => ({ id, text })));
  config.addTemplate('sitemap.njk', '<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{% for page in collections.pages %}<url><loc>https://bench.test{{ page.url }}</loc></url>{% endfor %}</urlset>', { permalink: '/sitemap.xml', layout: false });
  config.addTemplate('llms.njk', '# Handbook\\n{% for page in collections.pages %}- [{{ page.data.title }}](https://bench.test{{ page.url }})\\n{% endfor %}', { permalink: '/llms.txt', layout: false });
  config.on('eleventy.after', ({ results, dir }) => {
    const index = new MiniSearch({ fields: ['title', 'text'], storeFields: ['title'], idField: 'url' });
    index.addAll(results.filter(({ inputPath }) => inputPath.endsWith('.md')).map(({ url, content }) => ({
      url,
      title: /<title>(.*?)<\\/title>/.exec(content)?.[1] ?? '',
      text: /<main>([^]*?)<\\/main>/.exec(content)?.[1].replaceAll(/<[^>]*>/g, ' ') ?? '',
    })));
    writeFileSync(dir.output + '/search.json', JSON.stringify(index));
  });
  return { dir: { input: 'docs', includes: '../_includes' }, markdownTemplateEngine: false };
};
`;

/** Writes a site for Eleventy into a folder: with all that a documentation site has, or with highlighted code alone. */
export async function writeEleventy(at: string, docs: string, kind: 'whole' | 'bare'): Promise<void> {
  await writeFile(join(at, 'package.json'), '{"type":"module"}');
  await symlink(docs, join(at, 'docs'));
  await mkdir(join(at, '_includes'));
  await writeFile(join(at, '_includes/page.njk'), kind === 'whole' ? wholeLayout : bareLayout);
  await writeFile(join(at, 'eleventy.config.js'), kind === 'whole' ? wholeEleventy : bareEleventy);
}

// Searches where no server does: on a static host the page of a search comes without results, and they are found here, in the index that was
// written with the site. Where a server has answered, this does nothing.

const place = document.getElementById('found');
const asked = new URLSearchParams(location.search);
const query = (asked.get('q') ?? '').trim().slice(0, 200);

if (place !== null && query !== '' && place.dataset.query !== query) {
  document.getElementById('search').value = query;
  const type = document.getElementById('type');
  type.value = asked.get('type') ?? '';
  say('Searching…');
  search(query, type.value, asked.get('org')).then(show, () => say('The search index could not be loaded.'));
}

/** The best 50 resources, each with the parts of its document that fit. */
async function search(text, type, org) {
  const [{ default: MiniSearch }, { items }] = await Promise.all([
    import(place.dataset.minisearch),
    fetch(place.dataset.index, { credentials: 'omit' }).then((answer) => answer.json()),
  ]);
  const index = new MiniSearch({
    fields: ['names', 'description', 'parts'],
    tokenize: (written) => [...wordsOf(written)],
    processTerm: (word) => word,
    searchOptions: {
      combineWith: 'AND',
      tokenize: (written) => fold(written).match(/[\p{L}\p{N}]+/gu) ?? [],
      prefix: (word) => word.length >= 3,
      fuzzy: (word) => (word.length >= 5 && !/\d/.test(word) ? 1 : false),
      boost: { names: 6, parts: 2 },
    },
  });
  const chosen = items.filter(
    (item) => (!type || item.type === type) && (!org || item.coordinate.startsWith(`@${org}/`)),
  );
  index.addAll(
    chosen.map(({ coordinate, name, title, description, parts }, id) => ({
      id,
      names: `${coordinate} ${name} ${title}`,
      description,
      parts: parts.replace(/^\S+\t\S+/gm, ''),
    })),
  );
  const phrase = fold(text);
  const words = [...new Set(phrase.match(/[\p{L}\p{N}]+/gu) ?? [])];
  const found = index.search(text).map(({ id, score, terms }) => {
    const alike = terms.filter((term) => !words.some((word) => term.startsWith(word)));
    const matches = partsOf(chosen[id].parts)
      .map((part) => ({ ...part, score: fit(part, phrase, words, alike) }))
      .filter((part) => part.score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, 8);
    return { item: chosen[id], matches, score: score + (matches[0]?.score ?? 0) * 10 };
  });
  return found.sort((a, b) => b.score - a.score).slice(0, 50);
}

/** How well a part fits: by its whole name, by a piece of it, by all the words, by one that is like them. */
function fit({ name, also }, phrase, words, alike) {
  const own = fold(name);
  const whole = `${own} ${fold(also)}`;
  if (!words.every((word) => whole.includes(word))) return alike.some((word) => whole.includes(word)) ? 0.5 : 0;
  if (own === phrase || own.endsWith(` ${phrase}`) || own.endsWith(`.${phrase}`) || fold(also) === phrase) return 8;
  return own.includes(phrase) ? 2 + phrase.length / own.length : 1;
}

function partsOf(packed) {
  return packed.split('\n').flatMap((line) => {
    const [kind, anchor, name, ...rest] = line.split('\t');
    if (kind === '') return [];
    if (kind === 'operation') return [{ kind, anchor, name, also: rest[0] || rest.join(' ') }];
    if (kind !== 'schema') return [{ kind, anchor, name, also: rest.join(' ') }];
    const properties = rest.map((property) => ({
      kind: 'property',
      anchor,
      name: name === '' ? property : `${name}.${property}`,
      also: '',
    }));
    return name === '' ? properties : [{ kind, anchor, name, also: '' }, ...properties];
  });
}

function fold(written) {
  return written
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase();
}

function* wordsOf(written) {
  for (const [run] of written
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .matchAll(/[\p{L}\p{N}]+/gu)) {
    yield run.toLowerCase();
    const parts = run.split(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u);
    if (parts.length > 1) for (const part of parts) yield part.toLowerCase();
  }
}

function show(found) {
  if (found.length === 0) return say('No contract contains all of these words.');
  const rows = element('ul', 'rows');
  for (const { item, matches } of found) {
    const row = element('li', 'row');
    const link = element('a', '', element('strong', '', item.name), element('span', 'coordinate', item.coordinate));
    link.href = item.url;
    row.append(link);
    if (item.description) row.append(element('p', '', item.description.slice(0, 160)));
    if (matches.length > 0) {
      const list = element('ul', 'matches');
      for (const { kind, name, anchor } of matches) {
        const target = element('a', '', element('code', '', name));
        target.href = `${item.url}#${anchor}`;
        list.append(element('li', '', element('span', 'kind', kind), ' ', target));
      }
      row.append(list);
    }
    row.append(element('p', 'facts', item.version === null ? 'no version yet' : element('code', '', item.version)));
    rows.append(row);
  }
  place.replaceChildren(rows);
}

function say(words) {
  place.replaceChildren(element('p', 'empty', words));
}

/** An element of text and elements: nothing that comes from the index is ever read as HTML. */
function element(name, className, ...content) {
  const made = document.createElement(name);
  if (className !== '') made.className = className;
  made.append(...content);
  return made;
}

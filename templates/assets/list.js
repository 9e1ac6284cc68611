// The lists of an organization and of the home page: filters, sorts and groups their rows, and keeps that in the URL so that it can be sent to others.
// Without this file they are grouped by type or by organization and sorted by name.

const tools = document.querySelector('.sift');
const list = document.querySelector('.groups');
const controls = Object.fromEntries(
  ['sift', 'order', 'grouping', 'topic', 'system', 'uses', 'state'].flatMap((id) => {
    const control = document.getElementById(id);
    return control === null ? [] : [[id, control]];
  }),
);
const rows = [...document.querySelectorAll('.groups .row')].map((row, place) => ({
  row,
  place,
  from: row.closest('.group'),
  words: row.textContent.toLowerCase(),
  topics: [...row.querySelectorAll('.topic')].map(({ textContent }) => textContent),
  changed: row.querySelector('time')?.dateTime ?? '',
  ...row.dataset,
}));
const written = [...document.querySelectorAll('.groups > .group')];
// Folds that are closed unless something is looked for.
const folded = [...document.querySelectorAll('.groups details:not([open])')];

const orders = {
  name: (a, b) => a.place - b.place,
  changed: (a, b) => (a.changed < b.changed ? 1 : a.changed > b.changed ? -1 : a.place - b.place),
  problems: (a, b) => (b.errors ?? 0) - (a.errors ?? 0) || (b.warnings ?? 0) - (a.warnings ?? 0) || a.place - b.place,
};
const states = {
  '': () => true,
  active: ({ deprecated }) => deprecated === undefined,
  deprecated: ({ deprecated }) => deprecated !== undefined,
  failing: ({ errors, warnings }) => Number(errors ?? 0) + Number(warnings ?? 0) > 0,
  breaking: ({ change }) => change === 'breaking',
};

const asked = new URLSearchParams(location.hash.slice(1));
for (const [id, control] of Object.entries(controls)) {
  if (asked.has(id)) control.value = asked.get(id);
  if (control.value === '' && control.options) control.selectedIndex = 0;
  control.addEventListener('input', show);
}
if (tools !== null) {
  tools.hidden = false;
  for (const topic of document.querySelectorAll('.topic')) {
    topic.addEventListener('click', (event) => {
      event.preventDefault();
      controls.topic.value = topic.textContent;
      show();
    });
  }
  if (asked.size > 0) show();
}

function show() {
  const words = controls.sift.value.toLowerCase().split(/\s+/).filter(Boolean);
  const topic = controls.topic?.value ?? '';
  const used = controls.uses?.value ?? '';
  const system = controls.system?.value ?? '';
  let shown = 0;
  for (const each of rows) {
    const isFound = words.every((word) => each.words.includes(word)) && (topic === '' || each.topics.includes(topic));
    const isUser = used === '' || (each.uses?.split(' ').includes(used) ?? false);
    each.row.hidden =
      !isFound || !isUser || (system !== '' && each.system !== system) || !states[controls.state.value](each);
    if (!each.row.hidden) shown++;
  }
  const sorted = rows.toSorted(orders[controls.order.value]);
  group(sorted);
  tools.querySelector('[role="status"]').textContent = shown < rows.length ? `${shown} of ${rows.length}` : '';
  for (const fold of folded) fold.open = shown < rows.length;
  const chosen = Object.entries(controls).filter(([, { value, options }]) => value !== (options?.[0].value ?? ''));
  history.replaceState(
    null,
    '',
    chosen.length === 0
      ? location.pathname + location.search
      : `#${new URLSearchParams(chosen.map(([id, { value }]) => [id, value]))}`,
  );
}

/** Puts the rows under the headings that are asked for. */
function group(sorted) {
  const by = controls.grouping.value;
  if (by === controls.grouping.options[0].value) {
    for (const { row, from } of sorted) from.querySelector('.rows').append(row);
    list.replaceChildren(...written);
  } else {
    const groups = new Map();
    for (const each of sorted) {
      const name = by === 'owner' ? (each.owner ?? 'No owner') : '';
      groups.set(name, [...(groups.get(name) ?? []), each.row]);
    }
    const names = [...groups.keys()].sort((a, b) => (a === 'No owner') - (b === 'No owner') || a.localeCompare(b));
    list.replaceChildren(...names.map((name) => section(name, groups.get(name))));
  }
  for (const each of list.children) each.hidden = each.querySelector('.row:not([hidden])') === null;
}

function section(name, own) {
  const part = document.createElement('section');
  part.className = 'group';
  if (name !== '') {
    const title = document.createElement('h2');
    title.textContent = name;
    part.append(title);
  }
  const place = document.createElement('ul');
  place.className = 'rows';
  place.append(...own);
  part.append(place);
  return part;
}

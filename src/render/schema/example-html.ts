import { markup, nothing, type Html } from '../html.ts';
import { outsideLink } from '../outside-link.ts';
import { exampleText } from './example.ts';

/** An example in a document. */
export interface Example {
  /** Its summary or name; may be empty. */
  name: string;
  value: unknown;
  /** Whether the value is only the address of the example. */
  isElsewhere?: true;
}

/** Folded examples; short ones are on one line. Long ones are cut and marked. */
export function examplesHtml(examples: readonly Example[]): Html {
  const short = examples.filter(
    ({ name, value, isElsewhere }) => isElsewhere !== true && name === '' && isShort(value),
  );
  const long = examples.filter((example) => !short.includes(example)).slice(0, 10);
  const line =
    short.length === 0
      ? nothing
      : markup`<p class="values">Example${short.map(({ value }) => markup` <code>${exampleText(value).text}</code>`)}</p>`;
  return markup`${line}${long.map(({ name, value, isElsewhere }) => {
    if (isElsewhere) return markup`<p class="values">Example ${outsideLink(String(value), name)}</p>`;
    const { text, left } = exampleText(value);
    const more = left === 0 ? nothing : markup`<p class="more">${left} more characters not shown.</p>`;
    return markup`<details class="example">
      <summary>Example${name === '' ? '' : `: ${name.slice(0, 300)}`}</summary>
      <pre><code>${text}</code></pre>
      ${more}
    </details>`;
  })}`;
}

function isShort(value: unknown): boolean {
  return typeof value === 'object' && value !== null ? false : String(value).length <= 100;
}

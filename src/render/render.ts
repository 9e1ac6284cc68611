// The classes that the stylesheet finds in what is rendered here, and nothing else (elements carry the rest of the meaning):
//
//   reference     <div> around everything
//   intro         <section>: description, servers, security schemes
//   group         <section id="tag/…">: <h2> of a tag, its description, its operations; also id="webhooks", id="schemas"
//   operation     <section id="operation/…">: <h3> with a link to itself, then .url, description, <h4> parts
//   schema        <section id="schema/…">: <h3> and a schema tree; `id="schema"` is the root of a JSON Schema
//   rule          <tr id="rule/…"> of a ruleset's <table>
//   url           <p>: .method and <code> of an operation's path
//   method        <b>, with get, put, post, delete or patch beside it (others have no second class)
//   description   <div> of rendered Markdown, with paragraphs, lists, tables, <pre>
//   props         <ul> of parameters or properties; each <li> begins with <code>name</code> .type .flag
//   options       <ul> of the alternatives of oneOf, anyOf, allOf, not, if/then/else
//   type          <span>: `string (date-time)`, `array of <a>Pet</a>`
//   flag          <span>: required, deprecated, read-only, write-only, nullable; `flag required`, `flag deprecated`
//   limits        <span>: constraints and default of a value
//   values        <p> or <details>: an enum's values, each a <code>
//   response      <details>: <summary> with <b class="status s2"> (s1 to s5, by the first digit; sx for `default`) and a description
//   media         <div>: one media type of a body, its <code> name and .type, then the schema and examples
//   samples       <details>: code samples; each a <p> naming the language and <pre><code>
//   example       <details>: one example, <pre><code>
//   severity      <b> of a rule, with error, warn, info, hint or off beside it
//   more          <p>: says that something was cut, and how much
//   nav           <ul>, nested: the table of contents; <details> fold long groups, <a> holds .method and text
import type { Published, Rendered } from '../compile/compile.ts';

/** A published document made readable. Null for what is no document of its kind. */
export function renderDocument(_document: Published): Rendered | null {
  return null;
}

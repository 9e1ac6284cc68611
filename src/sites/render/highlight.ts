import { createHighlighterCoreSync, type LanguageRegistration, type ThemeRegistration } from '@shikijs/core';
import { createJavaScriptRegexEngine } from '@shikijs/engine-javascript';
import c from '@shikijs/langs/c';
import cpp from '@shikijs/langs/cpp';
import csharp from '@shikijs/langs/csharp';
import css from '@shikijs/langs/css';
import diff from '@shikijs/langs/diff';
import docker from '@shikijs/langs/docker';
import go from '@shikijs/langs/go';
import graphql from '@shikijs/langs/graphql';
import html from '@shikijs/langs/html';
import http from '@shikijs/langs/http';
import ini from '@shikijs/langs/ini';
import java from '@shikijs/langs/java';
import javascript from '@shikijs/langs/javascript';
import json from '@shikijs/langs/json';
import jsonc from '@shikijs/langs/jsonc';
import jsx from '@shikijs/langs/jsx';
import kotlin from '@shikijs/langs/kotlin';
import php from '@shikijs/langs/php';
import proto from '@shikijs/langs/proto';
import python from '@shikijs/langs/python';
import ruby from '@shikijs/langs/ruby';
import rust from '@shikijs/langs/rust';
import shellscript from '@shikijs/langs/shellscript';
import shellsession from '@shikijs/langs/shellsession';
import sql from '@shikijs/langs/sql';
import swift from '@shikijs/langs/swift';
import terraform from '@shikijs/langs/terraform';
import toml from '@shikijs/langs/toml';
import tsx from '@shikijs/langs/tsx';
import typescript from '@shikijs/langs/typescript';
import xml from '@shikijs/langs/xml';
import yaml from '@shikijs/langs/yaml';
import { escapeText } from '../../model/escape.ts';
import type { Highlight } from './site-markdown.ts';

// Grammars are the languages of API documentation. Each costs time when the sandbox starts.
const grammars: LanguageRegistration[][] = [
  [c, cpp, csharp, css, diff, docker, go, graphql, html, http, ini, java, javascript, json, jsonc, jsx, kotlin],
  [php, proto, python, ruby, rust, shellscript, shellsession, sql, swift, terraform, toml, tsx, typescript, xml, yaml],
].flat() as LanguageRegistration[][];

/** Classes of the stylesheet with the TextMate scopes that get them. A colour stands for each: that is what the highlighter returns. */
const classes: readonly { name: string; scope: string[] }[] = [
  { name: 'hc', scope: ['comment', 'punctuation.definition.comment'] },
  { name: 'hs', scope: ['string', 'markup.inserted', 'constant.other.symbol'] },
  { name: 'hk', scope: ['keyword', 'storage', 'markup.deleted', 'variable.language'] },
  { name: 'hf', scope: ['entity.name.function', 'support.function', 'entity.name.command'] },
  { name: 'hn', scope: ['constant.numeric', 'constant.language', 'constant.character'] },
  { name: 'ht', scope: ['entity.name.type', 'entity.name.tag', 'support.type', 'support.class', 'entity.name.class'] },
  { name: 'ha', scope: ['entity.other.attribute-name', 'variable.parameter', 'meta.object-literal.key'] },
];

const colourOf = (index: number) => `#0000${(index + 1).toString(16).padStart(2, '0')}`;
const nameOfColour = new Map(classes.map(({ name }, index) => [colourOf(index), name]));
const plain = { foreground: '#ffffff', background: '#000000' };

const theme: ThemeRegistration = {
  name: 'stele',
  type: 'dark',
  settings: [
    { settings: plain },
    ...classes.map(({ scope }, index) => ({ scope, settings: { foreground: colourOf(index) } })),
  ],
};

/** Opens the highlighter: shiki, whose colours become classes, since pages have no style attributes. */
export function openHighlight(): Highlight {
  const shiki = createHighlighterCoreSync({
    themes: [theme],
    langs: grammars,
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  });
  const languages = new Set(shiki.getLoadedLanguages());
  return (code, language) => {
    if (!languages.has(language)) return null;
    const options = { lang: language, theme: 'stele', tokenizeMaxLineLength: 2_000, tokenizeTimeLimit: 0 };
    const lines = shiki.codeToTokensBase(code.replace(/\n$/, ''), options);
    return `${lines.map(lineHtml).join('\n')}\n`;
  };
}

/** Neighbours of one colour are one element. */
function lineHtml(tokens: readonly { content: string; color?: string }[]): string {
  let out = '';
  let open: string | undefined;
  let text = '';
  const flush = () => {
    if (text !== '') out += open === undefined ? escapeText(text) : `<span class="${open}">${escapeText(text)}</span>`;
    text = '';
  };
  for (const { content, color = '' } of tokens) {
    const name = nameOfColour.get(color.toLowerCase());
    if (name !== open && content.trim() !== '') {
      flush();
      open = name;
    }
    text += content;
  }
  flush();
  return out;
}

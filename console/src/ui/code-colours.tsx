import bash from 'highlight.js/lib/languages/bash';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import typescript from 'highlight.js/lib/languages/typescript';
import yaml from 'highlight.js/lib/languages/yaml';
import { createLowlight } from 'lowlight';
import type { ReactNode } from 'react';

/** The languages that are coloured. */
export type Language = 'bash' | 'json' | 'python' | 'typescript' | 'yaml';

/** It returns a tree instead of HTML, which the page's policy would refuse. */
const lowlight = createLowlight({ bash, json, python, typescript, yaml });

/** The classes of highlight.js by the five colours of `tokens.css`. */
const COLOURS: readonly (readonly [RegExp, string])[] = [
  [/^hljs-(keyword|literal|built_in|meta)$/, 'code-keyword'],
  [/^hljs-(string|regexp|subst)$/, 'code-string'],
  [/^hljs-number$/, 'code-number'],
  [/^hljs-(comment|doctag)$/, 'code-comment'],
  [/^hljs-(title|attr|variable|property|params|type)$/, 'code-name'],
];
const colourOf = (names: unknown): string | undefined => {
  const own = Array.isArray(names) ? String(names[0]) : '';
  return COLOURS.find(([pattern]) => pattern.test(own))?.[1];
};

type Tree = ReturnType<typeof lowlight.highlight>;
type Node = Tree['children'][number];

const shown = (nodes: readonly Node[]): ReactNode =>
  nodes.map((node, at) => {
    if (node.type === 'text') return node.value;
    if (node.type !== 'element') return null;
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other name
      <span key={at} className={colourOf(node.properties.className)}>
        {shown(node.children)}
      </span>
    );
  });

/** The part of `Code` that needs the highlighter. `Code` loads it. */
const Coloured = ({ text, language }: { text: string; language: Language }) =>
  shown(lowlight.highlight(language, text).children);
export default Coloured;

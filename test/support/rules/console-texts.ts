import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { sdkLimits } from '../../../tools/sdk/sdk-sources.ts';

const source = path.resolve(import.meta.dirname, '../../../console/src');

/** Attributes whose value a person reads. */
const READ_ATTRIBUTES =
  /^(title|about|label|hint|placeholder|heading|waiting|busy|confirm|doing|action|note|aria-label|over|never)$/;
/** A constant that is a sentence or a label: it begins with a capital letter, or has a space. */
const isText = (value: string): boolean =>
  /[a-z]/.test(value) && (/^[A-Z“][^A-Z_]/.test(value) || / \S/.test(value));
/** A constant that no person reads: CSS classes, keys of the cache, code. */
const isCode = (value: string): boolean =>
  /^[a-z_-]+( [a-z_-]+)?$|[<>{}=]|^(GET|POST|DELETE|PATCH) \//.test(value);

/** A text as a browser shows it, with its expressions as `{…}` and its elements as `<…>`. */
const inlineText = (nodes: readonly ts.JsxChild[]): string =>
  nodes
    .map((node) => {
      if (ts.isJsxText(node)) return node.text.replaceAll(/\s+/g, ' ');
      if (ts.isJsxExpression(node)) {
        const { expression } = node;
        if (expression === undefined) return '';
        return ts.isStringLiteralLike(expression) ? expression.text : '{…}';
      }
      if (ts.isJsxElement(node)) return `<${inlineText(node.children)}>`;
      return '{…}';
    })
    .join('')
    .trim();

/** The texts of one file, in their order. */
const textsOf = (file: string, content: string): string[] => {
  const tree = ts.createSourceFile(file, content, ts.ScriptTarget.Latest, true);
  const texts: string[] = [];
  const add = (text: string) => {
    if (/[A-Za-z]{2}/.test(text.replaceAll('{…}', '')) && !texts.includes(text)) texts.push(text);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isTypeNode(node)) return;
    if (
      ts.isJsxElement(node) &&
      node.children.some((child) => ts.isJsxText(child) && child.text.trim() !== '')
    ) {
      add(inlineText(node.children));
      ts.forEachChild(node, visitBelow);
      return;
    }
    if (ts.isJsxAttribute(node)) {
      const { initializer } = node;
      if (initializer === undefined) return;
      if (ts.isStringLiteral(initializer)) {
        if (READ_ATTRIBUTES.test(node.name.getText())) add(initializer.text);
        return;
      }
    }
    visitBelow(node);
  };
  const visitBelow = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) && isText(node.text) && !isCode(node.text)) add(node.text);
    if (ts.isTemplateExpression(node)) {
      const text = [node.head.text, ...node.templateSpans.map(({ literal }) => `{…}${literal.text}`)].join(
        '',
      );
      if (isText(text) && !isCode(text)) add(text);
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return texts;
};

/** Every text of the console that a person reads, by its source file. */
export const consoleTexts = (): (readonly [file: string, texts: string[]])[] => [
  // Limits have their texts in one table, because other clients show them too.
  ['limits', textsOf('limits.ts', sdkLimits())],
  ...globSync('*/**/*.{ts,tsx}', { cwd: source })
    .filter((file) => !/\.test\.ts$|^generated\//.test(file))
    .sort()
    .map((file) => [file, textsOf(file, readFileSync(path.join(source, file), 'utf8'))] as const)
    .filter(([, texts]) => texts.length > 0),
];

import { lazy, Suspense } from 'react';
import { offerFile } from '../lib/csv.ts';
import { Button } from './button.tsx';
import type { Language } from './code-colours.tsx';
import { useCopy } from './show.tsx';
import { Tabs } from './tabs.tsx';

/** The highlighter is loaded with the first code. Until then the code is plain. */
const Coloured = lazy(() => import('./code-colours.tsx'));

/**
 * Code, a request or an answer, verbatim. Long lines scroll, also by keyboard;
 * those of a shell wrap, because a command that is cut looks whole. `copy` is what the
 * button copies if that is another text (the same call for a shell). Null: no button. A `file` can
 * also be downloaded under this name.
 */
export const Code = ({
  text,
  label,
  language,
  copy = text,
  action = 'Copy',
  file,
}: {
  text: string;
  /** The caption, which is also part of the button's name. */
  label: string;
  language?: Language;
  copy?: string | null;
  /** The button's label if it copies something else than what is shown. */
  action?: string;
  file?: string;
}) => {
  const [said, take] = useCopy(copy ?? '', action);
  return (
    <figure className="code" data-wraps={language === 'bash' || undefined}>
      <figcaption>
        <span className="quiet">{label}</span>
        <span className="code-actions">
          {file !== undefined && (
            <Button
              size="small"
              variant="quiet"
              aria-label={`Download: ${file}`}
              onPress={() => offerFile(file, new Blob([text], { type: 'text/plain;charset=utf-8' }))}
            >
              Download
            </Button>
          )}
          {copy !== null && (
            <Button size="small" variant="quiet" aria-label={`${said}: ${label}`} onPress={take}>
              {said}
            </Button>
          )}
        </span>
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <pre tabIndex={0}>
        <code>
          {language === undefined ? (
            text
          ) : (
            <Suspense fallback={text}>
              <Coloured text={text} language={language} />
            </Suspense>
          )}
        </code>
      </pre>
    </figure>
  );
};

/** The names of the languages as tabs have them. */
const NAMES: Record<Language, string> = {
  bash: 'curl',
  json: 'JSON',
  python: 'Python',
  typescript: 'TypeScript',
  yaml: 'YAML',
};

/** The same code in several languages, one at a time. */
export const CodeTabs = ({
  label,
  of,
}: {
  label: string;
  of: readonly (readonly [language: Language, text: string])[];
}) => (
  <Tabs
    label={label}
    tabs={of.map(([language, text]) => [
      language,
      NAMES[language],
      <Code key={language} language={language} text={text} label={`${label}, ${NAMES[language]}`} />,
    ])}
  />
);

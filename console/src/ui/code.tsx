import { useState } from 'react';
import { Button } from './button.tsx';

/**
 * Code, a request or an answer, verbatim. Long lines scroll, also by keyboard. `copy` is what the
 * button copies if that is another text (the same call for a shell). Null: no button.
 */
export const Code = ({
  text,
  label,
  copy = text,
  action = 'Copy',
}: {
  text: string;
  /** The caption, which is also part of the button's name. */
  label: string;
  copy?: string | null;
  /** The button's label if it copies something else than what is shown. */
  action?: string;
}) => {
  const [said, setSaid] = useState<string | null>(null);
  const take = async () => {
    const copied = await navigator.clipboard?.writeText(copy ?? '').then(
      () => true,
      () => false,
    );
    setSaid(copied === true ? 'Copied' : 'Select and copy it');
    setTimeout(() => setSaid(null), 2000);
  };
  return (
    <figure className="code">
      <figcaption>
        <span className="quiet">{label}</span>
        {copy !== null && (
          <Button
            size="small"
            variant="quiet"
            aria-label={`${said ?? action}: ${label}`}
            onPress={() => void take()}
          >
            {said ?? action}
          </Button>
        )}
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </figure>
  );
};

import type { ComponentProps } from 'react';
import { displayUsdc, parseUsdc } from '../../../sdk/src/generated/usdc.ts';
import { fieldUsdc, meaningsOfAmount } from '../lib/money.ts';
import { Button } from './button.tsx';
import { TextField } from './field.tsx';
import { Row } from './layout.tsx';

type Props = Omit<
  ComponentProps<typeof TextField>,
  'numeric' | 'lines' | 'suffix' | 'placeholder' | 'value' | 'onChange'
> & {
  value: string;
  onChange: (value: string) => void;
  /** The currency of an amount that is not USDC. It has cents. */
  currency?: string;
};

/**
 * A field for an amount, in the notation of the reader's language (`meaningsOfAmount`). It shows
 * how it reads an amount that is not typed as the console writes it. If the text has two meanings,
 * it asks which one is meant, and the form cannot be sent before.
 */
export const AmountField = ({ currency, value, onChange, hint, error, ...rest }: Props) => {
  const meanings = meaningsOfAmount(value, { places: currency === undefined ? 6 : 2 });
  const shown = (meaning: string) =>
    currency === undefined ? displayUsdc(parseUsdc(meaning) ?? 0n) : `${meaning} ${currency}`;
  const isPlain = /^\d+(\.\d+)?$/.test(value.trim());
  const isAsked = meanings.length > 1;
  return (
    <div className="field">
      <TextField
        {...rest}
        value={value}
        onChange={onChange}
        hint={
          meanings.length === 1 && !isPlain ? (
            <>
              <strong>{shown(meanings[0]!)}</strong> {hint}
            </>
          ) : (
            hint
          )
        }
        error={isAsked ? 'This can mean two amounts. Choose one.' : error}
        suffix={currency ?? 'USDC'}
        numeric
      />
      {isAsked && (
        <Row>
          {meanings.map((meaning) => (
            <Button key={meaning} size="small" onPress={() => onChange(fieldUsdc(parseUsdc(meaning) ?? 0n))}>
              {shown(meaning)}
            </Button>
          ))}
        </Row>
      )}
    </div>
  );
};

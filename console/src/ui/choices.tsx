import { Checkbox, CheckboxGroup, Label } from 'react-aria-components';

/** Any number of a few values, as boxes to tick. `options` are pairs of value and words; `onChange` gets all that are ticked. */
export const Choices = <T extends string>({
  label,
  options,
  value,
  onChange,
}: {
  label: string;
  options: readonly (readonly [value: T, text: string])[];
  value: readonly T[];
  onChange: (value: T[]) => void;
}) => (
  <CheckboxGroup className="field" value={[...value]} onChange={(all) => onChange(all as T[])}>
    <Label className="field-label">{label}</Label>
    {options.map(([key, text]) => (
      <Checkbox key={key} value={key} className="choice">
        <span className="choice-box" aria-hidden="true" />
        <span>{text}</span>
      </Checkbox>
    ))}
  </CheckboxGroup>
);

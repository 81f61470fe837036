import { Checkbox, CheckboxGroup, Label } from 'react-aria-components';

/**
 * A multiple choice as checkboxes. `options` are pairs of value and label. `onChange` gets all
 * selected values.
 */
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

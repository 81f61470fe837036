import type { ReactNode } from 'react';
import { Tabs as AriaTabs, Tab, TabList, TabPanel } from 'react-aria-components';

/**
 * Views of the same object, one at a time. `tabs` are triples of id, label and content. Hidden
 * content is not mounted.
 */
export const Tabs = ({
  label,
  tabs,
  selected,
  onSelect,
}: {
  label: string;
  tabs: readonly (readonly [id: string, text: string, content: ReactNode])[];
  selected?: string;
  onSelect?: (id: string) => void;
}) => (
  <AriaTabs
    {...(selected === undefined ? {} : { selectedKey: selected })}
    onSelectionChange={(key) => onSelect?.(String(key))}
  >
    <TabList className="tab-list" aria-label={label}>
      {tabs.map(([id, text]) => (
        <Tab key={id} id={id} className="tab">
          {text}
        </Tab>
      ))}
    </TabList>
    {tabs.map(([id, , content]) => (
      <TabPanel key={id} id={id} className="tab-panel">
        {content}
      </TabPanel>
    ))}
  </AriaTabs>
);

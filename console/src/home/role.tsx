import { Bot, CreditCard, Store } from 'lucide-react';
import { useState } from 'react';
import { Section } from '../ui/index.ts';
import { ROLES, type Role } from './steps.ts';
import { HOME, ROLE_TEXTS } from './texts.ts';

const keyOf = (accountId: string) => `quittance.role.${accountId}`;

/** What this account has chosen to do, in this browser. Null: it was not asked. */
export const useRole = (accountId: string): [role: Role | null, setRole: (role: Role | null) => void] => {
  const [role, setRole] = useState<Role | null>(
    () => ROLES.find((each) => each === localStorage.getItem(keyOf(accountId))) ?? null,
  );
  return [
    role,
    (chosen) => {
      if (chosen === null) localStorage.removeItem(keyOf(accountId));
      else localStorage.setItem(keyOf(accountId), chosen);
      setRole(chosen);
    },
  ];
};

const ICONS = { sell: Store, pay: CreditCard, agent: Bot };

/** Asks once what the person wants to do. The answer can be changed above the list. */
export const RoleQuestion = ({ onChoose }: { onChoose: (role: Role) => void }) => (
  <Section title={HOME.question}>
    <div className="roles">
      {ROLES.map((role) => {
        const Icon = ICONS[role];
        const { title, about } = ROLE_TEXTS[role];
        return (
          <button key={role} type="button" className="role" onClick={() => onChoose(role)}>
            <Icon aria-hidden="true" />
            <strong>{title}</strong>
            <span className="quiet">{about}</span>
          </button>
        );
      })}
    </div>
  </Section>
);

import type { ReactNode } from 'react';
import './steps.css';

/** A numbered list of steps, which are done one after the other. Its children are `Step`s. */
export const Steps = ({ children }: { children: ReactNode }) => <ol className="steps">{children}</ol>;

/**
 * A step: what it is, whether it is done, and, for the next one, what does it.
 * @param about one sentence; of a step that is done, what was done
 */
export const Step = ({
  title,
  about,
  isDone,
  isNext,
  children,
}: {
  title: string;
  about: ReactNode;
  isDone: boolean;
  isNext: boolean;
  children?: ReactNode;
}) => (
  <li className="step" data-done={isDone || undefined} data-next={isNext || undefined}>
    <div className="step-text">
      <h3>
        {title}
        {isDone && <span className="visually-hidden"> (done)</span>}
      </h3>
      <p className="quiet">{about}</p>
    </div>
    {isNext && children}
  </li>
);

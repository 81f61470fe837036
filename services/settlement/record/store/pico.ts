import { sql } from '../../../../shared/db/pool.ts';

type Fragment = ReturnType<typeof sql.fragment>;

/** `picoOf` of a column or an expression (shared/lib/money/pico.ts). */
export const picoOf = (micro: Fragment): Fragment => sql.fragment`(${micro} * 1000000)`;

/** `microOf` of a column or an expression of type bigint. */
export const microOf = (pico: Fragment): Fragment => sql.fragment`((${pico} + 999999) / 1000000)`;
